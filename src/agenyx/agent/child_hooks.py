"""The hooks as a subagent has them: the same, told whose events these are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from agenyx.agent.hooked import fire, users
from agenyx.agent.ports import Emitter, Hooks, Ports
from agenyx.core.hooks import Event, Fired, Said
from agenyx.core.messages import User
from agenyx.core.tools import Effects


class ChildHooks:
    """The hooks as a subagent has them: its end is SubagentStop, and every event names it. `transcript` is its own."""

    def __init__(self, hooks: Hooks, agent_id: str, agent_type: str, transcript: str = "") -> None:
        self._hooks, self._more = hooks, {"agent_id": agent_id, "agent_type": agent_type}
        self._transcript = transcript

    def wants(self, event: Event) -> bool:
        return self._hooks.wants("SubagentStop" if event == "Stop" else event)

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        if fired.event == "Stop":
            data = {**fired.data, "agent_transcript_path": self._transcript}
            fired = replace(fired, event="SubagentStop", subject=self._more["agent_type"], data=data)
        return await self._hooks.fire(replace(fired, data={**fired.data, **self._more}), effects)


def child_ports(ports: Ports, agent_id: str, agent_type: str, transcript: str = "") -> Ports:
    """The ports of a subagent: the same hooks, told whose events these are. Its summaries are its own affair."""

    async def nothing(_by: str, _focus: str) -> str:
        return ""

    async def silence(_summary: str) -> None:
        pass

    hooks = ChildHooks(ports.hooks, agent_id, agent_type, transcript)
    return replace(ports, hooks=hooks, compacting=nothing, compacted=silence)


async def subagent_started(hooks: Hooks, emit: Emitter, agent_id: str, agent_type: str) -> list[User]:
    """Tell hooks of a subagent that begins; what they add for it comes before its prompt."""
    if not hooks.wants("SubagentStart"):
        return []
    data = {"agent_id": agent_id, "agent_type": agent_type}
    said = await fire(hooks, emit, Fired("SubagentStart", agent_type, data))
    return users("SubagentStart", said.context)
