"""Turns a web page into Markdown: headings, lists, links, code, tables, quotes. Pure; takes linear time.

What people do not see is left out (scripts, hidden elements), so that a page cannot say to a model what it does not say
to its readers. Characters that cannot be seen stay, for whoever shows the text to mark them. Navigation and the page's
frame are left out too.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html import unescape
from urllib.parse import urljoin

from msgspec import Struct

from agenyx.workspace.html_blocks import Blocks
from agenyx.workspace.html_tokens import End, Start, Text, tokens

_DROPPED_NAMES = (
    "head script style template noscript svg math canvas iframe object embed audio video map select datalist textarea "
    "button dialog nav"
)
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_HEAD_NAMES = "base link meta noscript script style template title"
_BLOCK_NAMES = (
    "address article aside body center dd details dialog div dl dt fieldset figcaption figure footer form header html "
    "main p section summary"
)
_DROPPED, _VOID = frozenset(_DROPPED_NAMES.split()), frozenset(_VOID_NAMES.split())
_HEAD, _BLOCKS = frozenset(_HEAD_NAMES.split()), frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "samp": "`", "tt": "`", "del": "~~"}
# An opening tag ends these open ones, if no element of the third column stands between (HTML standard, 13.1.2.4).
_IMPLIED = {
    "li": (("li",), ("ul", "ol", "menu")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "tr": (("tr",), ("table",)),
    "td": (("td", "th"), ("tr", "table")),
    "th": (("td", "th"), ("tr", "table")),
}
_DEPTH = 400
_MOST = 300_000  # tags and texts that are read
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)-?([\w+#-]{1,20})")
# Controls mean nothing in HTML. So do hints where a line may break, as long as each stands alone: several in a row may
# be a message. All else that cannot be seen stays.
_NOTHING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BESIDE = "[\xad\u200b-\u200f\u2060-\u206f\ufeff]"
_HINT = re.compile(f"(?<!{_BESIDE})[\xad\u200b\u2060\ufeff](?!{_BESIDE})")


class Article(Struct, frozen=True):
    """`cut` says that the page has more tags than were read."""

    title: str
    text: str
    cut: bool = False


def markdown(html: str, base: str) -> Article:
    """The title and the text of a page whose address is `base`."""
    page = _Page(base)
    title: list[str] = []
    in_title = False
    count = 0
    for count, token in enumerate(tokens(html), 1):
        if count > _MOST:
            break
        match token:
            case Start("title"):
                in_title = True
            case Text(text) if in_title:
                title = title or [_clean(text)]
                in_title = False
            case Start("base"):
                page.rebase(token.attributes().get("href", ""))
            case Start():
                page.start(token)
            case End(name):
                in_title = False
                page.end(name)
            case Text(text):
                page.text(text)
    return Article(" ".join("".join(title).split())[:300], page.finish(), count > _MOST)


def _clean(text: str) -> str:
    text = _NOTHING.sub("", unescape(text).replace("\r\n", "\n").replace("\r", "\n"))
    return text if text.isascii() else _HINT.sub("", text)


class _Page:
    """The open elements, and the blocks that were made of those that ended. `base` is what links are relative to."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._open: list[str] = []
        self._count: dict[str, int] = {}  # how many of each are open, so that stray tags cost nothing
        self._hidden = -1  # how deep the element stands that is left out, -1 for none
        self._blocks = Blocks()
        self._links: list[tuple[int, str]] = []

    def rebase(self, href: str) -> None:
        """What links are relative to from now on."""
        with suppress(ValueError):
            self._base = urljoin(self._base, href.strip())

    def text(self, text: str) -> None:
        if self._hidden < 0:
            self._blocks.text(_clean(text))

    def start(self, tag: Start) -> None:
        name = tag.name
        if self._open and self._open[-1] == "head" and name not in _HEAD:
            self._close()
        if name in _IMPLIED:
            self._imply(*_IMPLIED[name])
        elif (name in _BLOCKS or name in _HEADINGS or name in ("ul", "ol", "table", "pre", "blockquote", "hr")) and (
            "p" in self._open[-3:]
        ):
            self._imply(("p",), ("table", "div"))
        if name in _VOID:
            if self._hidden < 0:
                self._void(tag)
            return
        if len(self._open) >= _DEPTH:
            return
        self._open.append(name)
        self._count[name] = self._count.get(name, 0) + 1
        if self._hidden >= 0:
            return
        if name in _DROPPED or _is_hidden(tag):
            self._hidden = len(self._open)
            if name not in _INLINE and name != "span":
                self._blocks.flush()
        else:
            self._begin(tag)

    def end(self, name: str) -> None:
        if not self._count.get(name):
            return
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] == name:
                while len(self._open) > at:
                    self._close()
                return
            if self._open[at] in ("table", "body", "html") and name not in ("table", "body", "html"):
                return  # a stray end tag does not reach out of a table

    def finish(self) -> str:
        while self._open:
            self._close()
        return self._blocks.finish()

    def _imply(self, ends: tuple[str, ...], walls: tuple[str, ...]) -> None:
        if not any(map(self._count.get, ends)):
            return
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] in walls:
                return
            if self._open[at] in ends:
                while len(self._open) > at:
                    self._close()
                return

    def _close(self) -> None:
        name = self._open.pop()
        self._count[name] -= 1
        if self._hidden >= 0:
            if len(self._open) < self._hidden:
                self._hidden = -1
            return
        blocks = self._blocks
        if name == "a":
            if self._links:
                blocks.link(*self._links.pop())
        elif name in _INLINE:
            blocks.mark(_INLINE[name], opens=False)
        elif name in ("ul", "ol", "menu"):
            blocks.end_list()
        elif name == "li":
            blocks.end_item()
        elif name == "pre":
            blocks.end_code()
        elif name == "blockquote":
            blocks.end_quote()
        elif name == "table":
            blocks.end_table()
        elif name in ("td", "th"):
            blocks.end_cell()
        elif name in _HEADINGS:
            blocks.flush("#" * _HEADINGS[name] + " ")
        elif name in _BLOCKS:
            blocks.flush()

    def _begin(self, tag: Start) -> None:
        name, blocks = tag.name, self._blocks
        if name == "a":
            self._links.append((blocks.mark_place(), self._address(tag.attributes().get("href", ""))))
        elif name in _INLINE:
            blocks.mark(_INLINE[name], opens=True)
        elif name in ("ul", "ol", "menu"):
            start = tag.attributes().get("start", "1") if name == "ol" else ""
            blocks.begin_list(int(start) if start.isdecimal() and len(start) < 6 else 1 if name == "ol" else 0)
        elif name == "li":
            blocks.begin_item()
        elif name == "pre":
            found = _LANGUAGE.search(tag.attributes().get("class", ""))
            blocks.begin_code(found[1] if found else "")
        elif name == "blockquote":
            blocks.begin_quote()
        elif name == "table":
            blocks.begin_table()
        elif name == "tr":
            blocks.begin_row()
        elif name in ("td", "th"):
            blocks.begin_cell()
        elif name in _BLOCKS or name in _HEADINGS:
            blocks.flush()
        if name == "code" and (found := _LANGUAGE.search(tag.attributes().get("class", ""))):
            blocks.language(found[1])

    def _void(self, tag: Start) -> None:
        if tag.name == "br":
            self._blocks.line()
        elif tag.name == "hr":
            self._blocks.rule()
        elif tag.name == "img" and not _is_hidden(tag):
            attributes = tag.attributes()
            alt = " ".join(_clean(attributes.get("alt", "")).split())[:300]
            if alt:
                source = self._address(attributes.get("src", ""))
                self._blocks.text(f"![{alt}]({source})" if source else f"[image: {alt}]")

    def _address(self, href: str) -> str:
        """Where a link leads, absolute; "" for scripts, data, places in the page itself and what is no address."""
        href = "".join(href.split())
        if not href or href.startswith("#") or len(href) > 2000:
            return ""
        try:
            whole = urljoin(self._base, href)
        except ValueError:
            return ""
        if not whole.lower().startswith(("http://", "https://", "mailto:")):
            return ""
        return _NOTHING.sub("", whole).replace("(", "%28").replace(")", "%29")


def _is_hidden(tag: Start) -> bool:
    source = tag.source.lower()
    if "hidden" not in source and "none" not in source:
        return False
    attributes = tag.attributes()
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDDEN.search(attributes.get("style", "")) is not None
    )
