"""The inside of a Markdown line: emphasis, code, links. Pure; the text was made safe for a terminal before."""

from __future__ import annotations

import re

from agenyx.ui.spans import Line, Span

LONGEST = 4_000  # characters of a line that is parsed; the time grows with its square
_DEEPEST = 4

_MARK = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>[^\[\]]{0,500})\]\((?P<url>[^()\s]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)(?:\s+\"[^\"]{0,200}\")?\)"
    r"|<(?P<auto>https?://[^<>\s]{1,2000})>"
    r"|(?<!\w)(?P<sign>\*\*\*|\*\*|__|~~|\*|_)(?=\S)(?P<body>.+?)(?<=\S)(?P=sign)(?![\w*])"
)
_STYLES = {"***": "bold italic", "**": "bold", "__": "bold", "~~": "strike", "*": "italic", "_": "italic"}


def inline(text: str, style: str = "") -> Line:
    """The spans of one line. An address is always shown, also where it has a label."""
    if len(text) > LONGEST:
        return ((style, text),)
    found: list[Span] = []
    _parse(text, style, found, 0)
    return tuple(span for span in found if span[1])


def _parse(text: str, style: str, found: list[Span], depth: int) -> None:
    at = 0
    for mark in _MARK.finditer(text):
        found.append((style, text[at : mark.start()]))
        at = mark.end()
        if mark["escaped"]:
            found.append((style, mark["escaped"]))
        elif mark["code"] is not None:
            found.append((_both(style, "code"), _unpadded(mark["code"])))
        elif mark["url"]:
            _link(mark["label"], mark["url"], style, found)
        elif mark["auto"]:
            found.append((_both(style, "link"), mark["auto"]))
        elif depth < _DEEPEST:
            _parse(mark["body"], _both(style, _STYLES[mark["sign"]]), found, depth + 1)
        else:
            found.append((style, mark[0]))
    found.append((style, text[at:]))


def _link(label: str, url: str, style: str, found: list[Span]) -> None:
    if label and label != url:
        found.append((style, label))
        found.append((_both(style, "dim"), f" ({url})"))
    else:
        found.append((_both(style, "link"), url))


def _unpadded(code: str) -> str:
    """One space on either side is only there to hold a backtick off."""
    padded = len(code) > 2 and code[0] == code[-1] == " " and code.strip()
    return code[1:-1] if padded else code


def _both(style: str, more: str) -> str:
    return f"{style} {more}".strip()
