"""Blocks as rows of styled spans, kept as long as nothing of them changes. Knows no toolkit.

Texts are made safe here: what comes out holds no control characters, whatever a block holds.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

from agenyx.core.tty import safe
from agenyx.ui.chat.status import turn_text
from agenyx.ui.result import reason
from agenyx.ui.scene.blocks import Answer, Block, Card, Change, Complaint, End, Mark, Note, Said, Thought, Typed
from agenyx.ui.spans import Glyphs, Line, line, wrap
from agenyx.ui.tui.transcript import answer, cards, diffs
from agenyx.ui.tui.transcript.draft import Draft
from agenyx.ui.tui.transcript.rows import PLAIN, TAB, Signs, flat, indented, plain_rows, split

KEPT = 1_500  # rows that are kept beside those of the blocks that are drawn just now
_TYPED = 20  # rows of an input that is not opened
_DEEPEST = 6  # subagents within subagents that are indented
_COLUMN = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
_LEVELS = {"info": "dim", "warning": "warn", "error": "error"}


class Rendered(Struct, frozen=True):
    """`parts` are the keys of the blocks in it, each with its first row: the block itself, then those inside."""

    rows: list[Line]
    parts: list[tuple[int, int]]


class _Kept(Struct, frozen=True):
    version: int
    width: int
    opened: bool
    stamp: int
    rendered: Rendered


class Renderer:
    """`opened` tells of a key whether all of its block is shown; `clock` is the scene's."""

    def __init__(self, glyphs: Glyphs, opened: Callable[[int], bool], clock: Callable[[], float]) -> None:
        self._glyphs, self._opened, self._clock = glyphs, opened, clock
        self.signs = PLAIN if glyphs.rule == "-" else Signs()
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._rows = 0
        self._streams: dict[int, answer.Stream] = {}  # of texts that are not over
        self._drafts: dict[int, tuple[Draft, int]] = {}  # of calls that stream, with how many pieces were taken

    def forget(self) -> None:
        """Draw everything anew."""
        self._kept.clear()
        self._rows = 0

    def restart(self) -> None:
        """Nothing of what was drawn comes again."""
        self.forget()
        self._streams.clear()
        self._drafts.clear()

    def stamp(self, block: Block) -> int:
        """Changes with the time where the rows of a block do: the seconds of what runs."""
        if not isinstance(block, Card) or block.over:
            return 0
        own = int(self._clock() - block.began) + 1 if block.stage in ("running", "draft") else 0
        return own + sum(self.stamp(inner) for inner in block.inner)

    def rendered(self, block: Block, width: int, depth: int = 0) -> Rendered:
        """The rows of a block, each of at most `width` columns."""
        opened, stamp = self._opened(block.key), self.stamp(block)
        kept = self._kept.get(block.key)
        if kept is not None:
            same = kept.version == block.version and kept.width == width
            if same and kept.opened == opened and kept.stamp == stamp:
                self._kept.move_to_end(block.key)
                return kept.rendered
            self._rows -= len(kept.rendered.rows)
            del self._kept[block.key]
        made = self._made(block, width, opened, depth)
        self._kept[block.key] = _Kept(block.version, width, opened, stamp, made)
        self._rows += len(made.rows)
        while self._rows > KEPT and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._rows -= len(oldest.rendered.rows)
        return made

    # --- kinds of blocks ---------------------------------------------------------------------------------------------

    def _made(self, block: Block, width: int, opened: bool, depth: int) -> Rendered:
        width = max(width, 8)
        parts = [(0, block.key)]
        match block:
            case Answer():
                rows = self._answer(block, width)
            case Card():
                rows = self._card(block, width, opened, depth, parts)
            case Thought():
                rows = self._thought(block, width, opened)
            case Typed():
                rows = _typed(block, width, opened, self.signs)
            case Said(text=text, style=style):
                rows = said(text, style, width)
            case Complaint(message=message, fix=fix):
                rows = _told(message, fix, "error", width)
            case Change(text=text):
                rows = diffs.drawn(text, width, self.signs)
            case Note(text=text, level=level, fix=fix):
                rows = _told(text, fix, _LEVELS[level], width)
            case Mark():
                rows = self._mark(block, width, opened)
            case End():
                rows = _end(block, width)
            case _:
                rows = []
        return Rendered(rows or [()], parts)

    def _answer(self, block: Answer, width: int) -> list[Line]:
        stream = self._streams.get(block.key)
        if stream is None or stream.width != max(width, 4):
            if block.over:
                return answer.render(block.text, width, self._glyphs)
            stream = self._streams[block.key] = answer.Stream(width, self._glyphs)
        stream.take(block.pieces)
        if block.over:
            del self._streams[block.key]
            return stream.end()
        return stream.rows()

    def _thought(self, block: Thought, width: int, opened: bool) -> list[Line]:
        signs = self.signs
        text = block.text
        if block.over:
            head = f"thought for {block.seconds:.0f} s" if block.seconds >= 1 else "thought"
            mark = signs.opened if opened else signs.closed
            first = "" if opened else flat(text, max(width - len(head) - 6, 0), signs.gone)
            rows: list[Line] = [(("dim", f"{mark} {head}"), ("dim italic", f"  {first}" if first else ""))]
        else:
            rows = [(("dim", f"{signs.draft} thinking"),)]
        if block.over and not opened:
            return rows
        lines, more = split(text if block.over or opened else text[-cards.TAIL * width * 4 :])
        shown = plain_rows(lines, width - 2, "dim")
        shown = shown if block.over or opened else shown[-cards.TAIL :]
        return rows + indented(shown, "  ") + ([line(f"  [… {more:,} more lines]", "dim")] if more else [])

    def _card(self, card: Card, width: int, opened: bool, depth: int, parts: list[tuple[int, int]]) -> list[Line]:
        signs = self.signs
        seconds = int(self._clock() - card.began) if card.stage != "over" else 0
        draft = self._draft(card)
        inner: list[tuple[int, int]] = []
        rows = [cards.summary(card, width, signs, seconds, opened, draft)]

        def nested(columns: int) -> list[Line]:
            return self._nested(card, columns, depth + 1, inner)

        if not opened:
            rows += indented(cards.closed(card, draft, width - 4), "    ")
            if card.inner and not card.over and (doing := self._doing(card)) is not None:
                rows.append((("dim", f"    {signs.turn} "), *self._summary(doing, width - 6)))
            return rows
        begun = cards.body(card, draft, max(width - 4, 8), signs, nested)
        if inner:
            at = next(index for index, row in enumerate(begun) if row and row[0] == ("dim", f"{signs.bar} "))
            parts += [(first + at + 1, key) for first, key in inner]
        return rows + indented(begun, "    " if depth < _DEEPEST else "")

    def _nested(self, card: Card, width: int, depth: int, parts: list[tuple[int, int]]) -> list[Line]:
        rows: list[Line] = []
        before: Block | None = None
        for block in card.inner:
            rows += [()] * gap(before, block)
            rendered = self.rendered(block, width, depth)
            parts += [(len(rows) + first, key) for first, key in rendered.parts]
            rows += rendered.rows
            before = block
        return rows

    def _doing(self, card: Card) -> Card | None:
        """The last call of a subagent."""
        return next((block for block in reversed(card.inner) if isinstance(block, Card)), None)

    def _summary(self, card: Card, width: int) -> Line:
        return cards.summary(card, width, self.signs, int(self._clock() - card.began))

    def _draft(self, card: Card) -> Draft | None:
        if card.stage != "draft":
            self._drafts.pop(card.key, None)
            return None
        draft, taken = self._drafts.get(card.key) or (Draft(), 0)
        for piece in card.draft[taken:]:
            draft.feed(piece)
        self._drafts[card.key] = (draft, len(card.draft))
        return draft

    def _mark(self, block: Mark, width: int, opened: bool) -> list[Line]:
        signs = self.signs
        head = "Made shorter: of what stands above, the model has a summary from here on."
        rows = [line(signs.rule * width, "dim"), *plain_rows([head], width, "dim")]
        if opened:
            rows += answer.render(block.summary, width, self._glyphs)
        return [*rows, line(signs.rule * width, "dim")]


