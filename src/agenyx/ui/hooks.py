"""`agenyx hooks`: what hangs on events, and what would come of it, tried on a sample."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from agenyx.app.hook_bench import HookBench, Trial, hook_bench, lines
from agenyx.app.settings import Settings
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.ext.hooks.answer import meaning
from agenyx.ext.hooks.runner import Run
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx hooks list [--json]
       agenyx hooks test EVENT [--tool NAME] [--input JSON] [--json]

A hook is a program or an address that Agenyx asks at an event: before a call (PreToolUse), after it (PostToolUse), at a
prompt (UserPromptSubmit), when a turn would end (Stop) and so on. Yours stand in hooks.json in the home; a workspace
that you trust brings .agenyx/hooks/*.json and the hooks of .claude/settings.json:

  {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "./check.py", "args": [], "timeout": 10}]}]}}

  list      all hooks that count here, where each stands, and what is wrong with it
  test      run the hooks of an event with a sample of what it tells. They really run; the event itself does not happen.
            Shows exit code, output and what would follow. Exit code 1 when a hook fails

  --tool NAME           test: the tool of the sample call, such as Bash
  --input JSON          test: its arguments, such as '{"command": "git push"}'
  --cwd DIR             for this workspace instead of the current directory
  --trust-workspace     as if the workspace were trusted
  --json                one JSON object, for programs

Examples:
  agenyx hooks list
  agenyx hooks test PreToolUse --tool Bash --input '{"command": "rm -rf build"}'
  agenyx hooks test Stop --json
"""
_MOST = 2_000  # characters of an output that are shown


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises AgenyxError."""
    switches, values = ("--json", "--trust-workspace"), ("--tool", "--input", "--cwd")
    given = arguments("hooks", argv, switches=switches, values=values, words=(0, 2))
    match given.words:
        case _ if given.help:
            show(HELP)
            return OK
        case ["list"]:
            return asyncio.run(_list(given, env))
        case ["test", event]:
            return asyncio.run(_test(event, given, env))
        case ["test"]:
            raise UsageError("agenyx hooks test needs an event", "Such as: agenyx hooks test PreToolUse")
        case []:
            raise UsageError("agenyx hooks needs a command", "See: agenyx hooks --help")
        case words:
            raise UsageError(f"agenyx hooks does not understand: {' '.join(words)}", "See its --help.")


def _settings(given: Arguments) -> Settings:
    return Settings(os.path.abspath(given.value("--cwd") or os.curdir), trust=given.on("--trust-workspace"))


async def _list(given: Arguments, env: Mapping[str, str]) -> int:
    async with hook_bench(_settings(given), env) as bench:
        rows = bench.rows()
        if given.on("--json"):
            show(json.encode({"hooks": rows, "problems": bench.problems}).decode() + "\n")
        else:
            show(safe("\n".join(lines(rows, bench.problems)) + "\n"))
    return OK


async def _test(event: str, given: Arguments, env: Mapping[str, str]) -> int:
    async with hook_bench(_settings(given), env) as bench:
        trial = await bench.test(event, given.value("--tool"), given.value("--input"))
        show(_as_json(trial, bench) if given.on("--json") else safe(_as_text(trial, bench)))
    failed = any(run.result.failure or run.result.code not in (0, 2) for run in trial.runs)
    return FAILED if failed else OK


def _as_json(trial: Trial, bench: HookBench) -> str:
    """One line. `said` is what they say together."""
    runs = [
        {
            "hook": run.entry.name,
            "source": run.entry.source,
            "exit_code": run.result.code,
            "failure": run.result.failure,
            "seconds": round(run.result.seconds, 3),
            "stdout": run.result.output,
            "stderr": run.result.errors,
            "meaning": meaning(trial.event, run.said),
        }
        for run in trial.runs
    ]
    whole = {"event": trial.event, "runs": runs, "said": trial.said, "meaning": trial.meaning}
    return json.encode({**whole, "problems": bench.problems}).decode() + "\n"


def _as_text(trial: Trial, bench: HookBench) -> str:
    count = len(trial.runs)
    found = [
        f"{trial.event}: {'1 hook ran' if count == 1 else f'{count} hooks ran' if count else 'no hook is for this'}"
    ]
    for run in trial.runs:
        found += ["", f"  {run.entry.name}  ({run.entry.source})", *(f"    {line}" for line in _facts(trial, run))]
    if count > 1:
        found += ["", f"together: {trial.meaning}"]
    found += [f"note: {problem}" for problem in bench.problems]
    return "\n".join(found) + "\n"


def _facts(trial: Trial, run: Run) -> list[str]:
    result = run.result
    how = f"failed: {result.failure}" if result.failure else f"exit code {result.code}"
    facts = [f"{how}, in {result.seconds:.2f} s"]
    for name, text in (("output", result.output), ("errors", result.errors)):
        if text.strip():
            shown = text.strip() if len(text) <= _MOST else f"{text[:_MOST].strip()} …"
            facts.append(f"{name}: {shown}")
    first, _, rest = meaning(trial.event, run.said).partition("\n")
    means = f"means: {first} …" if rest else f"means: {first}"
    return [*facts, *run.said.problems, *run.said.messages, means]
