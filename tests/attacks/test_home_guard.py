"""Show 8: once the home is not what it was, nothing is done any more until a restart, whatever a person says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import Step as Done
from support.mock import command_env
from support.parts import Answers
from support.raw_server import RawServer, Step, call, content, finish, stream


def aside(home: Path) -> None:
    home.rename(home.with_name("aside"))


def replaced(home: Path) -> None:
    aside(home)
    (home / "sessions").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)


def linked(home: Path) -> None:
    aside(home)
    home.symlink_to(home.with_name("aside"))


def opened(home: Path) -> None:
    home.chmod(0o755)


def sessions_replaced(home: Path) -> None:
    (home / "sessions").rename(home / "others")
    (home / "sessions").mkdir(mode=0o700)


def sessions_opened(home: Path) -> None:
    (home / "sessions").chmod(0o750)


def back(home: Path) -> None:
    """As if nothing had been."""
    for path, away in ((home, home.with_name("aside")), (home / "sessions", home / "others")):
        if away.exists():
            if path.is_symlink():
                path.unlink()
            elif path.exists():
                for inner in path.iterdir():
                    inner.rmdir()
                path.rmdir()
            away.rename(path)
        path.chmod(0o700)


class Meanwhile(Answers):
    """Says yes to everything; before the first yes, something happens to the home."""

    def __init__(self, happens: Callable[[Path], None], home: Path) -> None:
        super().__init__("allow", "allow", "allow")
        self._happens, self._home = happens, home

    async def decide(self, approval: Approval) -> Decision:
        if not self.asked:
            self._happens(self._home)
        return await super().decide(approval)


def write(name: str) -> list[Step]:
    args = json.dumps({"file_path": name, "content": "written"})
    return [stream(call("Write", args), finish("tool_calls"))]


READ: list[Step] = [stream(call("LS", "{}"), finish("tool_calls"))]
DONE: list[Step] = [stream(content("done"), finish())]


def results(conversation: Conversation) -> list[tuple[str, str]]:
    steps = [entry for entry in conversation._session.state.entries if isinstance(entry, Done)]
    return [(result.status, result.text) for step in steps for result in step.results]


@pytest.mark.parametrize(
    "happens", [aside, replaced, linked, opened, sessions_replaced, sessions_opened], ids=lambda one: one.__name__
)
def test_a_home_that_changes_under_a_question_denies_from_then_on(tmp_path: Path, happens: Any) -> None:
    home, work = tmp_path / ".agenyx", tmp_path / "work"
    work.mkdir()
    script = [write("one"), write("two"), READ, DONE, write("three"), DONE]
    approver = Meanwhile(happens, home)

    async def delivered() -> None:
        pass

    async def scenario(url: str) -> list[tuple[str, str]]:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{url}/v1", AGENYX_MODEL="m")
        conversation = await open_conversation(Settings(str(work)), env, lambda _: None, approver, delivered)
        await conversation.prompt("write")
        back(home)
        await conversation.prompt("write again")
        told = results(conversation)
        await conversation.close()
        return told

    with RawServer(script) as server:
        told = asyncio.run(scenario(server.url))
    assert [status for status, _ in told] == ["denied"] * 4
    assert all(str(home) in text for _, text in told)
    assert len(approver.asked) == 1, "nobody is asked for what cannot be"
    assert list(work.iterdir()) == []


def test_an_unchanged_home_denies_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with RawServer([write("one"), DONE]) as server:

        async def delivered() -> None:
            pass

        async def scenario() -> None:
            env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
            settings = Settings(str(work))
            conversation = await open_conversation(settings, env, lambda _: None, Answers("allow"), delivered)
            await conversation.prompt("write")
            await conversation.close()

        asyncio.run(scenario())
    assert (work / "one").read_text("utf-8") == "written"
