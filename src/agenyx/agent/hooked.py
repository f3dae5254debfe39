"""Hooks around the calls of a turn and at its end: when they are asked, and what goes on record of their answers.

An answer stands in the transcript before what follows from it, so that no hook is asked twice about one call, neither
after a crash nor when an approval is answered another day. Knows no program and no file: that is behind `Ports.hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agenyx.agent.ports import Emitter, Hooks
from agenyx.core import json
from agenyx.core.events import Notice
from agenyx.core.hooks import Event, Fired, Said
from agenyx.core.json import scrub
from agenyx.core.messages import Step, Text, User
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.session.records import Hooked, Prompt
from agenyx.session.session import Session
from agenyx.session.state import CallState, State

if TYPE_CHECKING:
    from agenyx.agent.judge import Judged, Refused
    from agenyx.tools.registry import Registry
    from agenyx.tools.spec import Tool

MOST_HELD = 5  # times that Stop hooks may keep one turn from ending

Before = Callable[["Tool[Any]", str, Callable[[], Awaitable[Effects]]], Awaitable[Hooked | None]]
"""Asks the hooks about a call of a tool with these checked arguments; what it would do is told when it is asked for."""


class Hooking:
    """The hooks of one agent, for its boundary and its engine."""

    def __init__(self, session: Session, hooks: Hooks, emit: Emitter, registry: Registry) -> None:
        self._session, self._hooks, self._emit, self._registry = session, hooks, emit, registry

    def before(self, state: CallState) -> Before | None:
        """What asks about this call before it is judged: None where nothing wants to be, or its answer on record.

        What the person wrote in place of the arguments is theirs: hooks do not change it.
        """
        if state.hooked is None and not self._hooks.wants("PreToolUse"):
            return None

        async def ask(tool: Tool[Any], args: str, effects: Callable[[], Awaitable[Effects]]) -> Hooked | None:
            told = state.hooked
            if told is None:
                data = {"tool_name": tool.name, "tool_input": value_of(args), "tool_use_id": state.call.id}
                said = await fire(self._hooks, self._emit, Fired("PreToolUse", tool.name, data, tool.aliases), effects)
                if not said.ran:
                    return None
                state.hooked = told = _record("PreToolUse", said, state.call.id)
                self._session.append(told)
            return told if state.edited is None else replace(told, args=None)

        return ask

    async def denied(self, state: CallState, refused: Refused) -> None:
        """Let hooks know of a call that was denied. They change nothing about it."""
        if refused.outcome.status == "denied" and self._hooks.wants("PermissionDenied"):
            name, data = call_data(self._registry, state.call.name, state.changed or state.call.args, state.call.id)
            data["reason"] = "".join(block.text for block in refused.outcome.content if isinstance(block, Text))
            await fire(self._hooks, self._emit, Fired("PermissionDenied", name, data), _known(refused.effects))

    async def after(self, ran: Sequence[tuple[CallState, Judged, float]]) -> None:
        """Tell hooks of calls whose results are on record, with the seconds they took; keep what these add."""
        fired: list[tuple[CallState, Judged, Fired]] = []
        for state, judged, seconds in ran:
            result, tool = state.result, judged.tool
            event: Event = "PostToolUse" if result is not None and result.status == "ok" else "PostToolUseFailure"
            if result is None or not self._hooks.wants(event):
                continue
            data = {"tool_name": tool.name, "tool_input": value_of(judged.text), "tool_use_id": state.call.id}
            data["duration_ms"] = round(seconds * 1000)
            if event == "PostToolUse":
                data["tool_response"] = {"status": result.status, "content": result.text}
            else:
                data |= {"error": result.text, "is_interrupt": result.status in ("cancelled", "interrupted")}
            fired.append((state, judged, Fired(event, tool.name, data, tool.aliases)))
        asked = (fire(self._hooks, self._emit, one, _known(judged.effects)) for _, judged, one in fired)
        heard = await asyncio.gather(*asked)
        told = [
            _record(one.event, said, state.call.id)
            for (state, _, one), said in zip(fired, heard, strict=True)
            if said.context or said.stop or said.decision == "deny"
        ]
        if told:
            self._session.append(*told)

    async def goes_on(self) -> bool:
        """Ask the hooks whether the turn may end. True when one wants it to go on, which is on record then."""
        state = self._session.state
        if not self._hooks.wants("Stop"):
            return False
        if state.held >= MOST_HELD:
            self._emit(Notice("warning", f"Stop hooks kept this turn from ending {state.held} times; it ends now."))
            return False
        last = state.entries[-1] if state.entries else None
        answer = last.assistant.text if isinstance(last, Step) else ""
        data = {"stop_hook_active": state.held > 0, "last_assistant_message": answer}
        said = await fire(self._hooks, self._emit, Fired("Stop", "", data))
        if said.decision != "deny" or said.stop:
            return False
        why = element("Stop", f"The turn is not over yet: {said.reason}")
        self._session.append(Hooked("Stop", decision="deny", reason=said.reason), Prompt(User((Text(why),), "hook")))
        return True


async def fire(
    hooks: Hooks, emit: Emitter, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None
) -> Said:
    """Ask the hooks, and show the person what they have to say."""
    said = await hooks.fire(fired, effects)
    for text in said.messages:
        emit(Notice("info", text))
    for text in said.problems:
        emit(Notice("warning", text))
    return said


def weighed(said: Hooked | None) -> Verdict | None:
    """The part that hooks have in a verdict."""
    if said is None or said.decision not in ("allow", "ask"):
        return None
    does = "allows it" if said.decision == "allow" else "asks"
    return Verdict(
        said.decision, (Reason("hook", f"a hook {does}: {said.reason}" if said.reason else f"a hook {does}"),)
    )


def changed_by(state: CallState) -> str:
    """The first line of a result whose call did not run with the arguments that the model sent, "" otherwise.

    What a person answered to a question is told by the tool that asked it.
    """
    if state.edited is not None:
        if state.approval is not None and state.approval.effects.interact:
            return ""
        by_hook = state.decision is not None and state.decision.by == "hook"
        who = "A hook" if by_hook else "The user"
        return f"[{who} changed the arguments to {state.edited}]\n"
    return f"[A hook changed the arguments to {state.changed}]\n" if state.changed is not None else ""


def waiting(state: State) -> list[User]:
    """What hooks had to add and the model has not seen, as the entry that comes next; it is on record already."""
    return [User((Text("\n".join(state.told)),), "hook")] if state.told else []


def element(event: str, text: str) -> str:
    """What a hook adds, marked as such; no text can end the mark early."""
    inner = text.replace("</hook_context", "&lt;/hook_context").strip()
    return f'<hook_context event="{event}">\n{inner}\n</hook_context>'


def texts(event: str, context: tuple[str, ...]) -> list[str]:
    return [element(event, scrub(text)) for text in context]


def users(event: str, context: tuple[str, ...]) -> list[User]:
    """What hooks add, as one entry; none for nothing."""
    return [User((Text("\n".join(texts(event, context))),), "hook")] if context else []


def value_of(args: str) -> Any:
    """The arguments as JSON values; {} where they are none."""
    try:
        return json.decode(args) if args.strip() else {}
    except json.JsonError:
        return {}


def call_data(registry: Registry, name: str, args: str, call: str) -> tuple[str, dict[str, Any]]:
    """The tool that is meant by a call, and what its events say of it."""
    with suppress(json.JsonError):
        name, args = registry.resolve(name, args)
    tool = registry.find(name)
    name = tool.name if tool is not None else name
    return name, {"tool_name": name, "tool_input": value_of(args), "tool_use_id": call}


def _record(event: Event, said: Said, call: str) -> Hooked:
    context = texts(event, said.context)
    if event != "PreToolUse" and said.decision == "deny" and said.reason:
        context.append(element(event, said.reason))  # what was done stays done: it is told
    decision = said.decision if event == "PreToolUse" else ""
    return Hooked(event, call, decision, said.reason, said.args, tuple(context), said.stop)


def _known(effects: Effects) -> Callable[[], Awaitable[Effects]]:
    async def known() -> Effects:
        return effects

    return known
