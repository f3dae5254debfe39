"""What the person does, one process life after the other: looks at what there is, and goes on from there.

A prompt that stands in the session is not typed again, one that does not is. What the program said to have taken up
goes into the file `witness` beside the home; it is what no crash may lose.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from agenyx.agent.ports import Approver
from agenyx.app import approvals, start
from agenyx.app.models import Model
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.config.profiles import OPENAI_URL, Profile
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent, ApprovalSettled, TurnStarted
from agenyx.core.messages import Summary
from agenyx.llm.request import Options
from agenyx.session.inventory import sessions
from agenyx.session.load import load
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT
from agenyx.ui.defer import DeferringApprover
from crash import story

MODES = {"one": "bypassPermissions", "two": "default", "three": "default", "fork": "bypassPermissions"}
DEFERRED = "two"  # the turn whose questions are answered by another process


class Yes:
    """Answers at once, as a person at the terminal."""

    async def decide(self, approval: Approval) -> Decision:
        return Decision(approval.id, "allow", by="the person")


class Person:
    """`say` is a plain write to the witness that no shim stands under."""

    def __init__(self, top: Path, say: Callable[[int, bytes], int] = os.write) -> None:
        self._home, self._work = top / "home", top / "work"
        self._witness = os.open(top / "witness", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write = say
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(top / "user"),
            "AGENYX_HOME": str(self._home),
            "LANG": "C.UTF-8",
        }

    async def live(self) -> None:
        """Do what is left to do. Returns when everything is done."""
        start.open_model = self._model  # type: ignore[assignment]
        while await self._act():
            pass

    def _say(self, *words: str) -> None:
        self._write(self._witness, (" ".join(words) + "\n").encode())

    def _heard(self, event: AgentEvent) -> None:
        match event.body:
            case TurnStarted(text) if text:
                self._say("accepted", text.split()[1].rstrip(":"))
            case ApprovalSettled(decision):
                self._say("decided", decision.approval)
            case _:
                pass

    async def _model(self, *_: object) -> Model:
        async def close() -> None:
            pass

        author = story.Author(lambda label: self._say("asked", label))
        profile, windows = Profile("test", "openai", OPENAI_URL), {"scripted-model": story.WINDOW}
        return Model(profile, "scripted-model", author, Options(), close, windows=windows)

    async def _act(self) -> bool:
        """One thing that the person does, with a conversation of its own; False when nothing is left."""
        original, copy = found(self._home, self._work)
        if original is None:
            await self._turn("one", Settings(str(self._work)), None)
        elif (name := left(original[1], story.ORIGINAL)) is not None:
            await self._go_on(*original, name)
        elif copy is None:
            digest = hashlib.sha256((Path(original[0]) / TRANSCRIPT).read_bytes()).hexdigest()
            self._say("forking", digest)
            await self._turn("fork", Settings("/", resume=os.path.basename(original[0]), fork=True), None)
        elif (name := left(copy[1], story.COPY)) is not None:
            await self._go_on(*copy, name)
        else:
            return False
        return True

    async def _go_on(self, directory: str, state: State, name: str) -> None:
        if state.questions:
            self._answer(state.questions[0].id)
            return
        await self._turn(name, Settings("/", resume=os.path.basename(directory)), state)

    async def _turn(self, name: str, settings: Settings, state: State | None) -> None:
        mode, deferred = MODES[name], name == DEFERRED
        more = {"mode": mode, "unsafe": mode == "bypassPermissions", "defer": deferred}
        settings = Settings(settings.cwd, resume=settings.resume, fork=settings.fork, **more)  # type: ignore[arg-type]
        approver: Approver = DeferringApprover(Yes()) if deferred else Yes()
        conversation = await start.open_conversation(settings, self.env, self._heard, approver, _delivered)
        try:
            if conversation.unfinished:
                await conversation.go_on()
                return
            if name == story.SUMMARISED and state is not None and not summarised(state):
                assert await conversation.compact("the order") is not None
                self._say("compacted")
            await self._type(conversation, name)
        finally:
            await conversation.close()

    async def _type(self, conversation: Conversation, name: str) -> None:
        await conversation.prompt(story.prompt(name), f"typed-{name}")

    def _answer(self, name: str) -> None:
        """From another process, another day."""
        question = approvals.find(str(self._home), name)
        decision = Decision(name, "allow", by="the other process", at=1.0)
        approvals.answer(str(self._home), self.env, question, decision)
        self._say("decided", name)


def found(home: Path, work: Path) -> tuple[tuple[str, State] | None, tuple[str, State] | None]:
    """The session and its copy, as a list of the sessions shows them."""
    original = copy = None
    for one in sessions(str(home), str(work)):
        state = load(one.directory)
        if state.opened is not None and state.opened.origin:
            assert copy is None, "the copy is there twice"
            copy = one.directory, state
        else:
            assert original is None, "the session is there twice"
            original = one.directory, state
    return original, copy


def left(state: State, names: tuple[str, ...]) -> str | None:
    """The prompt that is under way, or the next one; None when all are done."""
    typed = [name for name in names if f"typed-{name}" in state.prompts]
    if typed and state.outcome is None:
        return typed[-1]
    return names[len(typed)] if len(typed) < len(names) else None


def summarised(state: State) -> bool:
    return any(isinstance(entry, Summary) for entry in state.view.entries)


async def _delivered() -> None:
    pass
