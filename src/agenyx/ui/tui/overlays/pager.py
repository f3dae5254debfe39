"""A text over the conversation, to scroll and to search in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, line, plain, wrap
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays.frame import Overlay

Make = Callable[[int], Sequence[Line]]


class Pager(Overlay[None]):
    """What is typed keeps the rows that hold all of its words, with the headings above them."""

    def __init__(self, title: str, make: Make, keymap: Keymap) -> None:
        super().__init__(title, keymap)
        self._rows_of = make

    def begin(self) -> None:
        self._show()

    def typed(self) -> None:
        self._show()

    def act(self, action: str) -> bool:
        match action:
            case "pick-up":
                self.sheet.move(-1)
            case "pick-down":
                self.sheet.move(1)
            case "pick-page-up":
                self.sheet.page(-1)
            case "pick-page-down":
                self.sheet.page(1)
            case "pick":
                self.close()
            case _:
                return False
        return True

    def hints(self) -> Line:
        return self.keymap.hints(("pick-page-down", "on"), ("pick-page-up", "back"), ("cancel", "close"))

    def _show(self) -> None:
        words = self.field.text.lower().split()
        self.sheet.show(lambda width: _kept(self._rows_of(width), words))
        self.fit_rows()


def text_rows(text: str) -> Make:
    """Plain text of the program, wrapped; columns stay under each other where they fit."""

    def rows(width: int) -> list[Line]:
        return [piece for row in safe(text).rstrip("\n").split("\n") for piece in wrap(line(row), width, "    ")]

    return rows


def _kept(rows: Sequence[Line], words: Sequence[str]) -> list[Line]:
    """Rows with all the words; a heading stays where one of the rows below it does."""
    if not words:
        return list(rows)
    kept: list[Line] = []
    heading: Line = ()
    for row in rows:
        if row and row[0][0] == "title":
            heading = row
        elif all(word in plain(row).lower() for word in words):
            kept += [heading] if heading else []
            kept.append(row)
            heading = ()
    return kept or [line("nothing holds these words", "dim")]
