"""The panel at the side: tasks, what runs beside the conversation, and files that changed. Hidden, it costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

from textual.app import ComposeResult
from textual.widget import Widget

from agenyx.ui.chat.talk import Talk
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import Glyphs
from agenyx.ui.tui.aside_rows import Job, side_lines
from agenyx.ui.tui.sheet import Sheet, app_of

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation

WIDE = 120  # columns of the screen from which on it may show itself
_WIDTH = 36


class Beside(Protocol):
    """What is asked of the loop."""

    talk: Talk | None


class SidePanel(Widget):
    """`update` takes up what changed. `by_itself`: it shows where there is room, until a key hides it."""

    ALLOW_SELECT = False
    DEFAULT_CSS = f"""
    SidePanel {{
        display: none; width: {_WIDTH}; height: 1fr; border-left: solid $border-blurred; padding: 0 0 0 1;
    }}
    """

    def __init__(
        self,
        scene: Callable[[], Scene | None] = lambda: None,
        glyphs: Glyphs | None = None,
        *,
        by_itself: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._scene, self._glyphs, self._by_itself = scene, glyphs or Glyphs(), by_itself
        self._wanted: bool | None = None  # what a key said
        self._told: object = None
        self.sheet = Sheet()
        self.sheet.can_focus = False

    def compose(self) -> ComposeResult:
        yield self.sheet

    def toggle(self) -> None:
        """The key: show or hide it, whatever the room."""
        self._wanted = not self.display
        self._fit()

    def update(self, beside: Beside) -> None:
        self._fit()
        if not self.display:
            return
        scene = self._scene()
        tasks, jobs = known(beside.talk)
        children = dict(scene.pulse.children) if scene is not None else {}
        files = dict(scene.files) if scene is not None else {}
        told = (tasks, jobs, children, files)
        if told == self._told:
            return
        self._told = told
        self.sheet.show(lambda width: side_lines(tasks, jobs, children, files, width, self._glyphs), keep=True)

    def _fit(self) -> None:
        columns = app_of(self).size.width
        wanted = self._wanted if self._wanted is not None else self._by_itself and columns >= WIDE
        show = wanted and columns >= _WIDTH + 24
        if show != self.display:
            self.display = show
            self._told = None


def known(talk: Talk | None) -> tuple[list[tuple[str, str]], list[Job]]:
    """The tasks of the session as (standing, subject), and what runs in the background."""
    parts = getattr(cast("Conversation | None", talk), "parts", None)
    if parts is None:
        return [], []
    tasks = parts.source.session.state.tasks.values()
    shown = [(task.status, task.active_form or task.subject) for task in tasks if task.status != "deleted"]
    return shown, [Job(job.id, job.running, job.status, job.command) for job in parts.jobs.known()]
