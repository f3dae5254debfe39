"""How full the model's window is, and when to make room. Pure functions of the state and of figures.

The server's own count of the last request is what counts; only what came after it is estimated.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Entry, Media, Reasoning, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.session.state import State

RESERVE = 20_000  # tokens kept free for an answer whose size is not limited (this and the next: AgentX §4.3)
WARN, AUTO, HARD = 20_000, 13_000, 3_000  # tokens below what may be used; in small windows the share of 108,000
ITEM, MEDIA = 24, 2_000  # tokens that a message and an image take beside their text
PAGES = 40_000  # bytes of a document for which as many tokens are counted as for an image


class Choice(Struct, frozen=True):
    """What the person set; 0 and "" where nothing was. `window` in tokens, `warn` and `auto` in percent of what may be
    used of it; `history` is "full" or "final"."""

    window: int = 0
    warn: int = 0
    auto: int = 0
    history: str = ""


NO_CHOICE = Choice()


class Levels(Struct, frozen=True):
    """In tokens: the window, what of it input may use, and where to warn, to make room, and to send no more."""

    window: int
    usable: int
    warn: int
    auto: int
    hard: int


def levels(window: int, output: int | None = None, choice: Choice = NO_CHOICE) -> Levels:
    """`output` is the most that an answer is asked for: servers count it as used. At least half is for the input."""
    usable = window - min(output or min(RESERVE, window // 4), window // 2)
    hard = usable - min(HARD, usable * 3 // 100)
    auto = usable * choice.auto // 100 if choice.auto else usable - min(AUTO, usable * 13 // 100)
    warn = usable * choice.warn // 100 if choice.warn else usable - min(WARN, usable * 20 // 100)
    return Levels(window, usable, min(warn, auto, hard), min(auto, hard), hard)


def estimate(entries: Iterable[Entry]) -> int:
    """About how many tokens these entries take, rather too many than too few."""
    return sum(_tokens(*_weight(entry)) for entry in entries)


def results_size(results: Iterable[ToolResult]) -> int:
    """The estimate for results alone."""
    return sum(_tokens(*_blocks(result.content)) for result in results)


def head_size(state: State) -> int:
    """The estimate for what stands before the messages: system text and tools."""
    if state.prefix is None:
        return 0
    return _tokens(len(json.encode((state.prefix.system, state.prefix.tools))), len(state.prefix.tools), 0)


def pressure(state: State) -> int:
    """About how many tokens the next request takes. Costs what came since the last response."""
    known, entries = state.view.measured, state.view.entries
    if known is None:
        return head_size(state) + estimate(entries)
    rest = entries[known.entries :]
    if known.answered and rest and isinstance(rest[0], Step):
        return known.tokens + results_size(rest[0].results) + estimate(rest[1:])
    return known.tokens + estimate(rest)


def least(state: State) -> int:
    """A lower bound of `pressure` that will hardly be wrong: what was only estimated counts at four bytes a token."""
    known = state.view.measured
    sure = known.tokens if known and known.answered else 0
    return sure + (pressure(state) - sure) * 9 // 16


class Parts(Struct, frozen=True):
    """Where the tokens of a request are, about: system text and tools, the person and notices, the model, results."""

    head: int
    said: int
    answers: int
    results: int
    summary: int


def parts(state: State) -> Parts:
    """The parts, scaled so that together they make up the pressure."""
    entries = state.view.entries
    steps = [entry for entry in entries if isinstance(entry, Step)]
    found = results_size(result for step in steps for result in step.results)
    raw = (
        head_size(state),
        estimate(entry for entry in entries if isinstance(entry, User)),
        estimate(steps) - found,
        found,
        estimate(entry for entry in entries if isinstance(entry, Summary)),
    )
    scale = pressure(state) / max(sum(raw), 1)
    return Parts(*(round(value * scale) for value in raw))


def _tokens(size: int, items: int, media: int) -> int:
    return (size // 3 + ITEM * items + MEDIA * media) * 4 // 3


def _weight(entry: Entry) -> tuple[int, int, int]:
    """Bytes of text, items, and media."""
    match entry:
        case User(blocks=blocks):
            return _blocks(blocks)
        case Summary(text=text):
            return _bytes(text), 1, 0
        case Step(assistant=assistant, results=results):
            size = 0
            for block in assistant.blocks:
                match block:
                    case Text(text=text):
                        size += _bytes(text)
                    case ToolCall(name=name, args=args):
                        size += len(name) + _bytes(args)
                    case Reasoning(text=text, opaque=opaque):
                        size += len(opaque.json) if opaque else _bytes(text)
            shown = [_blocks(result.content) for result in results]
            items = 1 + len(assistant.calls) + len(results)
            return size + sum(s for s, _, _ in shown), items, sum(m for _, _, m in shown)


def _blocks(blocks: Iterable[Text | Media]) -> tuple[int, int, int]:
    size = media = 0
    for block in blocks:
        if isinstance(block, Text):
            size += _bytes(block.text)
        else:
            media += 1 if block.kind == "image" else 1 + block.size // PAGES
    return size, 1, media


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
