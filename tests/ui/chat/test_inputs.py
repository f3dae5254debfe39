"""Inputs that are more than words: commands of the person's own, images, and what is taken out of the queue again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from agenyx.app.policies import Chosen
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.core.events import AgentEvent
from agenyx.core.messages import Media, User
from agenyx.ext.mcp.model import Resource
from agenyx.policy.decide import Policy
from agenyx.proc.spawn import Processes
from agenyx.session.session import Session
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.loop import Chat
from agenyx.ui.chat.resources import resources_of
from agenyx.ui.chat.talk import Talk
from agenyx.ui.chat.values import values_of
from agenyx.ui.spans import ASCII
from support.conversation import open_scripted
from support.pictures import png
from support.scripted import say
from ui.repl.fakes import FakeSurface


class Heard(list[AgentEvent]):
    """Hands each event on as it comes."""

    def __init__(self, emit: Callable[[AgentEvent], None]) -> None:
        super().__init__()
        self.append = emit  # type: ignore[method-assign]


class Bench:
    """A chat over a real conversation whose model only says "fine"."""

    def __init__(self, tmp_path: Path) -> None:
        self.home, self.work = tmp_path / "home", tmp_path / "work"
        self.home.mkdir()
        self.work.mkdir()
        (self.home / "catalogue.json").write_text(
            '{"hosts": {"127.0.0.1": {"models": {"scripted-model": {"efforts": ["low", "high"]}, "other-model": {}}}}}'
        )
        self.surface = FakeSurface()
        self.conversation: Conversation
        self.session: Session
        self.context: Context

        def context(chat: Chat) -> Context:
            settings = Settings(str(self.work))
            self.context = Context(
                chat, settings, {"PATH": "/usr/bin:/bin"}, str(self.home), str(self.work), Processes()
            )
            return self.context

        async def opens(session: str) -> Talk:
            events = Heard(self.chat.emit)
            chosen = Chosen(Policy("default", workspace=str(self.work)), images="yes")
            self.conversation, self.session = open_scripted(
                [say("fine")] * 9, self.home, self.work, mode="default", events=events, chosen=chosen
            )
            return self.conversation

        self.chat = Chat(self.surface, self.surface.transcript, opens, ASCII, context)

    async def idle(self) -> None:
        async with asyncio.timeout(30):
            while True:
                self.surface.asked.clear()
                await self.surface.asked.wait()
                if not self.chat.queued:
                    return

    async def send(self, text: str, images: tuple[str, ...] = (), *, keyed: bool = True) -> None:
        self.surface.asked.clear()
        self.chat.submit(text, images, keyed=keyed)
        await self.idle()
        self.surface.changed()

    @property
    def said(self) -> list[User]:
        entries = self.session.state.entries
        return [entry for entry in entries if isinstance(entry, User) and entry.origin == "typed"]


def drive(tmp_path: Path, script: Callable[[Bench], Awaitable[None]]) -> Bench:
    async def work() -> Bench:
        bench = Bench(tmp_path)
        task = asyncio.create_task(bench.chat.run())
        await bench.idle()
        await script(bench)
        bench.chat.leave()
        async with asyncio.timeout(30):
            await task
        await bench.context.processes.close()
        return bench

    return asyncio.run(work())


def test_an_own_command_runs_and_its_output_is_shown(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("!echo one; echo two; touch made")
        assert (bench.work / "made").exists()
        assert bench.said == []  # no turn
        await bench.send("look")
        assert [user.text for user in bench.said] == ["look"]

    bench = drive(tmp_path, script)
    assert "> !echo one; echo two; touch made" in bench.surface.text
    rows = bench.surface.text.split("\n")
    assert rows.index("one") + 1 == rows.index("two")


def test_a_lone_sign_and_what_came_through_a_pipe_are_words(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("!")
        await bench.send("!touch made", keyed=False)
        assert [user.text for user in bench.said] == ["!", "!touch made"]
        assert not (bench.work / "made").exists()

    drive(tmp_path, script)


def test_an_own_command_is_stopped_like_a_turn(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.chat.submit("!echo begun; sleep 1000")
        async with asyncio.timeout(30):
            while b"begun" not in b"".join(bench.surface.transcript._pulse.output.values()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        bench.chat.interrupt()
        await bench.idle()
        assert not bench.chat.running

    drive(tmp_path, script)


def test_images_are_shown_to_the_model(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        (bench.work / "shot.png").write_bytes(png(2, 2))
        await bench.send("what is this", ("shot.png",))
        (user,) = bench.said
        assert [block.name for block in user.blocks if isinstance(block, Media)] == ["shot.png"]
        assert user.text.startswith("what is this")

    drive(tmp_path, script)


def test_what_cannot_be_shown_goes_back_to_the_input(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        (bench.work / "no.png").write_text("text")
        await bench.send("look [Image #1: no.png]", ("no.png",))
        assert bench.said == []
        assert bench.surface.taken_back == ["look [Image #1: no.png]"]

    assert "no.png cannot be shown to the model" in drive(tmp_path, script).surface.text


def test_what_waits_can_be_taken_out(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        for text in ("one", "two", "three"):
            bench.chat.submit(text)
        assert bench.chat.withdraw() == "three"
        assert bench.chat.withdraw(0) == "one"
        assert bench.chat.queued == ("two",)
        assert bench.chat.withdraw(5) is None
        await bench.idle()
        assert bench.chat.withdraw() is None
        assert [user.text for user in bench.said] == ["two"]

    drive(tmp_path, script)


def test_resources_that_can_be_named(tmp_path: Path) -> None:
    from types import SimpleNamespace

    found = {
        "docs": (Resource("guide://a", "a", "A  guide\nto a"), Resource("guide://{b}", "b", template=True)),
        "my server": (Resource("x://y", "y"),),
        "db": (Resource("t://with blank", "t"), Resource("t://u", "u")),
    }

    async def script(bench: Bench) -> None:
        bench.conversation.mcp = SimpleNamespace(servers=SimpleNamespace(resources=found))  # type: ignore[assignment]
        assert resources_of(bench.context) == [("docs:guide://a", "A guide to a"), ("db:t://u", "u")]
        bench.conversation.mcp = None

    drive(tmp_path, script)


def test_values_of_commands(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        async def values(name: str, *words: str) -> list[str]:
            command = next(one for one in bench.chat.commands() if one.name == name)
            return [value for value, _ in await values_of(bench.context, command, words)]

        assert await values("mode") == ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
        assert await values("effort") == ["low", "high"]
        assert await values("model") == ["scripted-model", "other-model"]
        assert "status" in await values("help")
        assert "default" in await values("theme")
        assert await values("tree") == []
        await bench.send("first words")
        assert await values("tree") == ["1"] == await values("rewind")
        assert await values("mode", "plan") == []
        assert await values("status") == []
        assert await values("output-style")
        assert resources_of(bench.context) == []

    drive(tmp_path, script)
