"""Which other files a Markdown text takes in: `@path`, outside code. Words only; nothing is read here.

A text that is taken in stands behind the one that names it; the name stays where it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

HOPS = 5  # a file that is taken in may take in others, so many times
MOST = 100  # in one text
_CHARS = 1024  # of one path
_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)")
_TICKS = re.compile("`+")
_IMPORT = re.compile(r"""(?:(?<=\s)|(?<=[(\[>*_"'])|\A)@((?:\\[ ]|[^\s\\`<>|"'])+)""")
_END = ".,;:!?)]}*_"


def named(text: str) -> list[str]:
    """The paths as they are spelled, each once, in order; `\\ ` in one is a blank. People (`@name`) are among them."""
    found: dict[str, None] = {}
    for piece in _without_code(text):
        for match in _IMPORT.finditer(piece):
            path = match[1].replace("\\ ", " ").rstrip(_END)
            if path and len(path) <= _CHARS and any(map(str.isalnum, path)) and "\0" not in path:
                found.setdefault(path)
            if len(found) == MOST:
                return list(found)
    return list(found)


def place(path: str, folder: str, person: str = "") -> str:
    """The absolute path that is meant in a file of a folder, "" for `~` where there is no home directory."""
    if path == "~" or path.startswith("~/"):
        return os.path.normpath(os.path.join(person, path[2:])) if person else ""
    return os.path.normpath(os.path.join(folder, path))


def is_path(path: str) -> bool:
    """Whether a name can only be meant as a file: a missing one is worth a word then."""
    return "/" in path or os.path.splitext(path)[1] in (".md", ".markdown", ".mdc", ".txt", ".rst")


def _without_code(text: str) -> Iterator[str]:
    """The paragraphs of a text without fenced code and code spans."""
    fence, lines = "", list[str]()
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        elif line.strip():
            lines.append(line)
            continue
        yield _without_spans("\n".join(lines))
        lines = []
    yield _without_spans("\n".join(lines))


def _without_spans(text: str) -> str:
    runs = list(_TICKS.finditer(text))
    closing, later = dict[int, int](), dict[int, int]()
    for index in range(len(runs) - 1, -1, -1):
        size = len(runs[index][0])
        if size in later:
            closing[index] = later[size]
        later[size] = index
    parts, at, index = list[str](), 0, 0
    while index < len(runs):
        if (end := closing.get(index)) is not None:
            parts.append(text[at : runs[index].start()])
            at, index = runs[end].end(), end
        index += 1
    return "`".join([*parts, text[at:]])
