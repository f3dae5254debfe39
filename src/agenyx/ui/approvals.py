"""`agenyx approvals`: calls that wait for a person's yes, listed, shown, answered, and their turns taken up again."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Mapping, Sequence

from agenyx.app import approvals
from agenyx.app.approvals import Question
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.approval import Decision
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import safe
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.defer import answer_words, entry, summary
from agenyx.ui.exits import OK, complaint, write_error
from agenyx.ui.flags import FLAGS
from agenyx.ui.parse import parse
from agenyx.ui.question import KEYS, compose
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx approvals list [--all] [--json]
       agenyx approvals show ID [--json]
       agenyx approvals allow ID [--edit JSON] [--session|--always] [--message TEXT] [--resume [FLAGS]] [--json]
       agenyx approvals deny ID [--message TEXT] [--stop] [--resume [FLAGS]] [--json]

A run with --approvals defer ends with exit code 3 when a call needs your yes. The call is kept with its arguments, also
when every process is gone, and is answered here: now or another day. The first answer counts. What was allowed is
judged again before it runs; when a file that it changes is not what it was, you are asked again.

  list        what waits in this directory; --all: everywhere
  show        all of a call, as you would see it at the terminal
  allow, deny answer it; an id may be cut to its last or first 8 characters and more
  --edit      run the call with these arguments instead, all of them as one JSON object; for a question of the model
              the answers (show prints an example), for a plan {"mode": "default"} or {"mode": "acceptEdits"}
  --session   allow what the rule of the question covers for this session; --always keeps it in your settings
  --message   what the model is told with a no
  --stop      end the turn with a no
  --resume    go on with the turn at once and print its answer; without it, agenyx -p --resume SESSION does so.
              It goes on in the mode and with the rules that the run had; flags of a run (--provider,
              --permission-mode, --output-format ...) may follow it and count instead, and bypassPermissions needs
              --dangerously-skip-permissions again. What waits then ends it again with exit code 3
  --json      for programs; with --resume the result record of the run

Examples:
  agenyx -p --approvals defer "run the tests and mend what fails"
  agenyx approvals list
  agenyx approvals allow 3f9c21ab --edit '{"command": "npm test -- --bail"}' --resume
"""
_SWITCHES = ("--all", "--json", "--session", "--always", "--stop", "--resume")
_VALUES = ("--edit", "--message")
_OF = {
    "list": ("--all", "--json"),
    "show": ("--json",),
    "allow": ("--edit", "--session", "--always", "--message", "--resume", "--json"),
    "deny": ("--message", "--stop", "--resume", "--json"),
}
_RULES = "--session or --always would allow"
_TALL = 100_000  # lines: nothing stands below what is shown


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError, AgenyxError."""
    own, run = _split(argv)
    given = arguments("approvals", own, switches=_SWITCHES, values=_VALUES, words=(0, 2))
    home = home_path(env)
    if given.help:
        show(HELP)
        return OK
    match given.words or ["list"]:
        case ["list"]:
            _check(given, run, "list")
            return _list(given, home)
        case ["show", name]:
            _check(given, run, "show")
            return asyncio.run(_show(given, approvals.find(home, name)))
        case ["allow" | "deny" as choice, name]:
            _check(given, run, choice)
            return _answer(choice, given, run, approvals.find(home, name), env)
        case words:
            raise UsageError(f"agenyx approvals does not understand: {' '.join(words)}", "See its --help.")


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of this command, and the flags of a run among them with their values."""
    flags = {name: flag for flag in FLAGS for name in flag.names if name not in ("--resume", "-h", "--help")}
    own, run, rest = list[str](), list[str](), list(argv)
    while rest:
        word = rest.pop(0)
        flag = flags.get(word.partition("=")[0]) if word.startswith("-") else None
        if flag is None:
            own.append(word)
            if word in _VALUES and rest:
                own.append(rest.pop(0))
        else:
            run.append(word)
            if flag.value and "=" not in word and rest:
                run.append(rest.pop(0))
    return own, run


def _check(given: Arguments, run: Sequence[str], command: str) -> None:
    for flag in (*_SWITCHES, *_VALUES):
        if given.on(flag) and flag not in _OF[command]:
            raise UsageError(f"agenyx approvals {command} has no flag {flag}", "See: agenyx approvals --help")
    if run and not given.on("--resume"):
        raise UsageError(f"{run[0]} goes with --resume only", "See: agenyx approvals --help")
    for one, other in (
        ("--session", "--always"),
        ("--edit", "--session"),
        ("--edit", "--always"),
        ("--stop", "--resume"),
    ):
        if given.on(one) and given.on(other):
            raise UsageError(f"{one} and {other} exclude each other", "Leave one of the two out.")


