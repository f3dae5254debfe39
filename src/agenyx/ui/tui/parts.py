"""The widgets of the full screen, made once, and how they take up what changed."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.ui.chat.loop import Chat
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import ASCII, Glyphs
from agenyx.ui.tui.asking.panel import AskPanel
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.preferences import Preferences
from agenyx.ui.tui.prompt.box import PromptBox
from agenyx.ui.tui.prompt.sources import Sources
from agenyx.ui.tui.side import SidePanel
from agenyx.ui.tui.status import StatusLine
from agenyx.ui.tui.transcript.view import TranscriptView


class Parts:
    """`scene` and `chat` are what is shown."""

    def __init__(
        self,
        scene: Scene,
        chat: Chat,
        sources: Sources,
        glyphs: Glyphs,
        keymap: Keymap,
        env: Mapping[str, str],
        wanted: Preferences,
    ) -> None:
        self.scene, self.chat, self.glyphs = scene, chat, glyphs
        self.transcript = TranscriptView(scene, glyphs, keymap)
        self.prompt = PromptBox(sources, keymap)
        self.asks = AskPanel(keymap, glyphs=glyphs, env=env, notify=wanted.notify)
        self.status = StatusLine(lambda: scene.pulse, glyphs, stop=keymap.shown("cancel"))
        self.side = SidePanel(lambda: scene, glyphs, by_itself=wanted.by_itself)

    @property
    def plain_signs(self) -> bool:
        return self.glyphs == ASCII

    def refresh(self) -> None:
        """Take up what changed; what did not costs next to nothing."""
        self.transcript.refresh_scene()
        self.prompt.refresh_queue()
        self.status.update(self.chat)
        self.side.update(self.chat)
