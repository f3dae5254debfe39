"""Blocks as the text that is copied, searched and opened in an editor: as it came, without our layout. Pure."""

from __future__ import annotations

from agenyx.core.messages import Media
from agenyx.ui.activity import main_argument
from agenyx.ui.chat.status import turn_text
from agenyx.ui.result import reason
from agenyx.ui.scene.blocks import Answer, Block, Card, Change, Complaint, End, Mark, Note, Said, Thought, Typed


def text_of(block: Block) -> str:
    """The whole text of a block, those inside it included; it may hold anything."""
    match block:
        case Answer() | Thought():
            return block.text
        case Typed(text=text) | Said(text=text) | Change(text=text):
            return text
        case Complaint(message=message, fix=fix) | Note(text=message, fix=fix):
            return f"{message}\n{fix}" if fix else message
        case Mark(summary=summary):
            return summary
        case End(finished=finished):
            told = [] if finished.outcome.kind in ("done", "waiting") else [part for part in reason(finished) if part]
            return "\n".join([*told, turn_text(finished)])
        case Card():
            return _call(block)
        case _:
            return ""


def _call(card: Card) -> str:
    call, effects, result = card.call, card.effects, card.result
    argument = main_argument(call.args) if call is not None else ""
    parts = [f"{card.name} {argument}".rstrip()]
    if call is None:
        parts.append("".join(card.draft))
    elif " ".join(call.args.split()) != "{}":
        parts.append(call.args)
    if effects is not None and effects.preview:
        parts.append(effects.preview)
    parts += [text_of(inner) for inner in card.inner]
    if card.output:
        parts.append(card.output.decode("utf-8", "replace"))
    if result is not None:
        parts += [f"[{one.kind} {one.name}]" for one in result.content if isinstance(one, Media)]
        parts.append(result.text if result.status == "ok" else f"{result.status.replace('_', ' ')}: {result.text}")
    return "\n".join(part for part in parts if part.strip())


def copied(block: Block) -> str:
    """What one wants of a block elsewhere: of a call its command or change and its result, no arguments as JSON."""
    if not isinstance(block, Card):
        return text_of(block)
    call, effects, result = block.call, block.effects, block.result
    parts: list[str] = []
    if effects is not None and (effects.script or (effects.writes and effects.preview)):
        parts.append(effects.preview if effects.writes and effects.preview else effects.script)
    elif call is not None:
        parts.append(f"{block.name} {main_argument(call.args)}".rstrip())
    parts += [copied(inner) for inner in block.inner]
    if result is not None:
        parts.append(result.text)
    return "\n".join(part.strip("\n") for part in parts if part.strip())