def _list(given: Arguments, home: str) -> int:
    found = approvals.waiting(home, "" if given.on("--all") else os.path.realpath(os.curdir))
    if given.on("--json"):
        show(json.encode([_entry(question) for question in found]).decode() + "\n")
        return OK
    lines: list[str] = []
    for question in found:
        approval = question.approval
        lines += [f"{approval.id}  {_when(approval.asked_at)}  {summary(approval)}", f"    {approval.verdict.text}"]
        if given.on("--all"):
            lines.append(f"    in {question.workspace}")
    if not found:
        lines = ["Nothing waits for an answer." if given.on("--all") else "Nothing waits here. Everywhere: list --all"]
    show(safe("\n".join(lines) + "\n"))
    return OK


async def _show(given: Arguments, question: Question) -> int:
    if given.on("--json"):
        show(json.encode(_entry(question)).decode() + "\n")
        return OK
    approval = question.approval
    columns = min(shutil.get_terminal_size((100, 0)).columns, 200)
    rows = compose(approval, columns, _TALL, 0).rows
    lines = [f"{_RULES}{row.removeprefix(KEYS)}" if row.startswith(KEYS) else row for row in rows] + [""]
    lines.append(
        f"{approval.id}, asked {_when(approval.asked_at)} in session {question.session} of {question.workspace}"
    )
    if question.waiting:
        lines += [f"{path} changed since then" for path in await approvals.changed(question)]
        words = answer_words(approval)
        lines.append(f"Answer: agenyx approvals allow {approval.id}{words} --resume, or deny {approval.id} --resume")
    else:
        lines.append(approvals.told(question)[0])
    show("\n".join(safe(line) for line in lines).lstrip("\n") + "\n")
    return OK


def _answer(choice: str, given: Arguments, run: list[str], question: Question, env: Mapping[str, str]) -> int:
    if not question.waiting:
        raise AgenyxError(*approvals.told(question))
    approval, resumes = question.approval, given.on("--resume")
    if choice == "allow" or resumes:
        approvals.check_workspace(question)
    scope = "session" if given.on("--session") else "saved" if given.on("--always") else "once"
    if scope != "once" and not approval.verdict.offer:
        raise UsageError(
            "no rule can cover this call, so it can only be allowed once", "Leave --session or --always out."
        )
    if choice == "allow" and not given.on("--edit"):
        approvals.check_answered(question, answer_words(approval))
    args = approvals.check_edit(question, given.value("--edit")) if given.on("--edit") else None
    formatted = ["--output-format", "json"] if given.on("--json") else []
    options = parse(["-p", *run, *formatted, "--resume", question.session])
    decision = Decision(
        approval.id,
        "allow" if choice == "allow" else "deny",
        scope,
        args,
        given.value("--message"),
        given.on("--stop"),
        by=f"{env.get('USER') or env.get('LOGNAME') or f'user {os.getuid()}'} with agenyx approvals",
        at=time.time(),
    )
    if problem := approvals.answer(home_path(env), env, question, decision):
        write_error(complaint(f"the rule holds for this session, but was not saved: {problem}"))
    word = f"{'allowed' if choice == 'allow' else 'denied'}: {summary(approval)}"
    if not resumes:
        ended = "The turn is over." if decision.stop else f"Go on with: agenyx -p --resume {question.session}"
        said = {"id": approval.id, "choice": decision.choice, "session_id": question.session, "ended": decision.stop}
        show(json.encode(said).decode() + "\n" if given.on("--json") else safe(f"{word}\n{ended}\n"))
        return OK
    write_error(safe(f"{word}\n"))
    options.cwd, options.approvals = question.workspace, options.approvals or "defer"
    from agenyx.ui.cli import apply_settings
    from agenyx.ui.once import run_once
    from agenyx.ui.signals import Signals
    from agenyx.ui.stdin import Stdin

    apply_settings(options, env)
    signals, stdin = Signals(), Stdin()
    signals.install()
    stdin.terminal = True  # what is piped in is no prompt
    return run_once(options, env, stdin, signals)


def _entry(question: Question) -> dict[str, object]:
    said = question.decision
    told = {"choice": said.choice, "by": said.by, "at": said.at, "message": said.message} if said else None
    where = {"session_id": question.session, "workspace": question.workspace}
    return {**entry(question.approval), **where, "waiting": question.waiting, "decision": told}


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
