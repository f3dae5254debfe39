"""The question that is open, at the foot of the screen: what it is about, the answers, and a field where one is typed.

What is shown and which key means what is told by the stages; which keys count, by the ears. Clicks never answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.signal import Signal
from textual.widget import Widget

from agenyx.core.approval import Decision
from agenyx.ui.spans import Glyphs, Line, wrap
from agenyx.ui.tui.asking.alert import alert
from agenyx.ui.tui.asking.approver import Ask
from agenyx.ui.tui.asking.ears import DEAF, QUIET, Ears
from agenyx.ui.tui.asking.inquiring import Asking
from agenyx.ui.tui.asking.stages import Choosing, Stage
from agenyx.ui.tui.field import Field
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.sheet import Foot, Sheet, app_of

_ABOVE = 2  # rows of the screen that are left to the conversation, and one for the status
_PASSED = ("ctrl+c", "ctrl+z", "ctrl+l")  # always the program's
_WORDS = {"enter": "\r", "escape": "\x1b", "ctrl+d": "\x04"}


class AskPanel(Widget, can_focus=True):
    """Hidden while nothing is asked. Give `present` to `TuiApprover.attach`. `notify` is the setting of that name."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    AskPanel { display: none; height: auto; layout: vertical; border-top: heavy $warning; background: $surface; }
    AskPanel Field { display: none; max-height: 10; }
    """

    class Opened(Message):
        """A question is shown: the prompt may step aside."""

    class Closed(Message):
        """Nothing is asked any more."""

    def __init__(
        self,
        keymap: Keymap,
        *,
        glyphs: Glyphs | None = None,
        env: Mapping[str, str] = os.environ,
        notify: str = "auto",
        deaf: float = DEAF,
        quiet: float = QUIET,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._keymap, self._env, self._notify = keymap, env, notify
        self._glyphs = glyphs or Glyphs()
        self._ears = Ears(clock, deaf, quiet)
        self.ask: Ask | None = None
        self.waiting = 0
        self._stage: Stage | None = None
        self._note = ""
        self._screen_size = Size(0, 0)
        self.sheet = Sheet(drawn=self._drawn, moved=self._moved)
        self.field = Field()
        self._foot = Foot(self._foot_lines)

    def compose(self) -> ComposeResult:
        yield self.sheet
        yield self.field
        yield self._foot

    def on_mount(self) -> None:
        self.watch(app_of(self), "app_focus", self._focus_changed, init=False)
        laid_out = cast("Signal[object]", self.screen.screen_layout_refresh_signal)  # pyright: ignore[reportUnknownMemberType]
        laid_out.subscribe(self, self._laid_out)

    # --- the approver and the app ------------------------------------------------------------------------------------

    def present(self, ask: Ask | None, waiting: int) -> None:
        """Show this question, or none; `waiting` more are open."""
        self.waiting = waiting
        if ask is self.ask:
            self._foot.refresh(layout=True)
            return
        before, self.ask = self.ask, ask
        if ask is None:
            self._ears.cover()
            self._stage = None
            self.display = False
            self.post_message(self.Closed())
            return
        inquiry = ask.approval.effects.inquiry
        if inquiry is None:
            first: Stage = Choosing(ask.answering, ask.place)
        else:
            first = Asking(ask.answering, inquiry, self._glyphs)
        self.display = True
        self._enter(first)
        if before is None:
            self.post_message(self.Opened())
        if (front := app_of(self).screen) is not self.screen:
            front.post_message(self.Opened())  # what stands over it says so
        if not app_of(self).app_focus:
            self._ring(f"{ask.approval.call.name} waits for your answer")

    def hush(self) -> None:
        """The terminal was away, or shows us anew: keys count once the question has stood there for a moment."""
        if self.ask is not None:
            self._ears.cover()
            self.sheet.drawn = False
            self.sheet.refresh()

    # --- stages ------------------------------------------------------------------------------------------------------

    def _enter(self, stage: Stage, *, keep: bool = False) -> None:
        """Show a stage. `keep`: it is the one of before, with something else marked."""
        self._stage, self._note = stage, ""
        if not keep:
            self._ears.cover()
        self.sheet.show(stage.rows, keep=keep)
        entry = stage.entry
        self.field.display = entry is not None
        if entry is not None:
            self.field.set(entry.text, label=entry.label, lines=entry.lines)
            self.field.focus()
        else:
            self.focus()
        self._foot.refresh(layout=True)
        self._arrange()

    def _go(self, outcome: Stage | Decision | None) -> None:
        if outcome is None or self.ask is None:
            return
        if isinstance(outcome, Decision):
            self._ears.cover()
            self.ask.settle(outcome)
            return
        now = self._stage
        same = isinstance(outcome, Asking) and isinstance(now, Asking) and outcome.question is now.question
        self._enter(outcome, keep=same)
        if same:
            self.sheet.end()  # where the choices stand

    def _arrange(self) -> None:
        """Give the sheet what it needs, as far as the screen has room."""
        if self._stage is None or not self.is_mounted:
            return
        width = self.sheet.size.width or max(app_of(self).size.width, 2)
        other = 1 + len(self._foot_lines(width))
        if self._stage.entry is not None:
            other += min(len(self.field.rows(width)), 10)
        room = max(app_of(self).size.height - _ABOVE - 1 - other, 1)
        self.sheet.styles.height = max(min(len(self.sheet.rows_at(width)), room), 1)

    def _drawn(self) -> None:
        self._ears.open()

    def _moved(self) -> None:
        self._foot.refresh(layout=True)

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self._stage is None or event.key in _PASSED:
            return
        key = event.key
        if self._scrolled(key):
            event.stop()
            return
        if key not in _WORDS and event.character is None and self._keymap.action("global", key):
            return
        event.stop()
        event.prevent_default()
        if self._stage.entry is not None:
            self._typed(key)
            return
        word = _WORDS.get(key) or (event.character.lower() if event.is_printable and event.character else key)
        self._hear(word)

    def _scrolled(self, key: str) -> bool:
        stage, sheet = self._stage, self.sheet
        editing = stage is not None and stage.entry is not None
        if isinstance(stage, Asking) and key in ("up", "down", "space") and sheet.seen:
            return False  # they mark a choice
        match self._keymap.action("ask", key):
            case "ask-up" if not editing:
                sheet.move(-1)
            case "ask-down" if not editing:
                sheet.move(1)
            case "ask-page-up":
                sheet.page(-1)
            case "ask-page-down" if not editing or key != "space":
                sheet.page(1)
            case "ask-top" if not editing:
                sheet.move_to(0)
            case "ask-bottom" if not editing:
                sheet.end()
            case _:
                return False
        return True

    def _typed(self, key: str) -> None:
        """A key that the field does not take."""
        entry = self._stage.entry if self._stage is not None else None
        many = entry is not None and entry.lines and "\n" in self.field.text
        if key == "enter" and many:
            self.field.newline()
        elif key == "enter" or self._keymap.action("ask", key) == "ask-accept":
            self._hear("accept")
        elif key in ("escape", "ctrl+d"):
            self._hear("\x1b")

    def _hear(self, word: str) -> None:
        if self._ears.heard(word):
            self.set_timer(max(self._ears.quiet, 1e-6), self._alone)

    def _alone(self) -> None:
        word, stage = self._ears.alone(), self._stage
        if not word or stage is None:
            return
        if stage.entry is not None:
            self._go(stage.submit(self.field.text) if word == "accept" else stage.back())
        elif word in ("y", "s", "a", "e") and not self.sheet.seen and isinstance(stage, Choosing):
            self._note = "read to the end first"
            self._foot.refresh(layout=True)
        else:
            self._go(stage.press(word, self.sheet.seen))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()  # pasted text is no answer; the field takes its own

    def on_click(self, event: events.Click) -> None:
        event.stop()  # it only brings the keys here

    def on_resize(self) -> None:
        self._arrange()

    def _laid_out(self, _: object) -> None:
        """The window may have another size, even where the question has not."""
        if (size := app_of(self).size) != self._screen_size:
            self._screen_size = size
            self._arrange()
            self.hush()

    def _focus_changed(self, focused: bool) -> None:
        if focused:
            self.hush()

    # --- the foot ----------------------------------------------------------------------------------------------------

    def _foot_lines(self, width: int) -> list[Line]:
        stage = self._stage
        if stage is None:
            return []
        room = max(width - 1, 10)
        made = stage.foot(room, self.sheet.seen)
        return [*made, *wrap(self._hint(), room)] if self._hint() else made

    def _hint(self) -> Line:
        stage, spans = self._stage, list[tuple[str, str]]()
        more = f"{self.waiting} more wait{'s' if self.waiting == 1 else ''}" if self.waiting else ""
        if stage is not None and stage.entry is not None:
            spans += self._field_hint(stage.entry.lines)
        elif not self.sheet.seen and self.sheet.below:
            keys = " or ".join(filter(None, (self._keymap.shown("ask-page-down"), self._keymap.shown("ask-bottom"))))
            count = self.sheet.below
            lead = f"{self._note}: " if self._note else ""
            spans.append(("warn", f"{lead}{count} more row{'' if count == 1 else 's'} below ({keys})"))
        elif self.sheet.below or self.sheet.top:
            spans.append(("dim", f"{self._keymap.shown('ask-page-up')} {self._keymap.shown('ask-page-down')} scroll"))
        if more:
            spans.append(("warn", f"{'   ' if spans else ''}{more}"))
        return tuple(spans)

    def _field_hint(self, lines: bool) -> list[tuple[str, str]]:
        accept = self._keymap.shown("ask-accept") if lines and "\n" in self.field.text else "Enter"
        what = "allows what stands here" if lines else "sends it"
        new = f"   {self._keymap.shown('newline')} new line" if lines else ""
        return [("key", accept), ("", f" {what}{new}   "), ("key", "Esc"), ("", " goes back")]

    # --- elsewhere ---------------------------------------------------------------------------------------------------

    def _ring(self, text: str) -> None:
        sequence = alert(text, self._env, self._notify)
        driver = app_of(self)._driver  # pyright: ignore[reportPrivateUsage] - the toolkit has no other way to write
        if sequence and driver is not None:
            driver.write(sequence)
