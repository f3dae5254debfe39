"""The conversation at the keyboard: inputs in their order, one turn at a time, commands before the model.

Knows no terminal and no editor; a surface shows the lines and brings the inputs.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress

from agenyx.app.commands import dispatch
from agenyx.app.commands.dispatch import Called
from agenyx.app.commands.found import found
from agenyx.app.commands.grammar import Mistake, Words
from agenyx.app.commands.spec import Command, Reply
from agenyx.app.commands.table import BUILTIN
from agenyx.core.errors import AgenyxError
from agenyx.core.events import AgentEvent, TurnFinished
from agenyx.core.messages import User
from agenyx.ui.chat.begin import begun
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.commands.table import OWN
from agenyx.ui.chat.inputs import Input, run_own, shown
from agenyx.ui.chat.status import status_line
from agenyx.ui.chat.surface import Board, Surface
from agenyx.ui.chat.talk import Opener, Status, Talk
from agenyx.ui.exits import INTERRUPTED, OK, explain
from agenyx.ui.spans import Glyphs

TWICE = 1.0  # seconds within which a second Ctrl+C leaves
PATIENCE = 6.0  # seconds that a cancelled turn has to end
TICK = 1.0  # seconds between two drawings of the time while a turn runs


class Chat:
    """Drives `surface`. `opened` opens the conversation; its events go to `emit`."""

    def __init__(
        self,
        surface: Surface,
        board: Board,
        opened: Opener,
        glyphs: Glyphs,
        context: Callable[[Chat], Context],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._surface, self._open, self._glyphs, self._clock = surface, opened, glyphs, clock
        self.board = board
        self.talk: Talk | None = None
        self._inputs: deque[Input] = deque()
        self.hint = self.status = ""
        self.last: Status | None = None  # the figures when they were read last
        self.spoken = False  # a turn was run
        self._context = context(self)
        self._known: tuple[Command, ...] = ()  # the commands as they were looked up last
        self._task: asyncio.Task[object] | None = None
        self._side: set[asyncio.Task[object]] = set()
        self._wake, self._left = asyncio.Event(), asyncio.Event()
        self._leaving: int | None = None
        self._pressed = clock() - TWICE
        self._stopping = self._turning = False
        self._meant = 0  # inputs that waited when the turn was stopped

    # --- what a surface asks and tells -------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._task is not None

    @property
    def context(self) -> Context:
        """What commands get."""
        return self._context

    @property
    def queued(self) -> tuple[str, ...]:
        """The inputs that wait, the next first."""
        return tuple(one.text for one in self._inputs)

    def withdraw(self, index: int = -1) -> str | None:
        """Take an input that waits out again, to edit or to drop it. None when there is none."""
        if not -len(self._inputs) <= index < len(self._inputs):
            return None
        taken = self._inputs[index]
        del self._inputs[index]
        self.drawn()
        return taken.text

    def submit(self, text: str, images: Sequence[str] = (), *, keyed: bool = True) -> None:
        """Take an input. While a turn runs it waits, but for commands that can be done at once.

        `images` are paths of what the model is to be shown; `keyed` as in Input.
        """
        self.hint = ""
        self._pressed = self._clock() - TWICE  # a Ctrl+C before this input was about something else
        if self.running and (called := self._instant(text)) is not None:
            self._typed(text)
            task = asyncio.get_running_loop().create_task(self._guarded(self._command(called)))
            self._side.add(task)
            task.add_done_callback(self._beside)
        else:
            self._inputs.append(Input(text, tuple(images), keyed))
            self._wake.set()
        self.drawn()

    def steer(self, text: str) -> bool:
        """Hand text to the running turn. False when none runs: then it is not taken."""
        if not self._turning or self.talk is None or not text.strip():
            return False
        self._typed(text, steer=True)
        self.talk.steer(text)
        self.drawn()
        return True

    def interrupt(self) -> None:
        """Ctrl+C with nothing typed: stop the turn; a second one within a second leaves."""
        now, before = self._clock(), self._pressed
        self._pressed = now
        if now - before < TWICE:
            self.leave(INTERRUPTED)
        elif not self.stop():
            self.hint = "Ctrl+C once more leaves, so does Ctrl+D"
            asyncio.get_running_loop().call_later(TWICE, self._forget, self.hint)
        self._surface.changed()

    def stop(self) -> bool:
        """Stop what runs. False when nothing does, or when it is being stopped."""
        if self._task is None or self._stopping:
            return False
        self._stopping, self._meant = True, len(self._inputs)
        self._task.cancel()
        self.hint = "stopping"
        self._surface.changed()
        return True

    @property
    def leaves_next(self) -> bool:
        """Whether an interrupt now would be the second one."""
        return self._clock() - self._pressed < TWICE

    def background(self) -> list[str]:
        """What works in the background and ends with the conversation, a line each."""
        return [] if self.talk is None else self.talk.background()

    def take_back(self, text: str) -> None:
        """Put text back into the input, where there is one to edit in."""
        self._surface.take_back(text)

    def paint(self, theme: str) -> bool:
        """Other colours. False where there are none."""
        return self._surface.paint(theme)

    def leave(self, code: int = OK) -> None:
        """End the conversation at the keyboard: a running turn is stopped first."""
        if self._leaving is None:
            self._leaving = code
        if self._task is not None:
            self._task.cancel()
        self._wake.set()
        self._left.set()

    def emit(self, event: AgentEvent) -> None:
        """An event of the conversation. Never waits, never raises."""
        try:
            self.board.apply(event)
        except Exception as error:  # noqa: BLE001 - the rim around showing: it must not change what happens
            self.board.complain(f"an event could not be shown: {type(error).__name__}")
        self.drawn()

    async def barrier(self) -> None:
        """Return when everything emitted stands on the screen. Raises AgenyxError when the terminal is gone."""
        self.drawn()
        await self._surface.flush()

    def drawn(self) -> None:
        """Have drawn what is new."""
        self._surface.changed()

    # --- the loop ----------------------------------------------------------------------------------------------------

    async def run(self, prompt: str = "") -> int:
        """Until the person leaves. Returns the exit code. Raises AgenyxError when no conversation could be opened."""
        self.hint = "starting"
        self._surface.changed()
        talk = await begun(self._open(""), self._left)
        if talk is None:
            return self._leaving or OK
        self.talk = talk
        try:
            self.hint = ""
            self.moved()
            self._greet()
            if prompt:
                self._inputs.append(Input(prompt, keyed=False))
            while self._leaving is None:
                if self._inputs:
                    await self._handle(self._inputs.popleft())
                else:
                    self._wake.clear()
                    self._surface.ready()
                    await self._wake.wait()
            return self._leaving
        finally:
            for task in tuple(self._side):
                task.cancel()
            self.hint = "closing"
            self._surface.changed()
            await self.talk.close("prompt_input_exit")

    async def _handle(self, given: Input) -> None:
        text = given.text
        if not text.strip():
            if self.talk is not None and self.talk.unfinished:
                await self._run(self.talk.go_on())
            return
        self._typed(text)
        self._known = ()
        self.drawn()
        match self._found(text):
            case _ if given.own:
                await self._alone(run_own(self._context, given.own))
            case Called() as called:
                reply = await self._alone(self._command(called))
                if isinstance(reply, Reply) and reply.prompt is not None and self.talk is not None:
                    await self._say(reply.prompt, given)
            case Mistake(message, fix):
                self.board.complain(message, fix)
            case Words(words) if self.talk is not None:
                await self._say(words, given)
            case _:
                pass
        self.refresh()

    def _typed(self, text: str, *, steer: bool = False) -> None:
        if not self._surface.echoes:
            self.board.typed(text, steer=steer)

    def commands(self) -> tuple[Command, ...]:
        """All there are now, those from files too; looked up again after each input."""
        if not self._known:
            self._known = BUILTIN
            if self.talk is not None:
                with suppress(Exception):  # it is a help; what is wrong is told when a command is used
                    self._known += tuple(found(self._context.desk.conversation).commands.values())
        return self._known

    def _found(self, text: str) -> Words | Called | Mistake:
        try:
            return dispatch.find(None if self.talk is None else self._context.desk.conversation, text)
        except Exception as error:  # noqa: BLE001 - the rim around files that others wrote
            return Mistake(*explain(error))

    def _instant(self, text: str) -> Called | None:
        called = self._found(text) if text.lstrip().startswith("/") else None
        return called if isinstance(called, Called) and called.command.instant else None

    async def _command(self, called: Called) -> Reply | None:
        """Run a command and show what it answers. Errors are told by whoever runs this."""
        own = None if called.command.origin else OWN.get(called.command.name)
        if own is not None:
            dispatch.check(called)
            await own(self._context, called.args)
            return None
        reply = await dispatch.call(self._context.desk, called)
        if called.command.name == "tree" and called.args:
            self.moved()
        if reply.text:
            self.board.say(reply.text)
        if reply.diff:
            self.board.diff(reply.diff)
        return reply

    async def _say(self, words: str | User, given: Input) -> None:
        """Run a turn with these words and the images beside them."""
        assert self.talk is not None
        if given.images:
            made = await self._alone(shown(self._context, words, given))
            if not isinstance(made, User):
                self._surface.take_back(given.text)
                return
            words = made
        await self._run(self.talk.prompt(words))

    async def _run(self, coroutine: Coroutine[None, None, TurnFinished]) -> None:
        """Run a turn. What was queued goes back to the input when it did not end well: it was meant for another end."""
        self.spoken = self._turning = True
        finished = await self._alone(coroutine)
        self._turning = False
        done = isinstance(finished, TurnFinished) and finished.outcome.kind == "done"
        if not done and self._inputs and self._leaving is None:
            self._take_back_queued()

    def _take_back_queued(self) -> None:
        """What was sent after the stop is meant for what comes now; only what waited before it goes back."""
        count = min(self._meant, len(self._inputs)) if self._stopping else len(self._inputs)
        waited = [self._inputs.popleft().text for _ in range(count)]
        if waited:
            self._surface.take_back("\n".join(waited))

    async def _alone(self, coroutine: Coroutine[None, None, object]) -> object:
        """Run the one thing that Ctrl+C stops; inputs queue meanwhile. None when it failed or was stopped."""
        loop = asyncio.get_running_loop()
        self._stopping = False
        self._task = task = loop.create_task(self._guarded(coroutine))
        ticking = loop.create_task(self._tick())
        try:
            while not task.done():
                if self._leaving is not None:
                    task.cancel()
                    await asyncio.wait((task,), timeout=PATIENCE)
                    break
                self._wake.clear()
                waking = loop.create_task(self._wake.wait())
                try:
                    await asyncio.wait((task, waking), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waking.cancel()
        finally:
            task.cancel()
            ticking.cancel()
            self._task, self.hint = None, ""
        return task.result() if task.done() and not task.cancelled() else None

    async def _guarded(self, coroutine: Coroutine[None, None, object]) -> object:
        """Errors are told; the conversation goes on."""
        try:
            return await coroutine
        except AgenyxError as error:
            self.board.complain(error.message, error.fix)
        except Exception as error:  # noqa: BLE001 - the rim around a turn and around a command
            self.board.complain(*explain(error))
        return None

    def _beside(self, task: asyncio.Task[object]) -> None:
        self._side.discard(task)
        self.refresh()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._surface.changed()

    def _forget(self, hint: str) -> None:
        if self.hint == hint:
            self.hint = ""
            self._surface.changed()

    # --- the conversation --------------------------------------------------------------------------------------------

    async def replace(self, talk: Talk, *, close: bool) -> None:
        """Go on with another conversation. `close` the one before, where it is not closed yet."""
        before, self.talk = self.talk, talk
        if close and before is not None:
            await before.close("resume")
        self.moved()
        self.refresh()

    def moved(self) -> None:
        """Another conversation goes on, or this one elsewhere: what stands on the board is of another."""
        if self.talk is not None:
            self.board.restart(self.talk)

    async def reopen(self, session: str) -> None:
        """Go on with an earlier session. The one before stays when that fails."""
        await self.replace(await self._open(session), close=True)
        self._tell_unfinished()

    def refresh(self) -> None:
        """Read the figures anew and draw."""
        if self.talk is not None:
            self.last = self.talk.status()
            self.status = status_line(self.last, self._surface.columns, self._glyphs)
        self.drawn()

    def _greet(self) -> None:
        if self.talk is None:
            return
        status = self.talk.status()
        dot = self._glyphs.dot
        kept = "" if status.persistent else f"{dot}kept in memory only"
        self.board.say(f"Agenyx{dot}{status.model}{dot}{status.profile}{dot}session {status.session_id}{kept}")
        self.board.say("/help shows commands and keys. Ctrl+C stops a turn, Ctrl+D leaves.", "dim")
        self._tell_unfinished()
        self.refresh()

    def _tell_unfinished(self) -> None:
        if self.talk is not None and self.talk.unfinished:
            self.board.say("The last turn was left unfinished: Enter goes on with it.", "warn")
