"""The parts of one run of the full screen and how they know each other. Knows no terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App
from textual.driver import Driver

from agenyx.app.settings import Settings
from agenyx.config.home import home_path
from agenyx.core.errors import AgenyxError
from agenyx.proc.spawn import Processes
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.loop import Chat
from agenyx.ui.chat.talk import Talk
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import glyphs_for
from agenyx.ui.themes import chosen
from agenyx.ui.tui.app import FullApp
from agenyx.ui.tui.asking.approver import TuiApprover
from agenyx.ui.tui.board import SceneBoard
from agenyx.ui.tui.control import Control
from agenyx.ui.tui.first_run.flow import ANY, NONE, Flow
from agenyx.ui.tui.first_run.port import Ready
from agenyx.ui.tui.outlet import Outlet
from agenyx.ui.tui.parts import Parts
from agenyx.ui.tui.preferences import preferences
from agenyx.ui.tui.prompt.wired import wired
from agenyx.ui.tui.surface import TuiSurface

if TYPE_CHECKING:
    from agenyx.ui.debug_log import DebugLog

_TURNS = 0.0003  # seconds that loading may hold up a key
DriverOf = Callable[[App[Any]], Driver]


class Wiring:
    """`outlet` and `driver` are None where there is no terminal, as in tests. With `debug` diagnostics go to `log`."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        outlet: Outlet | None = None,
        driver: DriverOf | None = None,
        *,
        debug: bool = False,
    ) -> None:
        self._settings, self._env = settings, env
        self._home, self._workspace = home_path(env), os.path.realpath(settings.cwd)
        self.log: DebugLog | None = None
        if debug:
            from agenyx.ui.debug_log import DebugLog  # most runs do without

            self.log = DebugLog(self._home)
        self.processes = Processes()
        surface, scene = TuiSurface(outlet), Scene()
        glyphs = glyphs_for(sys.stdout.encoding or "ascii")
        self._board = SceneBoard(scene)
        self.chat = Chat(surface, self._board, self._opened, glyphs, self._context)
        self.approver = TuiApprover(self.chat.barrier, env=env)
        said = preferences(self._home)
        keymap = said.keymap()
        for text in keymap.problems:
            scene.complain(text, "F1 shows the keys that hold.")
        parts = Parts(scene, self.chat, wired(self.chat, self._context(self.chat)), glyphs, keymap, env, said)
        self.app = FullApp(parts, keymap, chosen(self._home), colour=not env.get("NO_COLOR"), driver=driver)
        self.app.control = Control(self.app, self.chat, self._login, unsafe=settings.unsafe)
        surface.app = self.app

    async def talk(self, prompt: str = "") -> int:
        """The conversation, once the screen stands; its exit code. Raises what kept it from beginning."""
        await self.app.shown.wait()  # a question may come at once
        self.approver.attach(self.app.parts.asks.present)
        return await self.chat.run(prompt)

    async def _opened(self, session: str) -> Talk:
        """The conversation; where nothing is set up, the person is helped to a model first."""
        if session:
            self._board.opening()
        open_conversation, unconfigured = await asyncio.to_thread(_load)
        while True:
            chosen = replace(self._settings, resume=session, continue_=False, fork=False) if session else self._settings
            emit = self.log.around(self.chat.emit) if self.log else self.chat.emit
            try:
                talk = await open_conversation(chosen, self._env, emit, self.approver, self.chat.barrier)
            except unconfigured:
                if not await self._set_up(NONE):
                    raise
                continue
            if self.log:
                self.log.attach(talk)
            return talk

    async def _set_up(self, title: str) -> bool:
        """The steps to a model. What comes of them holds for the conversations to come; False where nothing does."""
        from agenyx.ui.tui.first_run.screen import FirstRun

        answered: asyncio.Future[Ready | None] = asyncio.get_running_loop().create_future()
        screen = FirstRun(lambda shows: Flow(shows, self._env, self._home, self.processes), title)

        def closed(ready: Ready | None) -> None:
            if not answered.done():
                answered.set_result(ready)

        await self.app.push_screen(screen, closed)
        ready = await answered
        if ready is None:
            return False
        self._settings = replace(self._settings, provider=ready.provider, model=ready.model or self._settings.model)
        self.chat.board.say(ready.told)
        return True

    async def _login(self) -> None:
        """Another key or model. A conversation that has begun stays with what it has: its history was made for that."""
        fresh = not (self.chat.spoken or self.chat.running)
        if fresh:
            self._board.opening()
        if not await self._set_up(ANY) or self.chat.talk is None:
            return
        if fresh:
            await self.chat.replace(await self._opened(""), close=True)
        else:
            self.chat.board.say(
                "This conversation stays with its model. To go on with the other one, leave, and then: "
                f"agenyx --continue --provider {self._settings.provider} --rebind"
            )
        self.chat.drawn()

    def _context(self, chat: Chat) -> Context:
        return Context(chat, self._settings, self._env, self._home, self._workspace, self.processes)


def _load() -> tuple[Any, type[AgenyxError]]:
    """What opens a conversation, loaded on a thread: the screen stands by then, and keys come first."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURNS)
    try:
        from agenyx.app.models import Unconfigured
        from agenyx.app.start import open_conversation
    finally:
        sys.setswitchinterval(usual)
    return open_conversation, Unconfigured
