"""The scene as the board of a conversation: where another one goes on, its history is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from agenyx.core.events import AgentEvent
from agenyx.ui.chat.talk import Talk
from agenyx.ui.scene.blocks import Block
from agenyx.ui.scene.history import FIRST, Past, past_of, waiting_of
from agenyx.ui.scene.scene import Scene

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation


class SceneBoard:
    """`opening` is told before a conversation is opened: what is said from then on belongs to it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._opened_at: int | None = 0

    def opening(self) -> None:
        self._opened_at = len(self._scene.blocks)

    def restart(self, talk: Talk) -> None:
        scene, at = self._scene, self._opened_at
        kept = [] if at is None else [scene.blocks[index] for index in range(at, len(scene.blocks))]
        self._opened_at = None
        past, open_ = _past(talk, scene.key)
        newest = past.take(FIRST)
        scene.restart([*newest, *open_, *kept], past.take)

    def apply(self, event: AgentEvent) -> None:
        self._scene.apply(event)

    def typed(self, text: str, *, steer: bool = False) -> None:
        self._scene.typed(text, steer=steer)

    def say(self, text: str, style: str = "") -> None:
        self._scene.say(text, style)

    def complain(self, message: str, fix: str = "") -> None:
        self._scene.complain(message, fix)

    def diff(self, text: str) -> None:
        self._scene.diff(text)


def _past(talk: Talk, key: Callable[[], int]) -> tuple[Past, list[Block]]:
    """What was said on the branch that goes on, and the cards of calls that are not settled."""
    parts = getattr(cast("Conversation", talk), "parts", None)
    if parts is None:  # not one of the app's, as in tests
        return Past((), key), []
    state = parts.source.session.state
    return past_of(state, key), waiting_of(state, key)
