"""Collects text into Markdown blocks: what stands in a line, under which list mark, in which cell. Knows no HTML."""

from __future__ import annotations

import re

from msgspec import Struct

_SPACES = re.compile(r"[ \t\n\f\xa0\u2000-\u200a\u202f\u3000]+")
_OPENED = re.compile(r"\x02(\*\*|\*|`|~~) ")
_CLOSED = re.compile(r" \x03(\*\*|\*|`|~~)")
_EMPTY = re.compile(r"\x02(\*\*|\*|`|~~)\x03\1")
_CELL = 300  # characters; a table with a longer cell is a layout, not a table
_BREAK = "\x01"  # a line break within a paragraph; controls never come in from outside


class _List(Struct):
    """An open list: the number of its next item (0: not ordered), and whether the mark of an item is still due."""

    number: int
    due: str = ""
    width: int = 2


class _Table(Struct):
    """`rows` of cells; `blocks` of the outside wait until the table ends."""

    rows: list[list[str]]
    outside: list[str]
    prefix: str
    layout: bool = False


class Blocks:
    """Blocks in their order, with the prefix that lists and quotes give them."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._inline: list[str] = []
        self._nest: list[_List | None] = []  # None stands for a quote
        self._code: str | None = None
        self._tables: list[_Table] = []
        self._deeper = 0  # tables within tables

    # --- within a line ---------------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        if text:
            self._inline.append(text.replace(_BREAK, ""))

    def line(self) -> None:
        self._inline.append("\n" if self._code is not None else _BREAK)

    def mark(self, sign: str, opens: bool) -> None:
        """The beginning or the end of something emphasised; empty ones vanish."""
        if self._code is not None:
            return
        if not opens and self._inline and self._inline[-1] == f"\x02{sign}":
            self._inline.pop()
            return
        self._inline.append(f"{chr(2) if opens else chr(3)}{sign}")

    def mark_place(self) -> int:
        """The place where a link begins."""
        return len(self._inline)

    def link(self, place: int, address: str) -> None:
        """Make what was collected since `place` a link."""
        if self._code is not None or not address or place > len(self._inline):
            return
        words = _inline(self._inline[place:]).replace(_BREAK, " ").strip()
        if not words:
            return
        before = " " if self._inline[place][:1].isspace() else ""
        behind = " " if self._inline[-1][-1:].isspace() else ""
        shown = words if words == address else f"[{words}]({address})"
        self._inline[place:] = [f"{before}{shown}{behind}"]

    # --- blocks ----------------------------------------------------------------------------------------------------

    def flush(self, head: str = "") -> None:
        """End a paragraph, or with `head` a heading."""
        if self._code is not None:
            return
        text, self._inline = _inline(self._inline), []
        lines = [line.strip() for line in text.split(_BREAK)]
        text = "\n".join(lines).strip("\n")
        if head:
            text = text.replace("\n", " ")
        if text:
            self._put(head + text)

    def rule(self) -> None:
        self.flush()
        self._put("---")

    def begin_code(self, language: str) -> None:
        self.flush()
        self._code = language

    def language(self, name: str) -> None:
        if self._code == "":
            self._code = name

    def end_code(self) -> None:
        if self._code is None:
            return
        language, self._code = self._code, None
        text = "".join(self._inline).removeprefix("\n").rstrip()
        self._inline = []
        if text.strip():
            longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
            fence = "`" * (longest + 1)
            if self._tables:
                self._tables[-1].layout = True
            self._put(f"{fence}{language}\n{text}\n{fence}")

    def begin_quote(self) -> None:
        self.flush()
        self._nest.append(None)

    def end_quote(self) -> None:
        self.flush()
        self._leave(None)

    def begin_list(self, number: int) -> None:
        self.flush()
        self._nest.append(_List(number))

    def end_list(self) -> None:
        self.flush()
        self._leave(_List)

    def begin_item(self) -> None:
        self.flush()
        if not self._nest or self._nest[-1] is None:
            self._nest.append(_List(0))
        innermost = self._nest[-1]
        assert innermost is not None
        innermost.due = f"{innermost.number}. " if innermost.number else "- "
        innermost.width = len(innermost.due)
        innermost.number += 1 if innermost.number else 0

    def end_item(self) -> None:
        self.flush()
        if self._nest and self._nest[-1] is not None:
            self._nest[-1].due = ""

    # --- tables ----------------------------------------------------------------------------------------------------

    def begin_table(self) -> None:
        self.flush()
        if self._tables:
            self._deeper += 1
            self._tables[-1].layout = True
            return
        self._tables.append(_Table([], self._done, ""))
        self._done = []

    def begin_row(self) -> None:
        if self._tables and not self._deeper:
            self.flush()
            self._tables[-1].rows.append([])

    def begin_cell(self) -> None:
        self.flush()

    def end_cell(self) -> None:
        self.flush()
        if self._tables and not self._deeper:
            table = self._tables[-1]
            if not table.rows:
                table.rows.append([])
            table.rows[-1].append("\n\n".join(self._done))
            self._done = []

    def end_table(self) -> None:
        self.flush()
        if self._deeper:
            self._deeper -= 1
            return
        if not self._tables:
            return
        table = self._tables.pop()
        rest, self._done = self._done, table.outside
        for block in rest:  # a caption, and what stands between the cells
            self._put(block)
        rows = [row for row in table.rows if any(cell.strip() for cell in row)]
        cells = [cell for row in rows for cell in row]
        width = max((len(row) for row in rows), default=0)
        if width < 2 or len(rows) < 2 or table.layout or any(len(cell) > _CELL for cell in cells):
            for cell in filter(str.strip, cells):
                self._put(cell)
            return
        lines = [[_cell(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
        lines.insert(1, ["---"] * width)
        self._put("\n".join(f"| {' | '.join(line)} |" for line in lines))

    def finish(self) -> str:
        self.flush()
        while self._tables:
            self.end_table()
        return "\n\n".join(self._done).replace("\n\n\x04", "\n").replace("\x04", "")

    # ---------------------------------------------------------------------------------------------------------------

    def _leave(self, kind: type[_List] | None) -> None:
        """Leave the innermost list or quote, and what was left open within it."""
        for at in range(len(self._nest) - 1, -1, -1):
            if (self._nest[at] is None) == (kind is None):
                del self._nest[at:]
                return

    def _put(self, block: str) -> None:
        """Add a block under the marks of its lists and quotes. Items of a list stand close together."""
        first, rest, close = "", "", ""
        for level in self._nest:
            if level is None:
                first, rest = first + "> ", rest + "> "
                continue
            if level.due:
                first, level.due, close = first + level.due, "", "\x04"
            else:
                first += " " * level.width
            rest += " " * level.width
        lines = block.split("\n")
        body = [first + lines[0], *(rest + line if line else rest.rstrip() for line in lines[1:])]
        inside = bool(self._done) and bool(self._nest) and close
        self._done.append(("\x04" if inside and _is_item(self._done[-1]) else "") + "\n".join(body))


def _is_item(block: str) -> bool:
    return re.match(r"\x04?(?:> |  )*\s*(?:- |\d+\. )", block) is not None


def _cell(text: str) -> str:
    return _SPACES.sub(" ", text.replace("\x04", "")).strip().replace("|", "\\|")


def _inline(parts: list[str]) -> str:
    """The text of a line: white space as one space, emphasis closed where its words end."""
    out: list[str] = []
    depth: list[str] = []
    for part in parts:
        if part[:1] == "\x02":
            depth.append(part[1:])
            out.append(part)
        elif part[:1] == "\x03":
            if part[1:] in depth:
                depth.remove(part[1:])
                out.append(part)
        else:
            out.append(part)
    out += [f"\x03{sign}" for sign in reversed(depth)]
    text = _SPACES.sub(" ", "".join(out))
    # Signs of emphasis stand close to their words: spaces move out of them, and what is empty goes.
    text = _OPENED.sub(" \x02\\1", text)
    text = _CLOSED.sub("\x03\\1 ", text)
    text = _EMPTY.sub("", text)
    text = re.sub(r"[\x02\x03]", "", text)
    return _SPACES.sub(" ", text)
