"""One matcher for every edit: exact text, line ends compared as equal, bytes outside the change untouched.

Pure functions on bytes. Owns where a text occurs and what replacing it gives; knows no file. What an edit inserts is
taken as it is, except that its line ends become those of the place.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import Literal

from msgspec import Struct

from agenyx.core.limits import FILE_BYTES
from agenyx.core.redact import Masker
from agenyx.core.spellings import MASK, MASKS, mask_in
from agenyx.workspace.text import Document, decode, encode, lacks, viewed

NAMED = 10  # line numbers that are listed one by one
_MOST_PLACES = 200_000
_SECRET = 8  # a mask never stands for fewer characters
_MASK = re.compile("|".join(map(re.escape, MASKS)))
MASKED = (
    f"{MASK} stands for a secret that is hidden from you; the change would store the mask in its place. "
    "Change only the text around it."
)


class Edited(Struct, frozen=True):
    """The new content, how many places changed, and the line (from 1) of each."""

    data: bytes
    count: int
    lines: tuple[int, ...]


class Unmatched(Struct, frozen=True):
    """Why nothing was changed: sentences for the model. `lines` are the places when there are several."""

    reason: Literal["missing", "several", "encoding", "binary", "size", "masked", "same"]
    text: str
    lines: tuple[int, ...] = ()


class _Lines:
    """A text with every line end as one \\n, and the way back from its positions to the text's own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = text if "\r" not in text else text.replace("\r\n", "\n").replace("\r", "\n")
        self._pairs: list[int] = []
        self._next = -1
        if len(self.flat) != len(text):
            at = 0
            for piece in text.split("\r\n")[:-1]:
                at += len(piece)
                self._pairs.append(at)
                at += 1

    def back(self, at: int) -> int:
        return at + bisect_left(self._pairs, at)

    def end(self, at: int) -> str:
        """The line end that stands at a position of `flat`."""
        own = self.back(at)
        return "\r\n" if self.text.startswith("\r\n", own) else self.text[own]

    def nearest(self, at: int) -> str:
        """The line end of the line that holds `at`. Positions must ascend: the search goes on where it stopped."""
        if self._next < at and self._next != len(self.flat):
            found = self.flat.find("\n", at)
            self._next = len(self.flat) if found < 0 else found
        if self._next < len(self.flat):
            return self.end(self._next)
        last = self.flat.rfind("\n")
        return "\n" if last < 0 else self.end(last)


