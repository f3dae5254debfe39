"""What a response must be like before it is stored or acted on, whichever provider it came from.

Adapters check what their wire says; this holds for all of them, so that no provider can put into a session what another
one, a terminal or a file name could choke on, nor a credential. `Checked` is the one place where it is applied.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import Done, Failure, ModelEvent, Started
from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Text, ToolCall
from agenyx.core.redact import Masker
from agenyx.llm.masking import EventMasker
from agenyx.llm.request import Provider, Request

ID_BYTES = 256
NAME_BYTES = 128
PHASE_BYTES = 64
OPAQUE_BYTES = 4 << 20
CALL_ID_BYTES = 16 << 10  # gateways hide state in the ids of their calls and want it back


class Checked:
    """A provider whose responses are masked and checked before anything shows, stores or does what they say."""

    def __init__(self, provider: Provider, masker: Masker | None = None) -> None:
        self._provider = provider
        self._masker = masker or Masker()
        self.binding = provider.binding

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See llm.request.Provider. Opaque state of another profile is dropped: the binding is set here.

        An id, a name or a phase with a secret or a control character in it ends the response with a Failure.
        """
        masking = EventMasker(self._masker)
        source = self._provider.stream(request)
        try:
            async for event in source:
                for shown in masking.mask(event):
                    match shown:
                        case Done(assistant):
                            wrong = refusal(assistant, self._masker)
                            shown = Done(checked(replace(assistant, binding=self.binding)))
                        case Started(response_id, model):
                            wrong = _refused(self._masker, ("response id", response_id), ("model name", model))
                            shown = Started(checked_id(response_id), model)
                        case _:
                            wrong = ""
                    if wrong:
                        yield Failure("protocol", wrong, "Nothing of it was used. Try again, or use another server.")
                        return
                    yield shown
        finally:
            if isinstance(source, AsyncGenerator):
                await source.aclose()  # a refused response must not go on streaming

    async def close(self) -> None:
        await self._provider.close()


def refusal(assistant: Assistant, masker: Masker) -> str:
    """Why a response must not be used, in a sentence; "" when it may be. Pure."""
    calls = [pair for call in assistant.calls for pair in (("call id", call.wire_id), ("tool name", call.name.strip()))]
    return _refused(masker, *calls, ("phase", assistant.phase), ("model name", assistant.model))


def _refused(masker: Masker, *texts: tuple[str, str]) -> str:
    for what, text in texts:
        # Never rewritten: half an id means nothing, and the server would get back what it did not send.
        if masker.longest and (masker.mask in text or masker.text(text) is not text):
            return f"the server sent a {what} that holds a configured key"
        if not text.isprintable() and not json.scrub(text).isprintable():
            return f"the server sent a {what} with control characters"
    return ""


def checked(assistant: Assistant) -> Assistant:
    """The response with ids, names and phase of a bounded size, and without opaque state that is not sound. Pure.

    Overlong names are cut; an id that is too long is dropped, as half of one means nothing. Opaque state is kept
    exactly or dropped, also when it claims to be of another profile than the response; if any of a response is dropped,
    all of it is.
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
    clean = json.scrub(text)
    return clean if len(clean.encode()) <= ID_BYTES else ""


def _block(block: Block, *, sound: bool) -> Block:
    match block:
        case Text(text=text):
            return Text(json.scrub(text))
        case Reasoning(text=text, opaque=opaque):
            return Reasoning(json.scrub(text), opaque if sound else None)
        case ToolCall():
            wire_id = json.scrub(block.wire_id)
            return ToolCall(
                block.id,
                wire_id if len(wire_id.encode()) <= CALL_ID_BYTES else "",
                _short(block.name.strip(), NAME_BYTES),
                json.scrub(block.args),
                block.opaque if sound else None,
            )


def _short(text: str, limit: int) -> str:
    data = json.scrub(text).encode()
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