def gap(before: Block | None, block: Block) -> int:
    """The blank rows between two blocks: one between things of different kinds."""
    if before is None:
        return 0
    kinds = _kind(before), _kind(block)
    return 0 if kinds[0] == kinds[1] and kinds[0] not in ("Answer", "Typed", "End") else 1


def _kind(block: Block) -> str:
    return "work" if isinstance(block, Card | Thought | Note) else type(block).__name__


def _typed(block: Typed, width: int, opened: bool, signs: Signs) -> list[Line]:
    lines, more = split(block.text)
    rows = plain_rows(lines, width - 2, "bold")
    if not opened and len(rows) > _TYPED:
        more += len(rows) - _TYPED
        rows = [*rows[:_TYPED]]
    first, *others = rows or [()]
    shown: list[Line] = [(("prompt", "> "), *first), *indented(others, "  ")]
    if more:
        shown.append(line(f"  [… {more:,} more rows{'' if opened else ': Enter shows them'}]", "dim"))
    if block.how == "steer":
        shown.append(line(f"  {signs.turn} the model reads this at its next step", "dim"))
    return shown


def said(text: str, style: str, width: int) -> list[Line]:
    """Words of the program, line by line; columns are two blanks apart, and what is wrapped stays in its own."""
    rows: list[Line] = []
    lines, more = split(text.rstrip("\n"))
    for row in lines:
        lead = _COLUMN.match(row)
        indent = " " * (lead.end() if lead and lead.end() < width // 2 else 0)
        rows += wrap(line(row, style), width, indent)
    return rows + ([line(f"[… {more:,} more lines]", "dim")] if more else [])


def _told(text: str, fix: str, style: str, width: int) -> list[Line]:
    lines, _ = split(text, 40)
    signed = [f"{'  ' if at else '! '}{part}" for at, part in enumerate(lines)]
    rows = [row for part in signed for row in wrap(line(part, style), width, "  ")]
    told, _ = split(fix, 40) if fix else ([], 0)
    return rows + [row for part in told for row in wrap(line(f"  {part}"), width, "  ")]


def _end(block: End, width: int) -> list[Line]:
    finished = block.finished
    rows: list[Line] = []
    if finished.outcome.kind not in ("done", "waiting"):
        rows += _told(*reason(finished), "error", width)
    if finished.outcome.kind == "waiting":
        rows += _told("The turn waits for an answer.", "", "warn", width)
    return [*rows, *wrap(line(safe(turn_text(finished).expandtabs(TAB)), "dim"), width)]
