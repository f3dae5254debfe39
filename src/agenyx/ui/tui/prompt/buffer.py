"""A text under edit: caret, selection, what was cut, and the way back. Pure; keys and drawing are others'."""

from __future__ import annotations

from agenyx.ui.tui.prompt import graphemes as g

STEPS = 300  # that can be undone
_KEPT = 8 << 20  # characters in all of them
_KILLS = 20


class Buffer:
    """`at` is the caret, an index into `text`; `mark` the other end of the selection, None where there is none.

    `goal` is the column that moving up and down aims for, None after any other move.
    """

    def __init__(self, text: str = "") -> None:
        self.text: str = text
        self.at: int = len(text)
        self.mark: int | None = None
        self.goal: int | None = None
        self.version = 0  # grows with each change of the text
        self._undo: list[tuple[str, int]] = []
        self._redo: list[tuple[str, int]] = []
        self._typing = -1  # where a run of typed characters ends, which is undone as one
        self._kills: list[str] = []
        self._kill_at = -1  # the caret after a cut: a cut there joins it
        self._yanked: tuple[int, int, int] | None = None  # begin, end, and which of the cuts

    # --- changes -----------------------------------------------------------------------------------------------------

    def replace(self, begin: int, end: int, new: str, at: int | None = None) -> None:
        """Put `new` in the place of a part; one step to undo. The caret stands behind it, or at `at`."""
        self._save()
        self.text = self.text[:begin] + new + self.text[end:]
        self.at = begin + len(new) if at is None else at
        self._changed()

    def insert(self, new: str) -> None:
        """Type text at the caret, in the place of a selection. Letter after letter is one step to undo."""
        if self.mark is not None:
            begin, end = self.selection
            self.replace(begin, end, new)
            return
        run = self.at == self._typing and len(new) <= 8 and not new.isspace()
        if not run:
            self._save()
        self.text = self.text[: self.at] + new + self.text[self.at :]
        self.at += len(new)
        self._changed()
        self._typing = self.at

    def set(self, text: str, at: int | None = None) -> None:
        """Another text, which can be undone."""
        if text != self.text:
            self.replace(0, len(self.text), text)
        self.move(len(text) if at is None else at)

    def reset(self) -> None:
        """Empty, with nothing to undo: the text went somewhere else."""
        self.text, self.at = "", 0
        self._undo.clear()
        self._redo.clear()
        self._changed()

    def erase(self, begin: int, end: int) -> bool:
        if begin >= end:
            return False
        self.replace(begin, end, "")
        return True

    def erase_back(self) -> bool:
        """Backspace: the selection, or the character before the caret."""
        if self.mark is not None:
            return self.erase(*self.selection)
        return self.erase(g.before(self.text, self.at), self.at)

    def erase_forward(self) -> bool:
        if self.mark is not None:
            return self.erase(*self.selection)
        return self.erase(self.at, g.after(self.text, self.at))

    # --- cutting and putting back ------------------------------------------------------------------------------------

    @property
    def kill(self) -> str:
        """What was cut last."""
        return self._kills[-1] if self._kills else ""

    def cut(self, begin: int, end: int, *, back: bool = False) -> bool:
        """Take a part out and keep it; cuts that follow each other are one. `back`: it stood before the caret."""
        if begin >= end:
            return False
        part, joins = self.text[begin:end], self._kill_at == self.at and bool(self._kills)
        self.replace(begin, end, "")
        if joins:
            self._kills[-1] = part + self._kills[-1] if back else self._kills[-1] + part
        else:
            self.keep(part)
        self._kill_at = self.at
        return True

    def keep(self, text: str) -> None:
        """Keep text as if it had been cut."""
        self._kills = [*self._kills[1 - _KILLS :], text]

    def cut_to_end(self) -> bool:
        end = g.line_end(self.text, self.at)
        return self.cut(self.at, min(end + 1, len(self.text)) if end == self.at else end)

    def cut_to_start(self) -> bool:
        begin = g.line_start(self.text, self.at)
        return self.cut(max(begin - 1, 0) if begin == self.at else begin, self.at, back=True)

    def yank(self) -> bool:
        if not self._kills:
            return False
        begin, last = self.at, len(self._kills) - 1
        self.replace(begin, begin, self._kills[last])
        self._yanked = (begin, self.at, last)
        return True

    def yank_before(self) -> bool:
        """After a yank: put back what was cut before it instead."""
        if self._yanked is None:
            return False
        begin, end, index = self._yanked
        index = (index - 1) % len(self._kills)
        self.replace(begin, end, self._kills[index])
        self._yanked = (begin, self.at, index)
        return True

    # --- caret and selection -----------------------------------------------------------------------------------------

    def move(self, at: int, *, select: bool = False) -> None:
        """Put the caret somewhere. `select` keeps the selection, or begins one, up to there."""
        if select and self.mark is None:
            self.mark = self.at
        elif not select:
            self.mark = None
        self.at = max(0, min(at, len(self.text)))
        self.goal, self._typing, self._kill_at, self._yanked = None, -1, -1, None

    @property
    def selection(self) -> tuple[int, int]:
        """Begin and end of what is selected; both the caret where nothing is."""
        other = self.at if self.mark is None else self.mark
        return min(self.at, other), max(self.at, other)

    @property
    def selected(self) -> str:
        begin, end = self.selection
        return self.text[begin:end]

    # --- the way back ------------------------------------------------------------------------------------------------

    def undo(self) -> bool:
        return self._travel(self._undo, self._redo)

    def redo(self) -> bool:
        return self._travel(self._redo, self._undo)

    def _travel(self, here: list[tuple[str, int]], there: list[tuple[str, int]]) -> bool:
        if not here:
            return False
        there.append((self.text, self.at))
        self.text, self.at = here.pop()
        self._changed()
        return True

    @property
    def depth(self) -> int:
        """How many steps can be undone."""
        return len(self._undo)

    def join(self, depth: int) -> None:
        """Make one step of all that was done since `depth` was what it was."""
        del self._undo[depth + 1 :]
        self._typing = -1

    def held(self) -> str:
        """All text that could come back: the units in it are still in use."""
        return "".join([self.text, *(text for text, _ in (*self._undo, *self._redo)), *self._kills])

    def _save(self) -> None:
        self._undo.append((self.text, self.at))
        self._redo.clear()
        size = sum(len(text) for text, _ in self._undo) if len(self.text) > 10_000 else 0
        while len(self._undo) > STEPS or (size > _KEPT and len(self._undo) > 1):
            size -= len(self._undo.pop(0)[0])

    def _changed(self) -> None:
        self.version += 1
        self.mark = self.goal = self._yanked = None
        self._typing = self._kill_at = -1
