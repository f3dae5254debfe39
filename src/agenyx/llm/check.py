"""What a response must be like before it is stored or acted on, whichever provider it came from. Pure.

Adapters check what their wire says; this holds for all of them, so that no provider can put into a session what another
one, a terminal or a file name could choke on. `Checked` is the one place where it is applied.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import Done, ModelEvent, Started
from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.request import Provider, Request

ID_BYTES = 256
NAME_BYTES = 128
PHASE_BYTES = 64
OPAQUE_BYTES = 4 << 20
CALL_ID_BYTES = 16 << 10  # gateways hide state in the ids of their calls and want it back


class Checked:
    """A provider whose responses are checked before anything shows, stores or does what they say."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.binding = provider.binding

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See llm.request.Provider. Opaque state of another profile is dropped: the binding is set here."""
        async for event in self._provider.stream(request):
            match event:
                case Done(assistant):
                    yield Done(checked(replace(assistant, binding=self.binding)))
                case Started():
                    yield Started(checked_id(event.response_id), event.model)
                case _:
                    yield event

    async def close(self) -> None:
        await self._provider.close()


def checked(assistant: Assistant) -> Assistant:
    """The response with clean ids, names and phase, and without opaque state that is not sound. Never raises.

    Control characters are taken out and overlong names are cut; an id that is too long is dropped, as half of one means
    nothing. Opaque state is kept exactly or dropped, also when it claims to be of another profile than the response; if
    any of a response is dropped, all of it is.
    """
    opaques = [block.opaque for block in assistant.blocks if not isinstance(block, Text) and block.opaque is not None]
    sound = all(opaque.binding == assistant.binding and _sound(opaque) for opaque in opaques)
    return replace(
        assistant,
        blocks=tuple(_block(block, sound=sound) for block in assistant.blocks),
        phase=_short(assistant.phase, PHASE_BYTES),
        model=_short(assistant.model, ID_BYTES),
    )


def checked_id(text: str) -> str:
    """An id of a response, for the record; empty if it is too long to be one."""
    clean = _clean(text)
    return clean if len(clean.encode()) <= ID_BYTES else ""


def _block(block: Block, *, sound: bool) -> Block:
    match block:
        case Text(text=text):
            return Text(json.scrub(text))
        case Reasoning(text=text, opaque=opaque):
            return Reasoning(json.scrub(text), opaque if sound else None)
        case ToolCall():
            wire_id = _clean(block.wire_id)
            return ToolCall(
                block.id,
                wire_id if len(wire_id.encode()) <= CALL_ID_BYTES else "",
                _short(block.name, NAME_BYTES),
                json.scrub(block.args),
                block.opaque if sound else None,
            )


def _clean(text: str) -> str:
    text = json.scrub(text)
    return text if text.isprintable() else "".join(c for c in text if c.isprintable())


def _short(text: str, limit: int) -> str:
    data = _clean(text).encode()
    return data[:limit].decode("utf-8", "ignore")


def _sound(opaque: Opaque) -> bool:
    if max(len(opaque.binding), len(opaque.wire)) > ID_BYTES or len(opaque.json) > OPAQUE_BYTES:
        return False
    try:
        if len(opaque.json.encode()) > OPAQUE_BYTES:
            return False
        json.decode(opaque.json)
    except (json.JsonError, UnicodeEncodeError):
        return False
    return True
