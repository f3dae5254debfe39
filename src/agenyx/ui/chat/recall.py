"""Walking through earlier inputs: what comes before, what after, and nothing that was typed is lost. Pure."""

from __future__ import annotations


class Recall:
    """`entries` are the inputs, the oldest first, each once: where it was used last."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._edited: dict[int, str] = {}  # what became of entries while they were walked through
        self._at: int | None = None  # None: at what is being typed
        self._draft = self._prefix = ""

    def begin(self, newest_first: list[str]) -> None:
        """The inputs of earlier sessions; those of this one stay behind them."""
        self.entries = list(reversed(dict.fromkeys([*reversed(self.entries), *newest_first])))
        self.leave()

    def add(self, text: str) -> None:
        """What was sent now."""
        if text.strip():
            if text in self.entries:
                self.entries.remove(text)
            self.entries.append(text)
        self.leave()

    def leave(self) -> None:
        """The input is a new one."""
        self._at, self._draft, self._prefix = None, "", ""
        self._edited.clear()

    @property
    def walking(self) -> bool:
        return self._at is not None

    def previous(self, text: str, prefix: str = "") -> str | None:
        """The input before `text`, which is kept. None when there is none.

        Where the walk begins, `prefix` is what stood before the caret: only inputs that begin so are met.
        """
        if self._at is None:
            self._draft, self._prefix = text, prefix
        return self._step(text, -1)

    def next(self, text: str) -> str | None:
        """The input after it, at last what was typed before the walk; None when that stands there already."""
        return None if self._at is None else self._step(text, 1)

    def _step(self, text: str, by: int) -> str | None:
        at = len(self.entries) if self._at is None else self._at
        here, at = at, at + by
        while 0 <= at < len(self.entries) and not self._meets(at, text):
            at += by
        if at < 0:
            return None
        if here < len(self.entries) and text != self.entries[here]:
            self._edited[here] = text
        if at >= len(self.entries):
            self._at = None
            return self._draft
        self._at = at
        return self._edited.get(at, self.entries[at])

    def _meets(self, at: int, text: str) -> bool:
        return self.entries[at].startswith(self._prefix) and self._edited.get(at, self.entries[at]) != text
