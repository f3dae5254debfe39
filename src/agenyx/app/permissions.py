"""What the permissions say about a call that nobody makes: for `agenyx permissions`, with the judge that runs use."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from msgspec import Struct

from agenyx.agent.judge import Judge, Judged, Refused
from agenyx.agent.planmode import ExitPlanMode, Standing
from agenyx.agent.subagent import NoCrew, Task
from agenyx.app.policies import choose
from agenyx.app.settings import Settings
from agenyx.app.start import open_root
from agenyx.app.trust import Gate
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tools import Effects
from agenyx.core.verdict import Rule, Verdict
from agenyx.ext.skills.tool import IDLE, Skill
from agenyx.policy.decide import Policy, applies, judgements
from agenyx.policy.rules import split_call
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry, parse_args
from agenyx.tools.spec import Look, Tool, subject_of

# The argument that a call in words names, and what else the tool needs to be looked at.
_SUBJECTS = {"Bash": "command", "WebFetch": "url", "Skill": "skill", "Task": "agent", "Glob": "pattern"}
_FILLED: dict[str, dict[str, Any]] = {
    "Task": {"description": "x"},
    "TaskCreate": {"subject": "x"},
    "TaskGet": {"task_id": "t1"},
    "TaskUpdate": {"task_id": "t1"},
    "ExitPlanMode": {"plan": "x"},
    "AskUserQuestion": {"questions": [{"question": "x", "options": [{"label": "a"}, {"label": "b"}]}]},
    "Write": {"content": ""},
    "Edit": {"old_string": "a", "new_string": "b"},
    "MultiEdit": {"edits": [{"old_string": "a", "new_string": "b"}]},
    "Grep": {"pattern": "x"},
    "GitCommit": {"message": "x"},
}


class CommandVerdict(Struct, frozen=True):
    """One simple command; a word that is not static is None."""

    argv: tuple[str | None, ...]
    verdict: str
    reason: str


class Explanation(Struct, frozen=True):
    """`rule` is the deciding rule, "" where none decided, `source` who set it and where."""

    tool: str
    verdict: Verdict
    rule: Rule | None
    effects: Effects
    commands: tuple[CommandVerdict, ...]


class Example(Struct, frozen=True):
    """An example of a rule: whether it should match, and whether that came true."""

    rule: str
    example: str
    wanted: bool
    right: bool


class Bench:
    """Judges calls in words, such as `Bash(git push)`; a call with other arguments is given as `Tool({JSON})`."""

    def __init__(self, registry: Registry, look: Look, policy: Policy, problems: tuple[str, ...]) -> None:
        self.registry, self.policy, self.problems = registry, policy, problems
        self.look, self._judge = look, Judge(registry, lambda: look)

    async def explain(self, text: str) -> Explanation:
        """Raises UsageError when it is no call."""
        name, judged = await self.judge(text)
        if isinstance(judged, Judged):
            verdict, effects = judged.verdict, judged.effects
        else:
            if judged.verdict is None:
                told = "".join(getattr(block, "text", "") for block in judged.outcome.content)
                raise UsageError(told.rstrip("."), "Write the call as Bash(git push), or as Read(src/a.py).")
            verdict, effects = judged.verdict, judged.effects
        rule = next((reason.rule for reason in verdict.reasons if reason.rule is not None), None)
        commands = tuple(
            CommandVerdict(command.argv, said.decision, said.text)
            for command, said in zip(effects.commands, judgements(effects, self.policy, name), strict=True)
        )
        return Explanation(name, verdict, rule, effects, commands)

    async def judge(self, text: str) -> tuple[str, Judged | Refused]:
        """The tool of a call in words, and what a run would say to the call. Raises UsageError when it is no call."""
        name, args = self.call(text)
        return name, await self._judge(name, args, lambda: self.policy)

    async def examples(self) -> list[Example]:
        """Every example of every rule, tried. Raises UsageError for one that is no call."""
        found: list[Example] = []
        for rule in self.policy.rules:
            for wanted, texts in ((True, rule.matches), (False, rule.spares)):
                for text in texts:
                    name, effects = await self.effects(text)
                    right = applies(rule, name, effects, self.policy, self.subject(text)) == wanted
                    found.append(Example(rule.text, text, wanted, right))
        return found

    async def effects(self, text: str) -> tuple[str, Effects]:
        """The tool and the effects of a call in words. Raises UsageError."""
        name, args = self.call(text)
        tool = self.registry.find(name)
        if tool is None:
            raise UsageError(f"there is no tool named {name}", f"The tools are: {', '.join(self.registry.names())}.")
        try:
            return name, await tool.project(parse_args(tool, args), self.look)
        except json.JsonError as error:
            raise UsageError(f"{text} is not a call of {name}: {error}", "Write it as Bash(git push).") from None

    def subject(self, text: str) -> str:
        """What a call in words, one that can be read, names for the rules."""
        name, args = self.call(text)
        tool = self.registry.find(name)
        return subject_of(tool, parse_args(tool, args)) if tool else ""

    def call(self, text: str) -> tuple[str, str]:
        """Tool and arguments, as JSON text, of a call in words. Raises UsageError."""
        name, content = split_call(text)
        tool = self.registry.find(name)
        if tool is None and name.startswith("mcp__"):
            from agenyx.app.mcp_imagined import Imagined  # no server is started for a question

            tool = cast("Tool[Any]", Imagined(name))
            self.registry.add(tool)
        if tool is None:
            raise UsageError(f"there is no tool named {name!r}", f"The tools are: {', '.join(self.registry.names())}.")
        if content.lstrip().startswith("{") and tool.name != "Bash":
            return tool.name, content
        fields = [field for field in ("file_path", "path") if field in tool.args.__struct_fields__]
        subject = _SUBJECTS.get(tool.name) or (fields[0] if fields else "")
        given = {subject: content} if subject and content else {}
        if tool.name == "WebFetch" and "://" not in content:
            given = {subject: f"https://{content.removeprefix('domain:')}/"}
        return tool.name, json.encode(_FILLED.get(tool.name, {}) | given).decode()


@asynccontextmanager
async def bench(settings: Settings, env: Mapping[str, str]) -> AsyncGenerator[Bench]:
    """A judge for the workspace of `settings`, without a session. Raises UsageError, ConfigError.

    Rules of the workspace count where it is trusted; nobody is asked.
    """
    home, workspace = home_path(env), os.path.realpath(settings.cwd)
    if not os.path.isdir(workspace):
        raise UsageError(f"{settings.cwd} is not a directory", "Name an existing one with --cwd.")
    registry = Registry([*builtin_tools(), Skill(IDLE), Task(NoCrew())])
    inside = await Gate(settings, env, home, workspace, None, lambda _: None).found()
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    chosen = choose(settings, home, workspace, person, inside)
    registry.add(ExitPlanMode(Standing(chosen.policy.mode)))
    root = open_root(workspace, home, person)
    processes = Processes()
    shell = Shell(processes, root.path, os.path.join(home, "nowhere"), child_env(env), chosen.shell)
    try:
        yield Bench(registry, Look(root, {}, shell), chosen.policy, chosen.problems)
    finally:
        await processes.close()
