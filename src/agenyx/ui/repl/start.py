"""Starts the REPL: chooses the surface, wires conversation, approver and signals, and leaves the terminal as found."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.agent.ports import Approver
from agenyx.app.commands.spec import Command
from agenyx.app.commands.table import BUILTIN
from agenyx.app.start import open_conversation
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core.json import scrub
from agenyx.core.tty import safe
from agenyx.proc.spawn import Processes
from agenyx.ui.approve import HeadlessApprover
from agenyx.ui.ask import TerminalApprover
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.files import Files
from agenyx.ui.chat.loop import Chat
from agenyx.ui.chat.talk import Talk
from agenyx.ui.flags import Options
from agenyx.ui.once import settings
from agenyx.ui.repl.aside import AsideApprover
from agenyx.ui.repl.complete import Suggestions
from agenyx.ui.repl.editor import Editor, can_edit
from agenyx.ui.repl.guard import Guard
from agenyx.ui.repl.history import FileHistory
from agenyx.ui.repl.plain import Plain
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.signals import Signals
from agenyx.ui.spans import glyphs_for
from agenyx.ui.streams import Writer, standard
from agenyx.ui.terminal import find_terminal
from agenyx.ui.themes import chosen

if TYPE_CHECKING:
    from agenyx.ui.debug_log import DebugLog


def main(options: Options, env: Mapping[str, str], signals: Signals) -> int:
    """Talk until the person leaves; returns the exit code. Raises AgenyxError when nothing could be opened."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # The line editor watches the size of the window with a handler of the loop. This one keeps the loop's wake-up
    # descriptor in place before and after: without it a signal that comes as the loop goes to sleep would wait.
    loop.add_signal_handler(signal.SIGWINCH, lambda: None)
    session = _Session(options, env, signals)
    return loop.run_until_complete(session.run(loop))


class _Session:
    """The parts of one run of the REPL."""

    def __init__(self, options: Options, env: Mapping[str, str], signals: Signals) -> None:
        self._options, self._env, self._signals = options, env, signals
        self._settings = settings(options)
        self._home, self._workspace = home_path(env), os.path.realpath(self._settings.cwd)
        self._processes, self._writer = Processes(), Writer()
        self._writer.seal(masker(env))
        self._out, _ = standard(self._writer)
        self._terminal = find_terminal()  # before any mode is changed
        self._approver: Approver = HeadlessApprover()
        self._talking: Chat | None = None
        self._log: DebugLog | None = None
        if options.debug:
            from agenyx.ui.debug_log import DebugLog  # most talks do without

            self._log = DebugLog(self._home)

    async def run(self, loop: asyncio.AbstractEventLoop) -> int:
        """Talk, then tell how to go on."""
        if can_edit(self._env.get("TERM", "")):
            code, repl = await self._edited(loop)
        else:
            code, repl = await self._lines(loop)
        await self._processes.close()
        self._farewell(repl)
        await self._writer.drain()
        return 128 + self._signals.received if self._signals.received else code

    async def _lines(self, loop: asyncio.AbstractEventLoop) -> tuple[int, Chat]:
        surface = Plain(self._writer, self._out, echo=os.isatty(0))
        repl = self._repl(surface)
        if self._terminal is not None:
            self._approver = TerminalApprover(self._terminal, self._signals, repl.barrier, env=self._env)
        talking = loop.create_task(repl.run(scrub(self._options.prompt)))
        guard = Guard(loop, self._signals, repl)
        guard.watch(talking)
        await asyncio.wait((talking, guard.fault), return_when=asyncio.FIRST_COMPLETED)
        return await guard.over(talking), repl

    async def _edited(self, loop: asyncio.AbstractEventLoop) -> tuple[int, Chat]:
        """The editor has the terminal until the talk is over. Raises what went wrong in either."""
        editor = self._editor()
        repl = self._repl(editor)
        guard = Guard(loop, self._signals, repl)
        if self._terminal is not None:
            asks = TerminalApprover(self._terminal, self._signals, repl.barrier, env=self._env)
            self._approver = AsideApprover(asks, repl.barrier, guard.aside(editor, self._terminal))

        async def talk() -> int:
            await editor.begun.wait()  # a question may come at once, and only a running editor can step aside
            return await repl.run(scrub(self._options.prompt))

        with guard.terminal(editor, self._terminal):
            talking, editing = loop.create_task(talk()), loop.create_task(editor.run())
            guard.watch(talking)
            try:
                await asyncio.wait((talking, editing, guard.fault), return_when=asyncio.FIRST_COMPLETED)
                code = await guard.over(talking)
            finally:
                editor.exit()
                await asyncio.wait((editing,))
        error = editing.exception()
        if error is not None and not isinstance(error, EOFError | OSError):  # those: the terminal is gone
            raise error
        return code, repl

    def _editor(self) -> Editor:
        files = Files(self._processes, self._env, self._workspace)
        return Editor(
            FileHistory(self._home, masker(self._env)),
            Suggestions(self._commands, files),
            self._env.get("TERM", ""),
            theme=chosen(self._home),
            colour=not self._env.get("NO_COLOR"),
        )

    def _repl(self, surface: Editor | Plain) -> Chat:
        def context(repl: Chat) -> Context:
            return Context(repl, self._settings, self._env, self._home, self._workspace, self._processes)

        async def opened(session: str) -> Talk:
            chosen = replace(self._settings, resume=session, continue_=False, fork=False) if session else self._settings
            emit = self._log.around(repl.emit) if self._log else repl.emit
            talk = await open_conversation(chosen, self._env, emit, self._approver, repl.barrier)
            if self._log:
                self._log.attach(talk)
            return talk

        glyphs = glyphs_for(sys.stdout.encoding or "ascii")
        surface.transcript = transcript = Transcript(lambda: surface.columns, glyphs, time.monotonic)
        surface.driver = self._talking = repl = Chat(surface, transcript, opened, glyphs, context)
        return repl

    def _commands(self) -> tuple[Command, ...]:
        return self._talking.commands() if self._talking is not None else BUILTIN

    def _farewell(self, repl: Chat) -> None:
        if self._log:
            self._out.write(safe(f"Diagnostics: {self._log.path}\n"))
        if repl.spoken and repl.last is not None and repl.last.persistent:
            self._out.write(safe(f"To go on with this session: agenyx --resume {repl.last.session_id}\n"))
