r"""Output of programs as styled lines: their colours stay, what else would act on a terminal is dropped. Pure.

`\r`, `\b` and erasing to the end of the line are done, as progress bars are made of them. Style names are
`fg=NUMBER`, `bg=NUMBER` (0 to 255), `fg=#rrggbb`, `bg=#rrggbb` and `at=bold` or another attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, Span

_TAB = 4
_TOKEN = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]{0,200})[ -/]{0,20}(?P<final>[@-~])"  # control sequences
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # strings: titles, clipboard
    r"|\x1b[ -/]{0,20}[0-~]?"
    r"|(?P<moves>[\r\b\n])"
)
_BEEPS = re.compile("[\x00\x07\x0b\x0c\x0e\x0f]")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline", 53: ""}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


def lines(text: str, longest: int = 4_000) -> list[Line]:
    """The lines of an output, without a last empty one. Of each at most `longest` characters are kept."""
    found: list[Line] = []
    pen, row = _Pen(), _Row(longest)
    for kind, value in _tokens(text.replace("\r\n", "\n")):
        match kind:
            case "text":
                row.write(value, pen.style)
            case "m":
                pen.sgr(value)
            case "K":
                row.erase(value)
            case "\n":
                found.append(row.line())
                row = _Row(longest)
            case "\r" | "\b":
                row.move(kind)
            case _:
                pass
    if last := row.line():
        found.append(last)
    return found


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    for token in _TOKEN.finditer(text):
        if at < token.start():
            yield "text", text[at : token.start()]
        at = token.end()
        if token["final"]:
            yield token["final"], token["parameters"]
        elif token["moves"]:
            yield token["moves"], ""
    if at < len(text):
        yield "text", text[at:]


class _Row:
    """One line while it is written. It is a list of spans until something is written over."""

    def __init__(self, longest: int) -> None:
        self._spans: list[Span] = []
        self._cells: list[Span] | None = None
        self._at = self._size = 0
        self._longest = longest

    def write(self, text: str, style: str) -> None:
        text = safe(_BEEPS.sub("", text)).expandtabs(_TAB)[: max(self._longest - self._at, 0)]
        if not text:
            return
        if self._cells is None or self._at == len(self._cells):
            self._append(text, style)
        else:
            for char in text:
                self._cells[self._at : self._at + 1] = [(style, char)]
                self._at += 1

    def _append(self, text: str, style: str) -> None:
        if self._cells is not None:
            self._cells += [(style, char) for char in text]
        else:
            self._spans.append((style, text))
        self._at += len(text)

    def move(self, how: str) -> None:
        if self._cells is None:
            self._cells = [(style, char) for style, text in self._spans for char in text]
        self._at = 0 if how == "\r" else max(self._at - 1, 0)

    def erase(self, how: str) -> None:
        if how in ("", "0") and self._cells is not None:
            del self._cells[self._at :]
        elif how == "2":
            self._spans, self._cells, self._at = [], [], 0

    def line(self) -> Line:
        joined: list[Span] = []
        for style, text in self._spans if self._cells is None else self._cells:
            if joined and joined[-1][0] == style:
                joined[-1] = (style, joined[-1][1] + text)
            else:
                joined.append((style, text))
        return tuple(joined)


class _Pen:
    """The colours that are set. `style` is their name."""

    def __init__(self) -> None:
        self._colours: dict[str, str] = {}
        self._attributes: dict[str, None] = {}
        self.style = ""

    def sgr(self, parameters: str) -> None:
        """Select Graphic Rendition (ECMA-48 8.3.117), with the colours of xterm; what is not known is passed over."""
        codes = [[_number(part) for part in group.split(":")] for group in (parameters or "0").split(";")]
        at = 0
        while at < len(codes):
            code, more = codes[at][0], codes[at][1:]
            at += 1
            if code in (38, 48):
                if not more:
                    size = 2 if at < len(codes) and codes[at][0] == 5 else 4
                    more = [group[0] for group in codes[at : at + size]]
                    at += size
                self._colour("fg" if code == 38 else "bg", more)
            else:
                self._simple(code)
        self.style = " ".join([*self._colours.values(), *(f"at={name}" for name in self._attributes if name)])

    def _simple(self, code: int) -> None:
        if code == 0:
            self._colours.clear()
            self._attributes.clear()
        elif code in _ON:
            self._attributes[_ON[code]] = None
        elif code in _OFF:
            for name in _OFF[code]:
                self._attributes.pop(name, None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            self._colours["fg"] = f"fg={code - 30 if code < 90 else code - 82}"
        elif 40 <= code <= 47 or 100 <= code <= 107:
            self._colours["bg"] = f"bg={code - 40 if code < 100 else code - 92}"
        elif code in (39, 49):
            self._colours.pop("fg" if code == 39 else "bg", None)

    def _colour(self, place: str, values: list[int]) -> None:
        match values:
            case [5, number, *_] if 0 <= number <= 255:
                self._colours[place] = f"{place}={number}"
            case [2, *rest] if len(rest) >= 3 and all(0 <= value <= 255 for value in rest[-3:]):
                red, green, blue = rest[-3:]
                self._colours[place] = f"{place}=#{red:02x}{green:02x}{blue:02x}"
            case _:
                pass


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0 if not text else -1
