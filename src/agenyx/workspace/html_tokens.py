"""Cuts HTML into tags and text in time linear in its length, however broken it is. Knows no meaning of any tag.

It follows what browsers do (HTML standard, 13.2.5) as far as that changes the text: unclosed tags, attributes with and
without quotes, comments, raw text. Nothing recurses and nothing is searched for twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_RAW = ("script", "style", "xmp", "iframe", "noembed", "noframes", "textarea", "title")
_TAG_CHARS = 20_000  # of a longer tag the rest is not read
_QUOTED = 8  # how many `>` may stand within quotes of one tag


class Text(Struct, frozen=True):
    """Text with its entities as they stand."""

    text: str


class Start(Struct, frozen=True):
    name: str
    source: str  # the attributes, unread
    closed: bool

    def attributes(self) -> dict[str, str]:
        """Names in lower case; the first of equal ones counts. Entities are read."""
        from html import unescape

        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.source):
            value = next((part for part in match.groups()[1:] if part is not None), "")
            found.setdefault(match[1].lower(), unescape(value))
        return found


class End(Struct, frozen=True):
    name: str


def tokens(html: str) -> Iterator[Text | Start | End]:
    """The pieces in their order. Comments, declarations and processing instructions are left out."""
    at, size = 0, len(html)
    closing = 0  # the first `>` at or behind `at`; never searched for from further back
    while at < size:
        begin = html.find("<", at)
        if begin < 0:
            yield Text(html[at:])
            return
        if begin > at:
            yield Text(html[at:begin])
        if html.startswith("<!--", begin):
            stop = html.find("-->", begin + 4)
            at = size if stop < 0 else stop + 3
            continue
        after = html[begin + 1 : begin + 3]
        ends = after.startswith("/")
        opens = after[int(ends) : int(ends) + 1]
        if not (opens.isascii() and opens.isalpha()) and not (after and after[0] in "!?/"):
            yield Text("<")
            at = begin + 1
            continue
        if closing <= begin:
            closing = html.find(">", begin)
            closing = size if closing < 0 else closing
        if closing == size:  # the document ends within a tag: browsers drop it
            return
        stop = _tag_end(html, begin, closing) if opens.isascii() and opens.isalpha() and not ends else closing
        at = stop + 1
        name = _NAME.match(html, begin + 1 + ends, min(stop, begin + 100))
        if name is None:
            continue
        if ends:
            yield End(name[0].lower())
            continue
        source = html[name.end() : min(stop, name.end() + _TAG_CHARS)]
        start = Start(name[0].lower(), source, source.endswith("/"))
        yield start
        if start.name in _RAW and not start.closed:
            over = re.compile(f"</{start.name}(?=[\\s/>])", re.IGNORECASE).search(html, at)
            where = over.start() if over else size
            if where > at:
                yield Text(html[at:where])
            at = where


def _tag_end(html: str, begin: int, closing: int) -> int:
    """The `>` that ends a tag: the first that does not stand within quotes."""
    stop = closing
    for _ in range(_QUOTED):
        quote = _open_quote(html[begin:stop][:_TAG_CHARS])
        if not quote:
            return stop
        end = html.find(quote, stop, stop + _TAG_CHARS)
        following = html.find(">", end, end + _TAG_CHARS) if end >= 0 else -1
        if following < 0:
            return closing
        stop = following
    return closing


def _open_quote(tag: str) -> str:
    """The quote within which a piece of a tag ends, or ""."""
    at = 0
    while (found := re.compile(r"=\s*([\"'])").search(tag, at)) is not None:
        end = tag.find(found[1], found.end())
        if end < 0:
            return found[1]
        at = end + 1
    return ""
