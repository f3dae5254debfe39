"""Images and documents on the wire: which of them go out, as Base64, and the words for those that do not.

What goes out depends on the entries alone: they are counted in their order, so an entry that was sent once is sent the
same way again. Knows what servers take, not how their messages look.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Sequence

from msgspec import Struct

from agenyx.core.messages import Ability, Media, UserBlock

Load = Callable[[Media], bytes | None]


class Limits(Struct, frozen=True):
    """Of one server: the bytes of one image, the bytes of all in a request, and how many; before they are Base64."""

    item: int
    total: int
    count: int = 100
    documents: bool = True


LIMITS: dict[str, Limits] = {
    # AgentX §3.4 and §10. Chat completions have no agreed form for documents.
    "chat": Limits(20 << 20, 40 << 20, documents=False),
    "responses": Limits(20 << 20, 40 << 20),
    # 5 MiB an image and 32 MiB a request, counted in Base64; half of a request stays for text.
    "anthropic": Limits(3_900_000, 16 << 20),
}


class Sent(Struct, frozen=True):
    """One that goes out; `data` is Base64."""

    media: Media
    data: str

    @property
    def url(self) -> str:
        return f"data:{self.media.mime};base64,{self.data}"

    @property
    def filename(self) -> str:
        return self.media.name or "document.pdf"


Piece = str | Sent


class Budget:
    """What one request has taken in so far."""

    def __init__(self, wire: str, sees: Sequence[Ability]) -> None:
        self._limits, self._sees = LIMITS[wire], sees
        self._count = self._bytes = 0

    def pieces(self, blocks: Sequence[UserBlock], load: Load) -> list[Piece]:
        """The blocks in their order: texts that are not blank, and what goes out."""
        found: list[Piece] = []
        for block in blocks:
            if isinstance(block, Media):
                found.append(self._piece(block, load))
            elif block.text.strip():
                found.append(block.text)
        return found

    def _piece(self, media: Media, load: Load) -> Piece:
        limits = self._limits
        seen = "images" in self._sees if media.kind == "image" else limits.documents and "documents" in self._sees
        if not seen:
            return words(media)
        most = limits.item if media.kind == "image" else limits.total
        if media.size > most:
            return words(media, f"this server takes at most {most:,} bytes; make a smaller copy, look at that")
        if self._count >= limits.count or self._bytes + media.size > limits.total:
            full = f"a request holds at most {limits.count} of them, of {limits.total:,} bytes together"
            return words(media, f"{full}; the user can make room with /compact")
        data = load(media)
        if data is None or len(data) != media.size:
            return words(media, "its bytes are gone")
        self._count, self._bytes = self._count + 1, self._bytes + media.size
        return Sent(media, binascii.b2a_base64(data, newline=False).decode())


def words(media: Media, why: str = "") -> str:
    """What stands in the place of one that is not sent."""
    reason = f": {why}" if why else ""
    return f"[{_named(media)}, {media.mime}, {media.size} bytes: attached, but it cannot be shown to you{reason}]"


def beside(pieces: Sequence[Piece]) -> str:
    """The pieces as text alone, where what is to be seen follows in a message of its own."""
    return "\n\n".join(piece if isinstance(piece, str) else f"[{_named(piece.media)}: see below]" for piece in pieces)


def following(pieces: Sequence[Piece], call: str) -> list[Piece]:
    """What is to be seen of the result of a call, each behind a line that says so."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Sent):
            found += [f"[{_named(piece.media)} of the result of {call}]", piece]
    return found


def _named(media: Media) -> str:
    return f"{media.kind} {media.name!r}" if media.name else media.kind