def _places(flat: str, old: str, most: int) -> tuple[list[int], bool]:
    """Up to `most` places without overlap, from the left, and whether the first is the only one, overlaps counted."""
    first = flat.find(old)
    if first < 0:
        return [], False
    alone = flat.find(old, first + 1) < 0
    found, at = [first], first + len(old)
    while not alone and len(found) < most and (at := flat.find(old, at)) >= 0:
        found.append(at)
        at += len(old)
    return found, alone


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters at the beginning and at the end are equal, without overlap."""
    most, head = min(len(old), len(new)), 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _splice(lines: _Lines, places: list[int], old: str, new: str) -> list[str]:
    """The pieces of the new text: kept and inserted ones by turns, beginning and ending with a kept one."""
    head, tail = _common(old, new.replace("\r", "\n"))
    parts = new[head : len(new) - tail].split("\n")
    pieces: list[str] = []
    kept = 0
    for place in places:
        start, stop = place + head, place + len(old) - tail
        inserted = parts[0]
        if len(parts) > 1:
            own = [lines.end(at.start() + start) for at in re.finditer("\n", lines.flat[start:stop])]
            own = own or [lines.nearest(stop)]
            inserted += "".join(own[min(at, len(own) - 1)] + part for at, part in enumerate(parts[1:]))
        pieces += (lines.text[kept : lines.back(start)], inserted)
        kept = lines.back(stop)
    return [*pieces, lines.text[kept:]]


def _numbers(document: Document, places: list[int]) -> tuple[int, ...]:
    view = viewed(document.text)
    numbers: list[int] = []
    line, last = 1, 0
    for place in places:
        line += view.count("\n", last, place)
        last = place
        numbers.append(line)
    return tuple(numbers)


def _several(lines: tuple[int, ...]) -> str:
    """`lines` are the first places, perhaps more than are named."""
    more = " and more" if len(lines) > NAMED else ""
    places = ", ".join(map(str, lines[:NAMED]))
    count = f"{len(lines)} times" if 1 < len(lines) <= NAMED else "more than once"
    return (
        f"old_string occurs {count}, at line{'s' if len(lines) > 1 else ''} {places}{more}. "
        "Add lines around it until it occurs once, or set replace_all."
    )


def replace(
    data: bytes, old: str, new: str, every: bool = False, cap: int = FILE_BYTES, masker: Masker | None = None
) -> Edited | Unmatched:
    """Replace the one occurrence of `old`, or with `every` all of them. The result is at most `cap` bytes.

    `masker` is the one that hid secrets from the model: see `masked_line`.
    """
    document = decode(data)
    if document is None:
        return Unmatched("binary", "It is a binary file, which Edit does not change.")
    old, new = old.replace("\r\n", "\n").replace("\r", "\n"), new.replace("\r\n", "\n")
    if not old:
        return Unmatched("missing", "old_string is empty; give the text to replace.")
    if old == new:
        return Unmatched("same", "old_string and new_string are the same; nothing would change.")
    lines = _Lines(document.text)
    places, alone = _places(lines.flat, old, _MOST_PLACES if every else NAMED + 1)
    if not places:
        from agenyx.workspace import diagnose

        return Unmatched("missing", diagnose.missing(viewed(document.text), old))
    numbers = _numbers(document, places)
    if not alone and not every:
        return Unmatched("several", _several(numbers), numbers)
    if len(places) >= _MOST_PLACES:
        return Unmatched(
            "size", f"old_string occurs more than {_MOST_PLACES:,} times; use the shell for such a change."
        )
    if foreign := lacks(new, document.encoding):
        return Unmatched(
            "encoding",
            f"The file is {document.encoding} and cannot hold {foreign!r}; use other characters, or convert it first.",
        )
    if len(document.text) + len(places) * (len(new) - len(old)) > cap:
        return Unmatched("size", f"The file would grow beyond {cap:,} bytes.")
    pieces = _splice(lines, places, old, new)
    if masked_line(document.text, "".join(pieces), masker):
        return Unmatched("masked", MASKED)
    result = document.bom + b"".join(encode(piece, document.encoding) for piece in pieces)
    if len(result) > cap:
        return Unmatched("size", f"The file would grow beyond {cap:,} bytes.")
    return Edited(result, len(places), numbers)


def masked_line(before: str, after: str, masker: Masker | None = None) -> int:
    """The line (from 1) of `after` with a mask where `before` had something that is gone now; 0 if there is none.

    Exact with the `masker` that hid the secrets; without one it is told from the lines that are gone.
    """
    if not _MASK.search(after) or (masker is not None and not _lost(before, after, masker)):
        return 0
    old, new = before.splitlines(), after.splitlines()
    kept, known = set(new), set(old)
    added = [(number, line) for number, line in enumerate(new, 1) if line not in known and _MASK.search(line)]
    if masker is not None:
        return added[0][0] if added else 0
    gone = list(dict.fromkeys(line for line in old if line not in kept))
    for number, line in added:
        fixed, mask = _MASK.split(line), mask_in(line)
        if any(_fits(candidate, fixed) for candidate in gone if mask not in candidate):
            return number
    return 0


def _lost(before: str, after: str, masker: Masker) -> bool:
    """Whether a secret occurs less often than before."""
    had, has = (Counter(text[start:stop] for start, stop in masker.spans(text)) for text in (before, after))
    return bool(had - has)


def _fits(line: str, fixed: list[str]) -> bool:
    """Whether a line begins and ends as one with masks does, or only begins so with more than a sign or two.

    It has room for a secret where the masks stand. What was behind it may have been changed, or lie lines below.
    """
    head, tail = fixed[0], fixed[-1]
    if not line.startswith(head) or len(line) < len(head) + _SECRET:
        return False
    return len(head.strip()) > 2 or (line.endswith(tail) and len(line) >= len(head) + len(tail) + _SECRET)
