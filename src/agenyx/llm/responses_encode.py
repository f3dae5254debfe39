"""Writes Responses requests: options, tools and instructions first, the input last. No I/O, no time.

The whole input goes along each time and nothing is stored at the server. Reasoning goes back exactly as it came, to the
profile that made it and together with what followed it, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from agenyx.core import json
from agenyx.core.messages import Assistant, Entry, Reasoning, Step, Summary, Text, ToolCall, User
from agenyx.llm.dialects import ResponsesDialect
from agenyx.llm.encode import Conversation, Encoder, WireIds, dump, replayed, wire_args, wire_name
from agenyx.llm.request import Request
from agenyx.llm.responses_wire import CALL, ITEM

if TYPE_CHECKING:
    from agenyx.llm.shown import Piece

# Families that do not think, and refuse a request for their encrypted thoughts.
_THOUGHTLESS = ("gpt-4", "gpt-3.5", "chatgpt-4o")


class ResponsesEncoder(Encoder):
    """Encodes for one dialect; `binding` says whose state may go back; `deployment` stands for the model on Azure."""

    def __init__(self, dialect: ResponsesDialect, binding: str = "", deployment: str = "") -> None:
        super().__init__(lambda request: _Responses(request, dialect, binding, deployment))


class _Responses(Conversation):
    wire: ClassVar[str] = "responses"

    def __init__(self, request: Request, dialect: ResponsesDialect, binding: str, deployment: str) -> None:
        self._binding = binding
        self._ids, self._seeing = WireIds(dialect.ids), dialect.seeing
        super().__init__(request, dump(_fields(request, deployment))[:-1] + b',"input":[')

    def messages(self, entry: Entry) -> list[bytes]:
        match entry:
            case User():
                return [_user(self.shown(entry.blocks))]
            case Summary():
                return [_user(entry.text)]
            case Step():
                return self._step(entry)

    def _step(self, step: Step) -> list[bytes]:
        assistant = step.assistant
        thoughts = [block for block in assistant.blocks if isinstance(block, Reasoning)]
        bound = all(replayed(block.opaque, self._binding, ITEM) for block in thoughts)
        phases = _phases(assistant)
        items: list[bytes] = []
        pending: list[bytes] = []  # reasoning that waits for what it belongs to
        results = iter(step.results)
        outputs: list[bytes] = []
        below: list[Piece] = []
        for block in assistant.blocks:
            match block:
                case Reasoning(opaque=opaque):
                    pending += [replayed(opaque, self._binding, ITEM)] if bound else []
                    continue
                case Text(text=text):
                    phase = phases.pop(0)
                    if not text:
                        continue
                    item = _assistant(text, phase, refused=assistant.stop == "refusal")
                case ToolCall():
                    wire_id = self._ids.of(block)
                    item = self._call(wire_id, block, bound=bound)
                    output = {"type": "function_call_output", "call_id": wire_id}
                    said = self.shown(next(results).content)
                    if not isinstance(said, str) and not self._seeing:
                        from agenyx.llm.shown import beside, following

                        below += following(said, f"{wire_name(block.name)} ({wire_id})")
                        said = beside(said)
                    outputs.append(dump({**output, "output": said if isinstance(said, str) else _parts(said)}))
            items += [*pending, item]
            pending.clear()
        return [*items, *outputs, *([_user(below)] if below else [])]

    def _call(self, wire_id: str, call: ToolCall, *, bound: bool) -> bytes:
        item: dict[str, Any] = {"type": "function_call"}
        # The server looks for the reasoning of an item that it knows by its id.
        if bound and (state := replayed(call.opaque, self._binding, CALL)):
            item.update(json.decode(state))
        return dump({**item, "call_id": wire_id, "name": wire_name(call.name), "arguments": wire_args(call.args)})


def _user(said: str | list[Piece]) -> bytes:
    parts = [{"type": "input_text", "text": said}] if isinstance(said, str) else _parts(said)
    return dump({"type": "message", "role": "user", "content": parts})


def _parts(pieces: list[Piece]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append({"type": "input_text", "text": piece})
        elif piece.media.kind == "image":
            parts.append({"type": "input_image", "image_url": piece.url, "detail": "auto"})
        else:
            parts.append({"type": "input_file", "filename": piece.filename, "file_data": piece.url})
    return parts


def _assistant(text: str, phase: str, *, refused: bool) -> bytes:
    part = {"type": "refusal", "refusal": text} if refused else {"type": "output_text", "text": text}
    item: dict[str, Any] = {"type": "message", "role": "assistant", "content": [part]}
    if phase:
        item["phase"] = phase
    return dump(item)


def _phases(assistant: Assistant) -> list[str]:
    """The phase of each text block; see Items.phase."""
    count = sum(isinstance(block, Text) for block in assistant.blocks)
    phases = assistant.phase.split(",")
    if len(phases) == count:
        return phases
    return [assistant.phase if len(phases) == 1 else ""] * count


def _fields(request: Request, deployment: str) -> dict[str, Any]:
    """Everything in front of the input, in the order of the wire."""
    options = request.options
    fields: dict[str, Any] = {"model": deployment or request.model, "stream": True, "store": False}
    if options.effort != "none" and not request.model.startswith(_THOUGHTLESS):
        fields["include"] = ["reasoning.encrypted_content"]
    if options.effort:
        fields["reasoning"] = {"effort": options.effort}
    if options.temperature is not None:
        fields["temperature"] = options.temperature
    if options.max_output is not None:
        fields["max_output_tokens"] = options.max_output
    if request.tools:
        fields["parallel_tool_calls"] = True
        fields["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": _schema(tool.schema),
                "strict": False,
            }
            for tool in request.tools
        ]
    system = "\n\n".join(section for section in request.system if section)
    if system:
        fields["instructions"] = system
    return fields


def _schema(node: Any) -> Any:
    """Without empty lists of required members, which some deployments refuse."""
    if isinstance(node, list):
        return [_schema(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    members = cast("dict[str, Any]", node)
    return {name: _schema(value) for name, value in members.items() if name != "required" or value != []}
