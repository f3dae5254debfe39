"""What of a history belongs to one model server alone, and the history without it. Pure; knows no profile."""

from __future__ import annotations

from msgspec.structs import replace

from agenyx.core.messages import Assistant, Block, Entry, Reasoning, Step, ToolCall


def unbound(entry: Entry) -> Entry:
    """The entry without provider state: no opaque reasoning, no provider's ids. What was said and done stays."""
    if not isinstance(entry, Step):
        return entry
    assistant: Assistant = entry.assistant
    kept = tuple(_unbound(block) for block in assistant.blocks)
    return replace(entry, assistant=replace(assistant, blocks=kept, binding=""))


def _unbound(block: Block) -> Block:
    match block:
        case Reasoning():
            return replace(block, opaque=None)
        case ToolCall():
            return replace(block, wire_id="", opaque=None)
        case _:
            return block
