"""A call as rows: one line that tells it, and below, when it is opened, what it did. Pure.

What is shown follows from the effects, the arguments and the shape of the result, never from the name of a tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from agenyx.core import json
from agenyx.core.messages import Media, ToolResult
from agenyx.ui.activity import main_argument
from agenyx.ui.ansi import lines as output_lines
from agenyx.ui.scene.blocks import Card
from agenyx.ui.spans import Line, Span, cells, plain
from agenyx.ui.tui.transcript import diffs, hits
from agenyx.ui.tui.transcript.draft import Draft
from agenyx.ui.tui.transcript.rows import MOST, Signs, flat, hard, indented, plain_rows, split

TAIL = 3  # rows of what a running call prints, or of a text that streams, while the card is closed
REASON = 6  # rows of an error while the card is closed
_OUTPUT = 1_000  # lines of a result
_ARGUMENT = 200  # lines of an argument
_WORDS = {"timed_out": "timed out", "unavailable": "not available"}
_CHANGED = ("old_string", "new_string", "content", "edits")
_SIGN = {
    "ok": ("ok", "ok"),
    "denied": ("denied", "warn"),
    "cancelled": ("stopped", "warn"),
    "interrupted": ("stopped", "warn"),
}


def summary(
    card: Card, width: int, signs: Signs, seconds: int, opened: bool = False, draft: Draft | None = None
) -> Line:
    """The one row. `seconds` since it began, for one that is not over."""
    name, sign, style = _sign(card)
    lead: Span = (style, f"{getattr(signs, sign)} ")
    fact = facts(card, seconds, draft)
    mark = (f"{signs.opened} " if opened else f"{signs.closed} ") if card.stage == "over" or card.inner else "  "
    room = width - cells(lead[1]) - cells(mark)
    title = flat(name, min(max(room // 2, 8), room), signs.gone)
    room -= cells(title)
    fact = flat(fact, max(room - 3, 0), signs.gone)
    argument = flat(_argument(card) or _begun(draft), room - cells(fact) - 3 if fact else room - 1, signs.gone)
    spans: list[Span] = [lead, ("dim", mark), ("tool", title)]
    if argument:
        spans.append(("", f" {argument}"))
    if fact:
        spans.append(("error" if style == "error" else "dim", f"  {fact}"))
    return tuple(spans)


def facts(card: Card, seconds: int, draft: Draft | None = None) -> str:
    """How it stands, in words."""
    parts: list[str] = []
    match card.stage:
        case "draft":
            parts.append("being written")
            lines = max((member.lines for member in draft.members.values()), default=0) if draft else 0
            parts += [f"{lines + 1:,} lines"] if lines else []
        case "accepted":
            parts.append("waits")
        case "asked":
            parts.append("asks for your answer")
        case "running":
            parts.append("running")
        case "over":
            parts += _ended(card)
    if card.inner:
        calls = sum(isinstance(block, Card) for block in card.inner)
        parts.append(f"{calls} call{'' if calls == 1 else 's'}")
        if card.stage == "over" and not card.over:
            parts.append("works in the background")
    if card.stage == "over":
        parts += [_time(card.seconds)] if card.seconds >= 0.1 else []
    elif card.stage in ("running", "draft") and seconds:
        parts.append(f"{seconds} s")
    return ", ".join(part for part in parts if part)


def closed(card: Card, draft: Draft | None, width: int) -> list[Line]:
    """What stands below the line of a card that is closed: the little that a person has to see."""
    if card.stage == "draft":
        return _drafted(draft, width)
    if card.stage != "over":
        return _printed(card, width, TAIL)
    if card.status in ("ok", "cancelled") or card.result is None:
        return []
    rows = _error(card.result, card.status or "", width)
    if len(rows) > REASON:
        rows = [*rows[:REASON], (("dim", f"[… {len(rows) - REASON:,} more rows: Enter shows them]"),)]
    return rows


def body(card: Card, draft: Draft | None, width: int, signs: Signs, nested: Callable[[int], list[Line]]) -> list[Line]:
    """What stands below the line of a card that is open. `nested` draws the blocks of a subagent in so many columns."""
    if card.stage == "draft":
        return _drafted(draft, width)
    rows: list[Line] = []
    given = _given(card)
    change = change_of(card, given)
    command = given.get("command")
    shown = {"command"} if isinstance(command, str) else set[str]()
    if isinstance(command, str):
        lines, more = split(command, _ARGUMENT)
        rows += [row for line in lines for row in hard((("dim", "$ "), ("code", line)), width)]
        rows += _more(more)
    if change:
        shown |= {*_CHANGED}
    rows += _arguments(given, shown, card, width)
    if change:
        rows += diffs.drawn(change, width, signs)
    if card.inner:
        rows += indented(nested(width - 2), f"{signs.bar} ", "dim")
    if card.stage != "over":
        return rows + _printed(card, width, MOST)
    if card.result is not None:
        rows += _result(card, card.result, given, bool(change), width)
    return rows


def change_of(card: Card, given: dict[str, Any] | None = None) -> str:
    """What the call changes in a file, as a difference; "" where it is no such call."""
    effects = card.effects
    if effects is not None:
        return effects.preview if effects.writes and _is_diff(effects.preview) else ""
    given = _given(card) if given is None else given
    if not given.keys() & {"file_path", "path"}:
        return ""
    edits = given.get("edits")
    pairs = cast("list[Any]", edits) if isinstance(edits, list) else [given]
    rows: list[str] = []
    for pair in pairs:
        edit = cast("dict[str, Any]", pair) if isinstance(pair, dict) else {}
        old, new = edit.get("old_string"), edit.get("new_string")
        if isinstance(old, str) and isinstance(new, str):
            rows += [f"-{line}" for line in old.split("\n")] if old else []
            rows += [f"+{line}" for line in new.split("\n")] if new else []
    content = given.get("content")
    if not rows and isinstance(content, str):
        rows = [f"+{line}" for line in content.removesuffix("\n").split("\n")]
    return "\n".join(rows)


def _is_diff(text: str) -> bool:
    return text.startswith("--- ") and "\n+++ " in text


def _sign(card: Card) -> tuple[str, str, str]:
    name = card.name or "a call"
    if name == "McpCall" and card.call is not None:
        from agenyx.app.mcp_call import meant  # few calls are made through a dispatcher

        name = meant(name, card.call.args)
    if card.stage != "over":
        return name, card.stage, {"asked": "warn", "running": "prompt"}.get(card.stage, "dim")
    sign, style = _SIGN.get(card.status or "", ("failed", "error"))
    return name, sign, style


def _argument(card: Card) -> str:
    return main_argument(card.call.args) if card.call is not None else ""


def _ended(card: Card) -> list[str]:
    result, status = card.result, card.status or ""
    if status != "ok":
        words = _WORDS.get(status, status)
        return [words if result is not None else f"{words}, not run"]
    if result is None:
        return []
    media = [block for block in result.content if isinstance(block, Media)]
    told = [f"{block.kind} {block.name}" for block in media]
    if change := change_of(card):
        added, removed = diffs.counts(change)
        return [f"+{added} -{removed}", *told]
    text = result.text
    if not text.strip() or card.inner:
        return told
    found = output_lines(text) if len(text) <= 400 else []
    if len(found) == 1 and len(shown := " ".join(plain(found[0]).split())) <= 100:
        return [shown, *told]
    lines = text.count("\n") + (not text.endswith("\n"))
    return [f"{lines:,} lines", *told]


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _given(card: Card) -> dict[str, Any]:
    try:
        value = json.decode(card.call.args) if card.call is not None else None
    except json.JsonError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _arguments(given: dict[str, Any], shown: set[str], card: Card, width: int) -> list[Line]:
    """The arguments that stand nowhere else, one below the other."""
    rows: list[Line] = []
    first = _argument(card)
    for name, value in given.items():
        if name in shown:
            continue
        if (items := _items(value)) is not None:
            rows += [row for item in items[:_ARGUMENT] for row in hard(item, width)]
            continue
        text = value if isinstance(value, str) else json.pretty(value)
        if " ".join(text.split()) == first and len(text) < width // 2:
            continue  # it stands in the line of the card
        lines, more = split(text, _ARGUMENT)
        head, *others = lines or [""]
        label = flat(name, 30)
        rows += hard((("dim", f"{label}: "), ("", head)), width)
        rows += [row for line in others for row in indented(hard((("", line),), width - 2), "  ")]
        rows += _more(more)
    if not given and card.call is not None and card.call.args.strip() not in ("", "{}"):
        lines, more = split(card.call.args, _ARGUMENT)  # no JSON: as the model wrote it
        rows += plain_rows(lines, width) + _more(more)
    return rows


def _items(value: Any) -> list[Line] | None:
    """A list of things to do, as rows with how far each is; None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    rows: list[Line] = []
    for item in cast("list[Any]", value):
        given = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        text, status = given.get("content"), given.get("status")
        if not isinstance(text, str) or not isinstance(status, str):
            return None
        mark = {"completed": "x", "in_progress": ">"}.get(status, " ")
        style = {"completed": "dim", "in_progress": "bold"}.get(status, "")
        rows.append((("dim", f"[{mark}] "), (style, flat(text, 2_000))))
    return rows


