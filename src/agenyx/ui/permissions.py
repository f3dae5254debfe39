"""`agenyx permissions`: what would happen to a call and why; the rules listed, changed, and tried on their examples."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping, Sequence

from agenyx.app.permissions import Bench, Explanation, bench
from agenyx.app.settings import Settings
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tools import Command, Effects
from agenyx.core.tty import safe
from agenyx.core.verdict import Choice, Rule
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.flags import MODES
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx permissions explain CALL [--json]
       agenyx permissions list [--json]
       agenyx permissions test [--json]
       agenyx permissions add allow|ask|deny RULE
       agenyx permissions remove RULE

A rule is Tool or Tool(pattern): "Bash(npm test)", "Bash(git log:*)", "Edit(src/**)", "Read(.env)",
"WebFetch(domain:docs.python.org)". A deny wins over an ask, an ask over an allow, wherever they stand. Rules stand in
settings.toml in the home under [permissions], in .agenyx/settings.toml of a trusted workspace, and in flags.

  explain   what would happen to a call, such as 'Bash(git push)' or 'Edit(src/a.py)', and why: every command that it
            would run, what it touches, and the rule that decides. Exit code 0 allow, 10 ask, 11 deny
  list      the rules that count here, and where each stands
  test      try the examples of the rules (matches, spares); exit code 1 when one is wrong
  add       keep a rule for good; remove takes it out again

  --permission-mode MODE    explain: as in this mode (default, acceptEdits, plan, dontAsk)
  --allowed-tools RULES     explain, list: with these rules as well; --disallowed-tools likewise
  --cwd DIR                 for this workspace instead of the current directory
  --trust-workspace         as if the workspace were trusted
  --json                    one JSON object, for programs

Examples:
  agenyx permissions explain 'Bash(git -c core.pager=x log)'
  agenyx permissions explain --permission-mode acceptEdits 'Write(notes.txt)'
  agenyx permissions add allow 'Bash(npm test)'
"""
EXIT = {"allow": OK, "ask": 10, "deny": 11}
_VALUES = ("--permission-mode", "--allowed-tools", "--disallowed-tools", "--cwd")
_MOST = 100  # characters of a command or here-document that are shown
_SWITCHES = ("--json", "--trust-workspace")


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments("permissions", argv, switches=_SWITCHES, values=_VALUES, words=(0, 3))
    match given.words:
        case _ if given.help:
            show(HELP)
        case ["explain", call]:
            return asyncio.run(_explain(call, given, env))
        case ["list"]:
            return asyncio.run(_list(given, env))
        case ["test"]:
            return asyncio.run(_test(given, env))
        case ["add", ("allow" | "ask" | "deny") as decision, rule]:
            return _add(decision, rule, env)
        case ["remove", rule]:
            return _remove(rule, env)
        case []:
            raise UsageError("agenyx permissions needs a command", "See: agenyx permissions --help")
        case words:
            raise UsageError(f"agenyx permissions does not understand: {' '.join(words)}", "See its --help.")
    return OK


def _settings(given: Arguments) -> Settings:
    mode = given.value("--permission-mode") or "default"
    if mode not in MODES:
        raise UsageError(f"--permission-mode cannot be {mode!r}", f"Choose one of: {', '.join(MODES)}.")
    return Settings(
        os.path.abspath(given.value("--cwd") or os.curdir),
        mode=mode,
        unsafe=mode == "bypassPermissions",  # nothing runs here
        trust=given.on("--trust-workspace"),
        allowed=given.value("--allowed-tools"),
        disallowed=given.value("--disallowed-tools"),
    )


async def _explain(call: str, given: Arguments, env: Mapping[str, str]) -> int:
    async with bench(_settings(given), env) as tried:
        said = await tried.explain(call)
        show(as_json(said) if given.on("--json") else safe(as_text(said, tried.problems)))
    return EXIT[said.verdict.decision]


def as_json(said: Explanation) -> str:
    """One line. `argv` words that are not static are null."""
    return (
        json.encode(
            {
                "verdict": said.verdict.decision,
                "reason": said.verdict.text,
                "rule": _rule(said.rule),
                "commands": said.commands,
                "redirects": [redirect for command in said.effects.commands for redirect in command.redirects],
                "assignments": [assign for command in said.effects.commands for assign in command.assigns],
                "opaque": said.effects.opaque,
                "offer": [rule.text for rule in said.verdict.offer],
            }
        ).decode()
        + "\n"
    )


