"""Masks credentials by value, once, at intake; finds them again at every exit; holds back what may begin one.

Knows which bytes must not leave, not where they come from (`config/secrets.py`) nor where anything goes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core.errors import ConfigError
from agenyx.core.messages import Opaque
from agenyx.core.spellings import MASK as MASK
from agenyx.core.spellings import SHORTEST, safe_mask, spellings

T = TypeVar("T")
Span = tuple[int, int]
Piece = tuple[int, str]
"""A block's number and text of it."""

MOST = 256  # secrets, and their bytes in all (reference: AgentX redaction model)
MOST_BYTES = 64 << 10


class Masker:
    """Replaces known secrets, also as JSON, addresses, Base64 and hexadecimal spell them, by `mask`.

    Secrets under eight bytes are not masked: a placeholder key of a local server would mask ordinary words. `longest`
    is 0 where there is nothing to mask. Raises ConfigError for more than MOST secrets or MOST_BYTES.
    """

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        kept = [secret for secret in dict.fromkeys(secrets) if _size(secret) >= SHORTEST]
        if len(kept) > MOST or sum(map(_size, kept)) > MOST_BYTES:
            raise ConfigError(
                f"there are {len(kept)} secrets of {sum(map(_size, kept)):,} bytes in all to keep out of what leaves; "
                f"the most are {MOST} and {MOST_BYTES:,}",
                "Unset the environment variables that this run does not need, or remove providers from auth.json.",
            )
        self._take(tuple({spelling: None for secret in kept for spelling in spellings(secret)}))
        self._latin: Masker | None = None

    def _take(self, literals: tuple[str, ...], mask: str = "") -> None:
        self._literals = tuple(sorted(literals, key=len, reverse=True))
        self._bytes = tuple(literal.encode("utf-8", "surrogatepass") for literal in self._literals)
        self.longest = len(self._literals[0]) if self._literals else 0
        self.mask = mask or safe_mask(self._literals)
        self._short = frozenset(literal[:size] for literal in literals for size in (1, 2))
        heads = {literal[:3] for literal in literals}
        self._heads = re.compile(f"(?={'|'.join(map(re.escape, heads))})" if heads else "(?!)")

    @property
    def latin(self) -> Masker:
        """The same for bytes that were decoded as Latin-1, in which every byte is a character and comes back as it was.

        Its `text`, `spans` and `hold` speak of such text; streams of bytes that cut characters are masked with it.
        """
        if self._latin is None:
            self._latin = Masker()
            mask = self.mask.encode().decode("latin-1")
            self._latin._take(tuple(data.decode("latin-1") for data in self._bytes), mask)
        return self._latin

    def spans(self, text: str) -> list[Span]:
        """Where secrets stand, in order; those that overlap are one."""
        found: list[Span] = []
        for literal in self._literals:
            at = text.find(literal)
            while at >= 0:
                found.append((at, at + len(literal)))
                at = text.find(literal, at + 1)
        return merged(found) if len(found) > 1 else found

    def text(self, text: str) -> str:
        """The text with masks; the same object where there is nothing to mask."""
        spans = self.spans(text)
        if not spans:
            return text
        parts, at = list[str](), 0
        for start, stop in spans:
            parts += (text[at:start], self.mask)
            at = stop
        return "".join((*parts, text[at:]))

    def wrapped(self, text: str) -> str:
        """As `text`; also finds a secret that a program wrapped into lines, as `base64` does. For whole texts only."""
        text = self.text(text)
        flat = text.replace("\n", "") if self.longest and "\n" in text else text
        if flat is text or not (spans := self.spans(flat)):
            return text
        ends = [match.start() - number for number, match in enumerate(re.finditer("\n", text))]
        parts, at = list[str](), 0
        for start, stop in spans:
            begin = start + bisect_right(ends, start)
            parts += (text[at:begin], self.mask)
            at = stop + bisect_right(ends, stop - 1)
        return "".join((*parts, text[at:]))

    def data(self, data: bytes) -> bytes:
        """Bytes with masks, UTF-8 or not."""
        return self.latin.text(data.decode("latin-1")).encode("latin-1") if self.found(data) else data

    def found(self, data: bytes) -> bool:
        """Whether encoded bytes that are about to leave hold a secret. One search a spelling, nothing is copied."""
        return any(literal in data for literal in self._bytes)

    def value(self, value: T) -> T:
        """A value with every text and every bytes in it masked; the same object where there is nothing to mask.

        Opaque state is never altered: with a secret in it, it is dropped.
        """
        return cast("T", self._value(value)) if self.longest else value

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case bytes():
                return self.data(value)
            case Opaque():
                return value if self.text(value.json) is value.json else None
            case Struct():
                fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
                changed = {name: new for name, old in fields if (new := self._value(old)) is not old}
                return replace(value, **changed) if changed else value
            case tuple() | list():
                items = cast("tuple[Any, ...]", value)
                new = [self._value(item) for item in items]
                return items if all(a is b for a, b in zip(new, items, strict=True)) else type(items)(new)
            case dict():
                members = cast("dict[Any, Any]", value)
                pairs = {self._value(key): self._value(member) for key, member in members.items()}
                same = all(a is b for a, b in zip(pairs.values(), members.values(), strict=False))
                return members if same and pairs.keys() == members.keys() else pairs
            case _:
                return value

    def hold(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret."""
        size = len(text)
        for match in self._heads.finditer(text, max(0, size - self.longest + 1)):
            suffix = text[match.start() :]
            if any(literal.startswith(suffix) for literal in self._literals if len(literal) > len(suffix)):
                return len(suffix)
        return next((size for size in (2, 1) if text[-size:] in self._short and len(text) >= size), 0)


def _size(secret: str) -> int:
    return len(secret.encode("utf-8", "surrogatepass"))


def merged(spans: list[Span]) -> list[Span]:
    """Spans in order, those that overlap made one."""
    result: list[Span] = []
    for start, stop in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return result


class StreamMasker:
    """Masks text that arrives in pieces: `feed` returns what is safe to show, `end` the rest.

    `take` and `rest` do the same for several blocks that stand one after another: a secret that begins in one and ends
    in the next is found too, and its mask stands in the first. The result is that of Masker.text on the whole.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held: list[Piece] = []
        self._covered = 0  # characters at the beginning of what is held whose mask was shown already

    def feed(self, text: str) -> str:
        return "".join(shown for _, shown in self.take(0, text))

    def end(self) -> str:
        return "".join(shown for _, shown in self.rest())

    def take(self, block: int, text: str) -> list[Piece]:
        """More text of a block. What may begin a secret stays back until it is clear."""
        if not self._masker.longest:
            return [(block, text)]
        return self._pass([*self._held, (block, text)], last=False)

    def rest(self) -> list[Piece]:
        """What was held back, when nothing more comes."""
        return self._pass(self._held, last=True)

    def _pass(self, pieces: list[Piece], *, last: bool) -> list[Piece]:
        raw = "".join(text for _, text in pieces)
        spans = self._masker.spans(raw)
        if self._covered:
            spans = merged([(0, self._covered), *spans])
        stop = len(raw) if last else len(raw) - self._masker.hold(raw)
        begun = [span for span in spans if span[0] < stop]
        out = self._shown(pieces, begun, stop)
        covering = begun[-1] if begun else spans[0] if self._covered else (0, 0)
        self._covered = max(covering[1] - stop, 0)
        self._held = _clipped(pieces, stop, len(raw))
        return out

    def _shown(self, pieces: list[Piece], spans: list[tuple[int, int]], stop: int) -> list[Piece]:
        out: list[Piece] = []
        at = 0
        for number, (start, end) in enumerate(spans):
            out += _clipped(pieces, at, start)
            if number or not self._covered:
                out += [(block, self._masker.mask) for block, _ in _clipped(pieces, start, start + 1)]
            at = end
        return [*out, *_clipped(pieces, at, stop)]


def _clipped(pieces: list[Piece], start: int, stop: int) -> list[Piece]:
    """What of the pieces lies between two positions of them all."""
    out: list[Piece] = []
    at = 0
    for block, text in pieces:
        if part := text[max(0, start - at) : max(0, stop - at)]:
            out.append((block, part))
        at += len(text)
    return out
