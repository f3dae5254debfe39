"""One line of text, asked for by the program."""

from __future__ import annotations

from agenyx.ui.spans import Line
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays.frame import Overlay


class Words(Overlay[str]):
    """The text, or None."""

    DEFAULT_CSS = "Words Sheet { display: none; }"

    def __init__(self, title: str, text: str, keymap: Keymap) -> None:
        super().__init__(title, keymap)
        self._text = text

    def begin(self) -> None:
        self.field.set(self._text, label="> ")

    def act(self, action: str) -> bool:
        if action == "pick":
            self.dismiss(self.field.text)
        return action == "pick"

    def hints(self) -> Line:
        return self.keymap.hints(("pick", "keep"), ("cancel", "back"))
