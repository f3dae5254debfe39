"""Why a text was not found: the nearest place, its line number, and the first difference in words.

Pure functions on text with \\n line ends. Owns wording and heuristics; changes nothing and never picks a place itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from agenyx.core.spellings import mask_in
from agenyx.workspace.text import printable

_SEARCHED = 4 << 20  # characters; above it only exactness is explained, so that an answer comes at once
_SHOWN = 160
_VOTES = 50
_PLAIN = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-",
        "\u00a0": " ", "\u202f": " ", "\u2026": "...",
    }
)  # fmt: skip
_NUMBERED = re.compile(r"^ *\d+(?:→|\t|: ?)", re.MULTILINE)
_BLANKS = re.compile("[ \t\f\v\u00a0\u2000-\u200a\u202f\u3000]+")
_WORD = re.compile(r"\w+")


def _trailing(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _blanks(text: str) -> str:
    return "\n".join(_BLANKS.sub(" ", line).strip() for line in text.split("\n"))


def _plain(text: str) -> str:
    return text.translate(_PLAIN)


def _double(text: str) -> str:
    return text.replace("'", '"')


def _composed(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _loose(text: str) -> str:
    return _blanks(_double(_composed(_plain(text)))).casefold()


# Each fold keeps the number of lines, so that a place in the folded text tells the line.
_FOLDS: tuple[tuple[Callable[[str], str], str], ...] = (
    (_trailing, "white space at the end of a line"),
    (_blanks, "white space: tabs, spaces or indentation"),
    (_plain, "quotes, dashes or special spaces: one side has typographic ones, the other plain ones"),
    (_double, "quotes: one side has ' where the other has \""),
    (_composed, "how accented characters are composed (Unicode NFC or NFD)"),
    (str.casefold, "upper and lower case"),
    (_loose, "white space, quotes or case"),
)


def missing(view: str, old: str) -> str:
    """Sentences about why `old` does not occur in `view`."""
    head = "old_string was not found"
    if mask := mask_in(old):
        return f"{head}: {mask} stands for a secret that is hidden from you. Choose text that does not hold it."
    if not view:
        return f"{head}: the file is empty."
    if len(view) > _SEARCHED or len(old) > _SEARCHED:
        return f"{head}. Find the place with Grep and copy the text exactly, white space included."
    stripped = _NUMBERED.sub("", old)
    if stripped != old and stripped.strip() and stripped in view:
        return f"{head}: it begins with line numbers, which are not part of the file. Leave them out."
    if old.endswith("\n") and view.endswith(old[:-1]):
        return f"{head}: the file does not end with a line end, and old_string does. Leave the last line end out."
    for fold, difference in _FOLDS:
        folded = fold(view)
        wanted = fold(old)
        at = folded.find(wanted) if wanted.strip() else -1
        if at >= 0:
            return _differs(head, view.split("\n"), old, folded.count("\n", 0, at), difference)
    return _nearest(head, view.split("\n"), old.split("\n"))


def _quoted(line: str) -> str:
    shown = printable(line[:_SHOWN]) + ("…" if len(line) > _SHOWN else "")
    return "«" + shown.replace("\t", "\\t") + "»"


def _pair(number: int, theirs: str, ours: str) -> str:
    """The two lines, cut to where they begin to differ, and the white space of either named."""
    first = next(
        (at for at, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours))
    )
    cut = max(0, first - _SHOWN // 2) if max(len(theirs), len(ours)) > _SHOWN else 0
    return f"\nline {number} of the file: {_quoted(theirs[cut:])}\nold_string:{' ' * 12}{_quoted(ours[cut:])}"


def _differs(head: str, lines: list[str], old: str, start: int, difference: str) -> str:
    wanted = old.split("\n")
    pair = ""
    for at, ours in enumerate(wanted):
        theirs = lines[start + at] if start + at < len(lines) else ""
        edge = at in (0, len(wanted) - 1)
        if ours != theirs and not (edge and ours and ours in theirs):
            pair = _pair(start + at + 1, theirs, ours)
            break
    return f"{head}; line {start + 1} differs only in {difference}.{pair}\nCopy the text exactly as the file has it."


def _nearest(head: str, lines: list[str], wanted: list[str]) -> str:
    """The place where most lines of `wanted` stand, and the first that does not; else the most similar lines."""
    index: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if key := line.strip():
            places = index.setdefault(key, [])
            if len(places) < _VOTES:
                places.append(number)
    votes: Counter[int] = Counter()
    for at, line in enumerate(wanted):
        votes.update(number - at for number in index.get(line.strip(), ()))
    if votes:
        start, _ = max(votes.items(), key=lambda item: (item[1], -item[0]))
        for at, ours in enumerate(wanted):
            theirs = lines[start + at] if 0 <= start + at < len(lines) else ""
            if ours.strip() != theirs.strip():
                where = f"{head}; the nearest place begins at line {max(start, 0) + 1}, and this line differs:"
                return f"{where}{_pair(start + at + 1, theirs, ours)}\nRead the place again and copy the text exactly."
    return _similar(head, index, max(wanted, key=len).strip())


def _similar(head: str, index: dict[str, list[int]], line: str) -> str:
    import difflib

    words = set(_WORD.findall(line.casefold()))
    scored = ((len(words.intersection(_WORD.findall(key[:1000].casefold()))), key) for key in index)
    best = sorted((item for item in scored if item[0]), key=lambda item: -item[0])[:200]
    near = difflib.get_close_matches(line[:1000], [key[:1000] for _, key in best], n=3, cutoff=0.5)
    found = sorted((places[0], key) for key, places in index.items() if key[:1000] in near)[:3]
    if not found:
        return f"{head}, nor anything like it. Check that this is the right file, and read the place again."
    shown = "".join(f"\n{number + 1}: {_quoted(key)}" for number, key in found)
    return f"{head}. The most similar lines are:{shown}\nRead the place again and copy the text exactly."
