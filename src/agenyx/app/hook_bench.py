"""The hooks of a workspace without a conversation: listed with what is wrong with them, and tried on a sample event."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from agenyx.app.extensions import Extensions
from agenyx.app.hooks import Ground, made, runner
from agenyx.app.permissions import bench as judging
from agenyx.app.policies import choose
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.config.home import home_path
from agenyx.config.secrets import secrets
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.events import Body, Notice
from agenyx.core.hooks import Event, Fired, Said
from agenyx.core.tools import Effects
from agenyx.ext.hooks.answer import meaning, together
from agenyx.ext.hooks.command import missing
from agenyx.ext.hooks.config import EVENTS, read
from agenyx.ext.hooks.environment import hook_env
from agenyx.ext.hooks.http import checked
from agenyx.ext.hooks.model import Entry
from agenyx.ext.hooks.runner import Run
from agenyx.ext.hooks.scripts import foreign
from agenyx.proc.spawn import Processes
from agenyx.tools.registry import parse_args
from agenyx.workspace.acting import candidates

_CALL: dict[str, Any] = {"tool_use_id": "call_sample"}
_SAMPLES: dict[Event, dict[str, Any]] = {
    "PreToolUse": _CALL,
    "PostToolUse": {**_CALL, "duration_ms": 1, "tool_response": {"status": "ok", "content": "sample output"}},
    "PostToolUseFailure": {**_CALL, "duration_ms": 1, "error": "sample error", "is_interrupt": False},
    "PermissionRequest": {**_CALL, "permission_suggestions": []},
    "PermissionDenied": {**_CALL, "reason": "Denied: a sample."},
    "UserPromptSubmit": {"prompt": "a sample prompt", "prompt_id": "prompt_sample"},
    "SessionStart": {"source": "startup", "model": "sample-model"},
    "SessionEnd": {"reason": "other"},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "a sample answer"},
    "SubagentStart": {"agent_id": "sample", "agent_type": "explore"},
    "SubagentStop": {
        "agent_id": "sample",
        "agent_type": "explore",
        "stop_hook_active": False,
        "last_assistant_message": "a sample answer",
    },
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "PostCompact": {"trigger": "manual", "compact_summary": "a sample summary"},
    "Notification": {"message": "a sample", "title": "Agenyx", "notification_type": "permission_prompt"},
}
_SUBJECTS = ("tool_name", "source", "reason", "agent_type", "trigger", "notification_type")
_SAMPLE_TOOL, _SAMPLE_INPUT = "Bash", '{"command":"echo sample"}'


class Row(Struct, frozen=True):
    """One hook. `state` is "ok", or says why it would fail."""

    event: Event
    matcher: str
    kind: str
    runs: str
    condition: str
    timeout: float
    once: bool
    on_error: str
    source: str
    origin: str
    imported: bool
    state: str


class Trial(Struct, frozen=True):
    """What an event came to: each hook that ran, and all together, as values and in words."""

    event: Event
    runs: tuple[Run, ...]
    said: Said
    meaning: str


class HookBench:
    """`problems` are sentences about what does not count."""

    def __init__(self, entries: Sequence[Entry], problems: Sequence[str], ground: Ground, settings: Settings) -> None:
        self.entries, self.problems = tuple(entries), tuple(problems)
        self._ground, self._settings = ground, settings

    def rows(self) -> tuple[Row, ...]:
        return tuple(_row(entry, self._ground) for entry in self.entries)

    async def test(self, event: str, tool: str = "", given: str = "") -> Trial:
        """Run the hooks of an event with a sample of what it tells. They really run. Raises UsageError."""
        name: Event | None = next((one for one in EVENTS if one.casefold() == event.casefold()), None)
        if name is None:
            raise UsageError(f"there is no event {event!r}", f"The events are: {', '.join(EVENTS)}.")
        data, also, effects = dict(_SAMPLES[name]), tuple[str, ...](), Effects()
        if "tool_use_id" in data:
            async with judging(self._settings, self._ground.env) as tried:
                found = tried.registry.find(tool or _SAMPLE_TOOL)
                text = given or ("{}" if tool else _SAMPLE_INPUT)
                try:
                    value: Any = json.decode(text)
                except json.JsonError as error:
                    raise UsageError(f"--input is not JSON: {error}", "Give the arguments as one object.") from None
                if found is not None:
                    try:
                        effects = await found.project(parse_args(found, text), tried.look)
                    except json.JsonError as error:
                        raise UsageError(
                            f"{found.name} does not take these arguments: {error}", "Give them with --input JSON."
                        ) from None
                    also = found.aliases
            data = {"tool_name": found.name if found else tool, "tool_input": value, **data}
        elif tool or given:
            raise UsageError(f"{name} is about no tool", "Leave out --tool and --input.")
        subject = next((str(data[key]) for key in _SUBJECTS if key in data), "")
        notices: list[Notice] = []
        running = runner(made(self.entries, self._ground, notices.append), self._ground, self._common)

        async def known() -> Effects:
            return effects

        runs = tuple(await running.run(Fired(name, subject, data, also), known))
        said = together(name, [(run.entry, run.said) for run in runs])
        return Trial(name, runs, said, meaning(name, said))

    def _common(self) -> Mapping[str, Any]:
        root = self._ground.root
        return {"session_id": "sample", "transcript_path": "", "cwd": root, "permission_mode": "default"}


@asynccontextmanager
async def hook_bench(settings: Settings, env: Mapping[str, str]) -> AsyncGenerator[HookBench]:
    """The hooks as a conversation in this workspace would have them; nobody is asked. Raises AgenyxError."""
    import tempfile

    home, root = home_path(env), os.path.realpath(settings.cwd)
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    told: list[str] = []

    def tell(body: Body) -> None:
        if isinstance(body, Notice):
            told.append(body.text.rstrip("."))

    gate = Gate(settings, env, home, root, None, tell)
    trusted = await gate.open()
    extensions = Extensions(gate, home, person, tell, bare=settings.bare)
    entries, wrong = read(extensions.sources("hooks"))
    if not trusted and candidates(root, frozenset({"hooks"})):
        told.append("the hooks of this workspace are left out, as it is not trusted (see agenyx trust diff)")
    problems = [*told, *(f"{one.source}: {one.text}" for one in wrong)]
    chosen = choose(settings, home, root, person, await gate.found())
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="agenyx-") as claims:
        try:
            ground = Ground(root, env, processes, secrets(env, home), chosen.shell, claims, extensions.trusted())
            yield HookBench(entries, problems, ground, settings)
        finally:
            await processes.close()


def _row(entry: Entry, ground: Ground) -> Row:
    return Row(
        entry.event,
        entry.matcher,
        entry.kind,
        entry.name,
        entry.condition,
        entry.timeout,
        entry.once,
        entry.on_error,
        entry.source,
        entry.origin,
        entry.imported,
        ("" if ground.trusted else foreign(entry, ground.root)) or state_of(entry, ground.root, ground.env),
    )


def state_of(entry: Entry, root: str, env: Mapping[str, str]) -> str:
    """Why a hook would fail, as far as that can be seen without running it; "ok" otherwise."""
    if entry.kind == "http":
        from agenyx.core.errors import AgenyxError

        try:
            checked(entry.url)
        except AgenyxError as error:
            return error.message
        return "ok"
    return missing(entry, root, hook_env(env, root, (), ())[0]) or "ok"


def lines(rows: Sequence[Row], problems: Sequence[str]) -> list[str]:
    """The hooks for people, event by event."""
    found: list[str] = []
    for event in EVENTS:
        of_event = [row for row in rows if row.event == event]
        if of_event:
            found.append(event)
        for row in of_event:
            marks = [f"matcher {row.matcher}" if row.matcher not in ("", "*") else "", f"if {row.condition}"]
            marks = [mark for mark in marks if mark and mark != "if "]
            marks += ["once"] * row.once + [f"{row.timeout:g} s", f"on error {row.on_error}"]
            marks += ["imported"] * row.imported
            found.append(f"  {row.runs}")
            found.append(f"      {', '.join(marks)}; {row.source or row.origin}")
            if row.state != "ok":
                found.append(f"      WRONG: {row.state}")
    found = found or ["There are no hooks. See: agenyx hooks --help"]
    return [*found, *(f"note: {problem}" for problem in problems)]
