"""`agenyx agents`: the subagents there are here, what each may do, and what of its file does not count."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from agenyx.app.extensions import Extensions
from agenyx.app.roster import data, rows
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.ext.agents.catalogue import catalogue, given_text
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry
from agenyx.ui.arguments import arguments
from agenyx.ui.exits import OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx agents list [--json]

A subagent does one task with a context of its own and hands back an answer; the model starts it with the tool Task. An
agent is a Markdown file: a head between --- lines (name, description, tools, model, maxTurns ...), then its prompt.
They are read from .agenyx/agents and .claude/agents of a trusted workspace, from agents in the home of Agenyx and from
~/.claude/agents; of two with one name the workspace's counts. Without tools in its head an agent only looks. One that
changes files works in a git work tree of its own and hands over a branch.

  list      every agent with what it may do and where it comes from, and what of its file does not count

  --agents JSON         agents as for a run: {"NAME": {"description": "...", "prompt": "..."}}, or a file with that
  --cwd DIR             for this workspace instead of the current directory
  --trust-workspace     as if the workspace were trusted
  --json                one JSON object, for programs

Examples:
  agenyx agents list
  agenyx -p --agents '{"poet": {"description": "writes verse", "prompt": "You rhyme."}}' "have a poet describe src"
"""


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments(
        "agents", argv, switches=("--json", "--trust-workspace"), values=("--cwd", "--agents"), words=(0, 1)
    )
    if given.help:
        show(HELP)
        return OK
    if given.words != ["list"]:
        what = f"does not understand: {given.words[0]}" if given.words else "needs a command"
        raise UsageError(f"agenyx agents {what}", "See: agenyx agents --help")
    home, workspace = home_path(env), os.path.realpath(given.value("--cwd") or os.curdir)
    if not os.path.isdir(workspace):
        raise UsageError(f"{workspace} is not a directory", "Name an existing one with --cwd.")
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    settings = Settings(workspace, trust=given.on("--trust-workspace"))
    gate = Gate(settings, env, home, workspace, None, lambda _: None)
    asyncio.run(gate.open())
    extra = given_text(given.value("--agents")) if given.value("--agents") else ""
    found = catalogue(Extensions(gate, home, person, lambda _: None).sources("agents"), extra)
    registry = Registry(builtin_tools(env))
    if given.on("--json"):
        show(safe(json.encode(data(found, registry)).decode()) + "\n")
    else:
        show(safe("".join(f"{row}\n" for row in rows(found, registry))))
    return OK
