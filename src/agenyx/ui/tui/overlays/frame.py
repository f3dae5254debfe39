"""What all overlays have in common: a box over the conversation, a title, rows to scroll, a field, a line of hints."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, line, wrap
from agenyx.ui.tui.asking.panel import AskPanel
from agenyx.ui.tui.field import Field
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.sheet import Foot, Sheet, app_of

WAITING = "a question waits: Esc goes to it"


class Overlay(ModalScreen[ScreenResultType]):
    """Esc and Ctrl+C close it with None. A question that comes meanwhile is told, and waits."""

    DEFAULT_CSS = """
    Overlay { align: center middle; }
    Overlay > Vertical {
        width: 94%; max-width: 110; height: auto; border: round $primary; background: $surface; padding: 0 1;
    }
    Overlay #preview { display: none; border-top: solid $border-blurred; }
    """
    filters = True  # whether there is a field to type into

    def __init__(self, title: str, keymap: Keymap) -> None:
        super().__init__()
        self.title_text, self.keymap = title, keymap
        self.note: Line = ()
        self.asked = False  # a question waits
        self._tallest = 0
        self.head, self.foot = Foot(self._head_rows), Foot(self._foot_rows)
        self.sheet, self.preview, self.field = Sheet(), Sheet(id="preview"), Field(self.typed, label="> ")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.head
            if self.filters:
                yield self.field
            yield self.sheet
            yield self.preview
            yield self.foot

    def on_mount(self) -> None:
        if self.filters:
            self.field.focus()
        else:
            self.sheet.can_focus = True
            self.sheet.focus()
        panels = app_of(self).screen_stack[0].query(AskPanel)
        self.asked = any(panel.ask is not None for panel in panels)
        self.begin()

    def on_unmount(self) -> None:
        for panel in app_of(self).screen_stack[0].query(AskPanel):
            panel.hush()

    def on_ask_panel_opened(self) -> None:
        self.asked = True
        self.foot.refresh(layout=True)
        self.fit_rows()

    def on_resize(self) -> None:
        self._tallest = 0
        self.fit_rows()

    def fit_rows(self) -> None:
        """Give the rows what they need, as far as the screen has room; what is filtered away leaves its room blank."""
        columns, lines = app_of(self).size
        width = self.sheet.size.width or max(min(columns * 94 // 100, 110) - 4, 10)
        other = 2 + len(self._head_rows(width)) + len(self._foot_rows(width)) + self.filters
        room = max(lines - 2 - other, 1)
        self._tallest = max(self._tallest, min(len(self.sheet.rows_at(width)), room))
        if self.preview.display:
            below = min(max(room // 2, 3), room) if self.sheet.display else room
            self.preview.styles.height = below
            room = max(room - below, 1)
        self.sheet.styles.height = max(min(self._tallest, room), 1)

    # --- what an overlay fills in ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """It is shown."""

    def typed(self) -> None:
        """The text of the field is another."""

    def act(self, action: str) -> bool:
        """An action of the keymap, among those for lists. Whether it meant something."""
        return False

    def hints(self) -> Line:
        return ()

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c"):
            self.close()
        elif (action := self.keymap.action("picker", event.key)) and self.act(action):
            pass
        elif event.key in ("pageup", "pagedown"):
            self.sheet.page(-1 if event.key == "pageup" else 1)

    def close(self) -> None:
        self.dismiss(None)

    def say(self, text: str, style: str = "dim") -> None:
        """A sentence under the title; foreign text is made safe."""
        self.note = ((style, safe(" ".join(text.split()))),) if text else ()
        self.head.refresh(layout=True)
        self.fit_rows()

    # --- rows --------------------------------------------------------------------------------------------------------

    def _head_rows(self, width: int) -> list[Line]:
        made = wrap(line(safe(self.title_text), "title"), max(width, 10))
        return [*made, *(wrap(self.note, max(width, 10)) if self.note else [])]

    def _foot_rows(self, width: int) -> list[Line]:
        rows = wrap(line(WAITING, "warn"), max(width, 10)) if self.asked else []
        hints = self.hints()
        return [*rows, *(wrap(hints, max(width, 10)) if hints else [])]
