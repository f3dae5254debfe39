"""What of a conversation goes into its next request: everything, until something is declared to be left out.

Part of the fold over the records. Knows no window, no settings and no model: the records say what was taken out.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core.events import Usage
from agenyx.core.messages import Entry, Media, Step, Summary, Text, ToolResult, User, UserBlock
from agenyx.session.records import Compacted, Pruned


class Measured(Struct, frozen=True):
    """The first `entries` entries take `tokens` tokens, the head of the request included.

    `answered`: so does the response that stands in the entry behind them, but not the results of its calls.
    """

    tokens: int
    entries: int
    answered: bool


class View:
    """`entries` are replaced as a list, never changed in the middle; `ids` name the record that completed each."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.ids: list[str] = []
        self.measured: Measured | None = None

    def add(self, entry: Entry, record: str) -> None:
        self.entries.append(entry)
        self.ids.append(record)

    def measure(self, usage: Usage | None) -> int:
        """Take in what the server counted for the entries so far and the response that follows them; 0 for nothing."""
        given = usage.fresh + usage.cache_read + usage.cache_write if usage else 0
        if usage is None or not given:
            return 0
        self.measured = Measured(given + usage.out, len(self.entries), True)
        return self.measured.tokens

    def prune(self, body: Pruned) -> None:
        """Put shorter results in the place of those that were taken out."""
        shorter = {result.call: result for result in body.results}
        self.entries = [exchanged(entry, shorter) for entry in self.entries]
        self._estimated(body.tokens)

    def unsee(self, media: frozenset[str]) -> None:
        """Put words in the place of these images and documents."""
        self.entries = [_unseen(entry, media) for entry in self.entries]

    def compact(self, body: Compacted) -> None:
        """The summary stands for everything up to its record, but for what is kept. Damage makes it stand for all."""
        end = self.ids.index(body.upto) + 1 if body.upto in self.ids else len(self.ids)
        keep = set(body.kept)
        kept = [i for i in range(end) if self.ids[i] in keep and isinstance(self.entries[i], User)]
        chosen = [*kept, *range(end, len(self.ids))]
        self.entries = [Summary(body.summary, body.upto, body.kept), *(self.entries[i] for i in chosen)]
        self.ids = [body.upto, *(self.ids[i] for i in chosen)]
        self._estimated(body.tokens)

    @property
    def trimmable(self) -> bool:
        return any(not _answer(entry) for entry in self.entries)

    def trim(self) -> None:
        """Of what is over, only what was said stays: no calls and no results."""
        chosen = [i for i, entry in enumerate(self.entries) if _answer(entry)]
        self.entries, self.ids = [self.entries[i] for i in chosen], [self.ids[i] for i in chosen]
        self.measured = None

    def _estimated(self, tokens: int) -> None:
        self.measured = Measured(tokens, len(self.entries), False) if tokens else None


def exchanged(entry: Entry, results: dict[str, ToolResult]) -> Entry:
    """The entry with the results that `results` has for its calls."""
    if not isinstance(entry, Step) or not any(result.call in results for result in entry.results):
        return entry
    return replace(entry, results=tuple(results.get(result.call, result) for result in entry.results))


def shown(entry: Entry) -> tuple[Media, ...]:
    """The images and documents of an entry."""
    match entry:
        case User(blocks=blocks):
            return tuple(block for block in blocks if isinstance(block, Media))
        case Step(results=results):
            return tuple(block for result in results for block in result.content if isinstance(block, Media))
        case _:
            return ()


def _unseen(entry: Entry, media: frozenset[str]) -> Entry:
    if not any(one.sha256 in media for one in shown(entry)):
        return entry
    if isinstance(entry, User):
        return replace(entry, blocks=_worded(entry.blocks, media))
    assert isinstance(entry, Step)
    return replace(entry, results=tuple(replace(r, content=_worded(r.content, media)) for r in entry.results))


def _worded(blocks: tuple[UserBlock, ...], media: frozenset[str]) -> tuple[UserBlock, ...]:
    return tuple(
        Text(f"\n[{block.kind} {block.name!r}: the model's server refused it, so you do not see it]")
        if isinstance(block, Media) and block.sha256 in media
        else block
        for block in blocks
    )


def _answer(entry: Entry) -> bool:
    return not isinstance(entry, Step) or (not entry.results and bool(entry.assistant.text.strip()))
