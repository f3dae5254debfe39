"""A conversation with files of a person and of a trusted workspace, and a desk for its commands."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from agenyx.app.commands import dispatch
from agenyx.app.commands.grammar import Mistake, Words
from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.extensions import Extensions
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.core.events import AgentEvent, Body
from agenyx.core.verdict import Mode
from agenyx.session.session import Session
from support.conversation import open_scripted
from support.scripted import say

T = TypeVar("T")


class Place:
    """`home` is the person's home directory with the application home in it, `work` the workspace."""

    def __init__(self, folder: Path) -> None:
        self.person, self.work = folder / "person", folder / "work"
        self.home = self.person / ".agenyx"
        self.work.mkdir(parents=True)
        self.home.mkdir(parents=True, mode=0o700)
        self.events: list[AgentEvent] = []
        self.script: Sequence[Any] = [say("one"), say("two"), say("three")]
        self.approver: Any = None
        self.mode: Mode = "default"

    def write(self, path: str, text: str, *, person: bool = False) -> Path:
        file = (self.person if person else self.work) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    @property
    def bodies(self) -> list[Body]:
        return [event.body for event in self.events]

    async def open(self) -> tuple[Conversation, Session]:
        conversation, session = open_scripted(
            self.script, self.home, self.work, events=self.events, approver=self.approver, mode=self.mode
        )
        work = os.path.realpath(self.work)
        told = conversation.parts.emit
        gate = Gate(Settings(work, trust=True), {}, str(self.home), work, None, told)
        await gate.open()
        conversation.extensions = Extensions(gate, str(self.home), str(self.person), told)
        return conversation, session

    def run(self, work: Callable[[Conversation, Session], Awaitable[T]]) -> T:
        """Open, do the work, close."""

        async def whole() -> T:
            conversation, session = await self.open()
            try:
                async with asyncio.timeout(60):
                    return await work(conversation, session)
            finally:
                await conversation.close()

        return asyncio.run(whole())

    async def type(self, conversation: Conversation, text: str) -> Words | Reply | Mistake:
        """What an input comes to."""
        return await dispatch.answer(Desk(conversation, str(self.home), dict(os.environ)), text)

    def reply(self, text: str) -> Reply:
        """The answer of one command in a conversation of its own."""

        async def work(conversation: Conversation, session: Session) -> Reply:
            answer = await self.type(conversation, text)
            assert isinstance(answer, Reply), answer
            return answer

        return self.run(work)