def as_text(said: Explanation, problems: Sequence[str] = ()) -> str:
    """The verdict, the parse as a table, what it touches, and what would settle it."""
    lines = [f"{said.verdict.decision}: {_summary(said)}"]
    if said.rule is not None:
        lines.append(f"rule: {_rule(said.rule)}")
    if said.commands:
        shown = ["  " * command.inside + _command(command) for command in said.effects.commands]
        wide = min(max(map(len, shown)), 60)
        lines += ["", f"   {'command'.ljust(wide)}  verdict  reason"]
        lines += [
            f"{number:2} {text.ljust(wide)}  {item.verdict.ljust(7)}  {item.reason}"
            for number, (text, item) in enumerate(zip(shown, said.commands, strict=True), 1)
        ]
    facts = _facts(said.effects)
    if facts:
        lines += ["", *(f"{label}: {', '.join(values)}" for label, values in facts)]
    if said.verdict.offer:
        lines += ["", f"to allow it for good: {', '.join(rule.text for rule in said.verdict.offer)}"]
    lines += [f"note: {problem}" for problem in problems]
    return "\n".join(lines) + "\n"


def _summary(said: Explanation) -> str:
    """Why, without what stands in the table below."""
    told = {item.reason for item in said.commands}
    rest = [reason.text for reason in said.verdict.reasons if reason.text not in told]
    count = sum(item.verdict == said.verdict.decision for item in said.commands)
    if not rest and len(said.commands) > 1:
        return f"for {count} of its {len(said.commands)} commands"
    return "; ".join(rest) or said.verdict.text


def _facts(effects: Effects) -> list[tuple[str, list[str]]]:
    redirects = [f"{r.op} {_line(r.target)}" for command in effects.commands for r in command.redirects]
    facts = [
        ("reads", [ref.shown for ref in effects.reads]),
        ("writes", [ref.shown for ref in effects.writes]),
        ("removes", [ref.shown for ref in effects.removes]),
        ("contacts", list(effects.hosts)),
        ("redirects", redirects),
        ("assigns", [assign for command in effects.commands for assign in command.assigns]),
        ("not seen", [effects.opaque] if effects.opaque else []),
    ]
    return [(label, values) for label, values in facts if values]


def _command(command: Command) -> str:
    """The words in one line as they would be typed; ? for one that is known only when it runs."""
    words = [*command.assigns, *("?" if word is None else shlex.quote(word) for word in command.argv)]
    return _line(" ".join(words)) or "(redirection)"


def _line(text: str | None) -> str:
    """A text in one line, cut; ? for what is known only when it runs."""
    if text is None:
        return "?"
    line = text.rstrip("\n").replace("\n", " ⏎ ")
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"


def _rule(rule: Rule | None) -> str | None:
    return None if rule is None else f"{rule.decision} {rule.text} ({rule.where or rule.source})"


async def _list(given: Arguments, env: Mapping[str, str]) -> int:
    async with bench(_settings(given), env) as tried:
        rules = tried.policy.rules
        if given.on("--json"):
            rows = [{"decision": r.decision, "rule": r.text, "source": r.source, "where": r.where} for r in rules]
            show(json.encode({"rules": rows, "problems": tried.problems}).decode() + "\n")
            return OK
        lines = [f"{rule.decision.ljust(6)} {rule.text}  ({rule.where or rule.source})" for rule in rules]
        lines += [f"note: {problem}" for problem in (*tried.problems, *_strange(tried))]
        show(safe("\n".join(lines or ["There are no rules. See: agenyx permissions --help"]) + "\n"))
    return OK


def _strange(tried: Bench) -> list[str]:
    """Rules for tools that do not exist."""
    from agenyx.policy.rules import unknown_tool

    found: list[str] = []
    for rule in tried.policy.rules:
        near = unknown_tool(rule, (*tried.registry.names(), "Agent", "Skill"))
        if near is not None:
            found.append(f"there is no tool {rule.tool}" + (f"; did you mean {near}?" if near else ""))
    return found


async def _test(given: Arguments, env: Mapping[str, str]) -> int:
    async with bench(_settings(given), env) as tried:
        results = await tried.examples()
    wrong = [result for result in results if not result.right]
    if given.on("--json"):
        show(json.encode({"ok": not wrong, "examples": results}).decode() + "\n")
    else:
        lines = [
            f"{'ok' if result.right else 'WRONG'.ljust(5)}  {result.rule} "
            f"{'matches' if result.wanted else 'spares'} {result.example}"
            for result in results
        ]
        lines.append(f"{len(results) - len(wrong)} right, {len(wrong)} wrong" if results else "No rule has an example.")
        show(safe("\n".join(lines) + "\n"))
    return FAILED if wrong else OK


def _add(decision: Choice, text: str, env: Mapping[str, str]) -> int:
    from agenyx.app.rules import add
    from agenyx.policy.rules import parse_rule

    rule = parse_rule(text, decision, "user")
    show(f"{safe(add(home_path(env), decision, [rule.text]))}: {decision} {safe(rule.text)}\n")
    return OK


def _remove(text: str, env: Mapping[str, str]) -> int:
    from agenyx.app.rules import remove

    lists = remove(home_path(env), text)
    if not lists:
        raise UsageError(f"there is no rule {text!r} in the home's settings", "See: agenyx permissions list")
    show(f"removed {safe(text)} from {', '.join(lists)}\n")
    return OK
