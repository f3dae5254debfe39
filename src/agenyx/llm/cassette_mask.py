"""Keeps credentials out of recorded bytes, also where JSON or an address writes them differently. No I/O.

Masks by value, so that what is recorded still can be played. What no mask can cover is found by `spelled`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from agenyx.core import json
from agenyx.core.redact import Masker, StreamMasker

TELLING = 8  # characters of a secret's beginning that are as good as the secret


class ByteMasker:
    """Masks texts and the pieces of a byte stream; `secrets` shorter than Masker's limit are no secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._text = Masker(tuple(secrets))
        # Bytes are masked as Latin-1 text, in which every byte is a character and comes back as it was.
        self._bytes = self._text.latin

    def text(self, text: str) -> str:
        return self._text.text(text)

    def pieces(self, pieces: Sequence[bytes]) -> list[bytes]:
        """As many pieces, masked also across their borders; what may belong to a secret moves to a later piece."""
        stream = StreamMasker(self._bytes)
        masked = [stream.feed(piece.decode("latin-1")) for piece in pieces]
        rest = stream.end()
        if masked:
            masked[-1] += self._bytes.mask if len(rest) >= TELLING else rest
        return [piece.encode("latin-1") for piece in masked]

    def spelled(self, body: bytes) -> bool:
        """Whether the strings of a response, put together as a reader does, hold a secret that its bytes do not show.

        A model may say a secret in fragments, one an event; escapes may hide it. `body` has been masked.
        """
        if not self._text.longest:
            return False
        said: dict[tuple[str | int, ...], list[str]] = {}
        for document in _documents(body):
            for path, text in _strings(document, ()):
                said.setdefault(path, []).append(text)
        return any(self.text(whole) != whole for whole in ("".join(parts) for parts in said.values()))


def _documents(body: bytes) -> Iterator[Any]:
    """The JSON documents in a response: the data of its events, or all of it."""
    lines = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
    for line in lines or [body]:
        try:
            yield json.decode(line)
        except json.JsonError:
            continue


def _strings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for key, member in cast("dict[str, Any]", value).items():
                yield from _strings(member, (*path, key))
        case list():
            for index, item in enumerate(cast("list[Any]", value)):
                yield from _strings(item, (*path, index))
        case _:
            pass
