"""Hits of a search as rows: the path once, then the lines below it. Pure."""

from __future__ import annotations

import re

from agenyx.ui.spans import Line
from agenyx.ui.tui.transcript.rows import hard

_HIT = re.compile(r"(?P<path>[^\s:][^:\n]{0,400}?)(?P<mark>[:-])(?P<line>\d{1,9})(?P=mark)(?P<text>.*)")
_SHARE = 0.6  # of the lines that have to look like hits


def drawn(lines: list[str], width: int, wanted: str = "") -> list[Line] | None:
    """Rows for lines such as `src/x.py:12:def main`; None where the text is something else.

    `wanted` is the pattern; where it can be found as it stands it is marked in the lines.
    """
    found = [_HIT.fullmatch(line) for line in lines]
    body = [line for line in lines if line.strip() and line != "--" and not line.startswith("[")]
    if not body or sum(hit is not None for hit in found) < _SHARE * len(body):
        return None
    rows: list[Line] = []
    path = ""
    for line, hit in zip(lines, found, strict=True):
        if hit is None:
            rows += hard((("dim", line),), width)
            continue
        if hit["path"] != path:
            path = hit["path"]
            rows += hard((("link", path),), width)
        text = _marked(hit["text"], wanted) if hit["mark"] == ":" else (("dim", hit["text"]),)
        rows += hard((("number", f"{hit['line']:>6} "), *text), width)
    return rows


def _marked(text: str, wanted: str) -> Line:
    at = text.find(wanted) if wanted else -1
    if at < 0:
        return (("", text),)
    return (("", text[:at]), ("bold warn", wanted), ("", text[at + len(wanted) :]))
