"""Keys of vi, as an option: what a key means in normal and visual mode. Insert mode is the editor's own keys.

A command is a number, an operator, a number again and a motion or text object, as far as each is there. Keys come in
one by one and are held until they make a command, or cannot become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from agenyx.ui.tui.prompt import graphemes as g
from agenyx.ui.tui.prompt import vim_motions as m
from agenyx.ui.tui.prompt.buffer import Buffer

Mode = Literal["insert", "normal", "visual"]
_MOST = 9_999
_COMMAND = re.compile(
    r"(?P<count>[1-9]\d*)?(?:(?P<operator>[dcy])(?P<again>[1-9]\d*)?)?"
    r"(?:(?P<seek>[fFtT])(?P<char>.)|(?P<how>[ia])(?P<thing>.)|r(?P<new>.)|(?P<key>gg|ctrl\+r|[^fFtTgr]))\Z",
    re.DOTALL,
)
_BEGUN = re.compile(r"(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?[iafFtTg]?|[fFtTgr])?\Z")
_VISUAL = re.compile(
    r"(?P<count>[1-9]\d*)?"
    r"(?:(?P<seek>[fFtT])(?P<char>.)|(?P<how>[ia])(?P<thing>.)|(?P<key>gg|[^fFtTgia]))\Z",
    re.DOTALL,
)
_VISUAL_BEGUN = re.compile(r"(?:[1-9]\d*)?[fFtTgia]?\Z")
_OTHER = {"D": "d$", "C": "c$", "Y": "yy", "x": "dl", "X": "dh", "s": "cl", "S": "cc"}
"""Keys that are short for others; a number before them goes along."""


class Vim:
    """`vertical` moves the caret by rows, or through earlier inputs where there are none. `mode` is shown."""

    def __init__(self, buffer: Buffer, vertical: Callable[[int], object]) -> None:
        self._buffer, self._vertical = buffer, vertical
        self.mode: Mode = "insert"
        self.held = ""  # of a command that is not whole
        self._lines = False  # what was cut last were whole lines
        self._last = ""  # the change that `.` does again
        self._typed = ""  # what was typed in insert mode after it
        self._inserting = (0, 0)  # where insert mode began: place, and steps that could be undone
        self._repeating = False
        self._sought = ("", "")

    def reset(self) -> None:
        """The text went away: the next one is typed."""
        self.mode, self.held = "insert", ""
        self._inserting = (0, self._buffer.depth)

    def key(self, key: str) -> bool:
        """Take a key, a character or a name such as `escape`. False where it is for the editor."""
        if key == "escape":
            return self._escape()
        if self.mode == "insert":
            return False
        if len(key) > 1 and key != "ctrl+r":
            self.held = ""
            return False
        self.held += key
        whole, begun = (_COMMAND, _BEGUN) if self.mode == "normal" else (_VISUAL, _VISUAL_BEGUN)
        text = self.held
        if self.mode == "normal" and (short := text.lstrip("0123456789") if text[0] != "0" else text) in _OTHER:
            text = text[: len(text) - len(short)] + _OTHER[short]
        if begun.match(text):
            return True
        self.held = ""
        if found := whole.match(text):
            if self.mode == "normal":
                self._normal(found, text)
            else:
                self._visual(found)
            if self.mode == "normal":
                self._clamp()
        return True

    # --- modes -------------------------------------------------------------------------------------------------------

    def _escape(self) -> bool:
        """False where Esc means something else: nothing is open and nothing begun."""
        if self.mode == "insert":
            begin, depth = self._inserting
            if not self._repeating:
                self._typed = self._buffer.text[begin : self._buffer.at] if begin <= self._buffer.at else ""
            self._buffer.join(depth)
            self.mode = "normal"
            self._buffer.move(m.left(self._buffer.text, self._buffer.at))
            return True
        begun = bool(self.held) or self.mode == "visual"
        self.held = ""
        if self.mode == "visual":
            self.mode = "normal"
            self._buffer.move(self._buffer.at)
            self._clamp()
        return begun

    def _insert(self, at: int, depth: int | None = None) -> None:
        self._buffer.move(at)
        self.mode = "insert"
        self._inserting = (at, self._buffer.depth if depth is None else depth)

    def _clamp(self) -> None:
        """In normal mode the caret stands on a character, where the line has one."""
        buffer = self._buffer
        if buffer.at == g.line_end(buffer.text, buffer.at):
            goal = buffer.goal
            buffer.move(m.last(buffer.text, buffer.at))
            buffer.goal = goal

    # --- normal mode -------------------------------------------------------------------------------------------------

    def _normal(self, found: re.Match[str], text: str) -> None:
        buffer, operator = self._buffer, found["operator"]
        count = min(int(found["count"] or 0), _MOST)
        if found["again"]:
            count = max(count, 1) * min(int(found["again"]), _MOST)
        if operator:
            if operator != "y":
                self._last = text
            self._operate(operator, found, count)
        elif found["how"]:  # `i` and `a` that were followed by another key before they could be a command
            return
        elif found["seek"]:
            if (place := self._seek(found, count)) is not None:
                buffer.move(place)
        elif found["new"] is not None:
            end = buffer.at
            for _ in range(max(count, 1)):
                end = m.right(buffer.text, end)
            if end > buffer.at and found["new"].isprintable():
                self._last = text
                times = len(list(g.graphemes(buffer.text[buffer.at : end])))
                buffer.replace(buffer.at, end, found["new"] * times, buffer.at + max(times - 1, 0))
        elif found["key"] in ("j", "k"):
            for _ in range(min(max(count, 1), 500)):
                self._vertical(1 if found["key"] == "j" else -1)
        elif found["key"] in m.MOTIONS:
            buffer.move(m.MOTIONS[found["key"]][0](buffer.text, buffer.at, count))
        else:
            self._simple(found["key"], count, text)

    def _simple(self, key: str, count: int, text: str) -> None:
        buffer, body, at, depth = self._buffer, self._buffer.text, self._buffer.at, self._buffer.depth
        if key in "iaIAoOpPJ~":
            self._last = text
        match key:
            case "i":
                self._insert(at)
            case "a":
                self._insert(m.right(body, at))
            case "I":
                self._insert(m.first(body, at))
            case "A":
                self._insert(g.line_end(body, at))
            case "o":
                end = g.line_end(body, at)
                buffer.replace(end, end, "\n")
                self._insert(end + 1, depth)
            case "O":
                begin = g.line_start(body, at)
                buffer.replace(begin, begin, "\n")
                self._insert(begin, depth)
            case "p" | "P":
                self._put(key == "p", max(count, 1))
            case "J":
                end = g.line_end(body, at)
                if end < len(body):
                    stop = m.first(body, end + 1)
                    buffer.replace(end, stop, " " if body[stop : stop + 1].strip() else "", end)
            case "~":
                end = at
                for _ in range(max(count, 1)):
                    end = m.right(body, end)
                buffer.replace(at, end, body[at:end].swapcase())
            case "u":
                for _ in range(max(count, 1)):
                    buffer.undo()
            case "ctrl+r":
                for _ in range(max(count, 1)):
                    buffer.redo()
            case "v":
                self.mode = "visual"
                buffer.move(at, select=True)
            case ".":
                self._again()
            case ";" | ",":
                how, char = self._sought
                how = how.swapcase() if key == "," else how
                if how and (place := m.seek(body, at, count, how, char)) is not None:
                    buffer.move(place)
            case _:
                pass

    def _again(self) -> None:
        keys, typed = self._last, self._typed
        if not keys:
            return
        depth, self._repeating = self._buffer.depth, True
        try:
            found = _COMMAND.match(keys)
            if found is not None:
                self._normal(found, keys)
            if self.mode == "insert":
                self._buffer.insert(typed)
                self._escape()
                self._buffer.join(depth)
        finally:
            self._repeating = False

    # --- operators ---------------------------------------------------------------------------------------------------

    def _operate(self, operator: str, found: re.Match[str], count: int) -> None:
        text, at, key = self._buffer.text, self._buffer.at, found["key"]
        if found["how"]:
            span = m.thing(text, at, found["how"], found["thing"])
            if span is not None:
                self._apply(operator, *span)
        elif found["seek"]:
            if (place := self._seek(found, count)) is not None:
                forward = place >= at
                self._apply(operator, at if forward else place, g.after(text, place) if forward else at)
        elif key == operator:
            self._whole(operator, at, m.MOTIONS["j"][0](text, at, count - 1) if count > 1 else at)
        elif key in m.MOTIONS:
            if operator == "c" and key in "wW" and g.kinds(text, at):
                key = "e" if key == "w" else "E"  # as vi does it: the blank behind the word stays
                alone = at + 1 >= len(text) or g.kinds(text, at, key == "E") != g.kinds(text, at + 1, key == "E")
                if alone and count <= 1:
                    self._apply(operator, at, g.after(text, at))
                    return
            move, kind = m.MOTIONS[key]
            to = move(text, at, count)
            if kind == "lines":
                self._whole(operator, at, to)
                return
            begin, end = min(at, to), max(at, to)
            if key in "wW" and "\n" in text[begin:end]:
                end = min(end, max(g.line_end(text, begin), begin))  # a word does not take the line end along
            self._apply(operator, begin, g.after(text, end) if kind == "inclusive" and end < len(text) else end)

    def _whole(self, operator: str, one: int, other: int) -> None:
        """Whole lines, from one place to another."""
        text = self._buffer.text
        begin, end = g.line_start(text, min(one, other)), g.line_end(text, max(one, other))
        if operator == "c":
            self._apply("c", begin, end, text[begin:end] + "\n")
        else:
            stop = end + 1 if end < len(text) else end
            start = begin if end < len(text) or begin == 0 or operator == "y" else begin - 1
            lines = text[begin:end] + "\n"
            self._apply(operator, start, stop, lines)
            if operator == "d":
                self._buffer.move(m.first(self._buffer.text, min(begin, len(self._buffer.text))))
        self._lines = True

    def _apply(self, operator: str, begin: int, end: int, keep: str = "") -> None:
        buffer, depth = self._buffer, self._buffer.depth
        buffer.keep(keep or buffer.text[begin:end])
        self._lines = False
        if operator == "y":
            buffer.move(min(begin, buffer.at))
            return
        if begin < end:
            buffer.replace(begin, end, "")
        if operator == "c":
            self._insert(begin, depth)

    def _put(self, behind: bool, count: int) -> None:
        buffer, text, at, kept = self._buffer, self._buffer.text, self._buffer.at, self._buffer.kill * count
        if not kept:
            return
        if self._lines:
            place = g.line_end(text, at) if behind else g.line_start(text, at)
            buffer.replace(place, place, f"\n{kept.removesuffix(chr(10))}" if behind else kept, place + behind)
        else:
            place = m.right(text, at) if behind else at
            buffer.replace(place, place, kept)
            buffer.move(g.before(buffer.text, place + len(kept)))

    def _seek(self, found: re.Match[str], count: int) -> int | None:
        self._sought = (found["seek"], found["char"])
        return m.seek(self._buffer.text, self._buffer.at, count, *self._sought)

    # --- visual mode -------------------------------------------------------------------------------------------------

    def _visual(self, found: re.Match[str]) -> None:
        buffer, key, count = self._buffer, found["key"], min(int(found["count"] or 0), _MOST)
        if found["seek"]:
            if (place := self._seek(found, count)) is not None:
                buffer.move(place, select=True)
        elif found["how"]:
            if (span := m.thing(buffer.text, buffer.at, found["how"], found["thing"])) is not None:
                buffer.move(span[0])
                buffer.move(g.before(buffer.text, span[1]), select=True)
        elif key in ("v", "V"):
            self._escape()
        elif key in m.MOTIONS:
            buffer.move(m.MOTIONS[key][0](buffer.text, buffer.at, count), select=True)
        elif key in "dxcsyp":
            begin, end = buffer.selection
            end = g.after(buffer.text, end)
            self.mode = "normal"
            if key == "p":
                buffer.replace(begin, end, buffer.kill)
            else:
                buffer.move(begin)
                self._apply({"x": "d", "s": "c"}.get(key, key), begin, end)