def _begun(draft: Draft | None) -> str:
    """The argument that tells a call which is being written: the first that is short and whole."""
    named = list(draft.members.values()) if draft else []
    return next((member.head for member in named if not member.lines), "")


def _drafted(draft: Draft | None, width: int) -> list[Line]:
    """The end of the text that grows, where it has several lines."""
    member = next(reversed(draft.members.values()), None) if draft else None
    if member is None or not member.lines:
        return []
    lines, _ = split(member.tail[-TAIL * width * 4 :].rstrip("\n"))
    return [row for line in lines[-TAIL:] for row in hard((("code", line),), width)][-TAIL:]


def _printed(card: Card, width: int, most: int) -> list[Line]:
    """The end of what a running call printed."""
    if not card.output:
        return []
    text = card.output.decode("utf-8", "replace")
    if card.printed > len(card.output):
        text = text.partition("\n")[2] or text
    found = [line for line in output_lines(text) if any(part.strip() for _, part in line)]
    rows = [row for line in found[-most:] for row in hard(line, width)]
    return rows[-most:]


def _error(result: ToolResult, status: str, width: int) -> list[Line]:
    lines, more = split(result.text.removeprefix("Denied: "), _OUTPUT)
    style = "error" if _SIGN.get(status, ("", "error"))[1] == "error" else "warn"
    return plain_rows([line for line in lines if line.strip()], width, style) + _more(more)


def _result(card: Card, result: ToolResult, given: dict[str, Any], changed: bool, width: int) -> list[Line]:
    if card.status != "ok":
        return _error(result, card.status or "", width)
    rows: list[Line] = []
    for block in result.content:
        if isinstance(block, Media):
            rows.append((("dim", flat(f"[{block.kind} {block.name}, {block.mime}, {block.size:,} bytes]", width)),))
    text = result.text
    if changed:
        text = text.partition("\n")[0]  # the rest says again what stands above
    if not text.strip():
        return rows
    effects = card.effects
    if (effects is not None and effects.script) or isinstance(given.get("command"), str):
        found = output_lines(text)
        rows += [row for line in found[:_OUTPUT] for row in hard(line, width)]
        return rows + _more(max(len(found) - _OUTPUT, 0))
    lines, more = split(text, _OUTPUT)
    pattern = given.get("pattern")
    searched = hits.drawn(lines, width, pattern) if isinstance(pattern, str) else None
    rows += searched if searched is not None else [row for line in lines for row in hard((("", line),), width)]
    return rows + _more(more)


def _more(count: int) -> list[Line]:
    return [(("dim", f"[… {count:,} more lines]"),)] if count else []
