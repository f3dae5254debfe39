"""`agenyx sessions rewind` as a program, and /rewind files and both in a real conversation."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.settings import Settings
from agenyx.core.errors import AgenyxError
from agenyx.core.messages import User
from agenyx.proc.spawn import Processes
from agenyx.session import load
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.commands.rewind import rewind
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import ASCII, plain
from support.conversation import open_scripted
from support.mock import command_env
from support.scripted import call, calls, say


def script() -> list[Any]:
    first = calls(call("Write", file_path="a.txt", content="one\n"))
    second = calls(call("Edit", file_path="a.txt", old_string="one", new_string="two"), call("Bash", command="touch b"))
    return [first, say("a"), second, say("b"), say("c")]


class Place:
    """A workspace with a session of two turns in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.work, self.home = folder / "work", folder / "home" / ".agenyx"
        self.work.mkdir()
        self.home.mkdir(parents=True, mode=0o700)

        async def talk() -> None:
            conversation, _ = open_scripted(script(), self.home, self.work)
            await conversation.prompt("make a file")
            await conversation.prompt("change it")
            await conversation.close()

        asyncio.run(talk())

    def run(self, *words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", "sessions", "rewind", *words],
            cwd=self.work,
            env=command_env(self.home.parent),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.work.iterdir()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_points_then_a_dry_run_then_the_deed_then_back(place: Place) -> None:
    code, out, err = place.run()
    assert (code, err) == (0, "")
    assert "1  " in out and "1 file    make a file" in out and "2 files   change it" in out
    code, out, _ = place.run("--to", "2")
    assert code == 0 and "restore  a.txt" in out and "remove   b" in out and "-two\n+one" in out
    assert "Nothing was changed. To do it: agenyx sessions rewind only --to 2 --yes" in out
    assert place.files() == {"a.txt": "two\n", "b": ""}
    code, out, _ = place.run("only", "--to", "2", "--yes")
    assert code == 0 and "2 put back." in out and place.files() == {"a.txt": "one\n"}
    (place.work / "a.txt").write_text("mine\n")
    code, out, _ = place.run("--to", "1", "--yes")
    assert "leave  a.txt  it changed since, not by this session\n0 put back, 1 left." in out
    (place.work / "a.txt").write_text("one\n")
    assert "(a rewind of files)" in place.run()[1]
    assert place.run("--to", "r1", "--yes")[0] == 0 and place.files() == {"a.txt": "two\n", "b": ""}


def test_programs_get_json(place: Place) -> None:
    said = json.loads(place.run("--json")[1])
    assert [(one["point"], one["kind"], one["files"]) for one in said["points"]] == [
        ("1", "prompt", 1),
        ("2", "prompt", 2),
    ]
    said = json.loads(place.run("--json", "--to", "1")[1])
    assert (said["point"], said["applied"]) == ("1", False)
    assert [(one["path"], one["action"]) for one in said["steps"]] == [("a.txt", "remove"), ("b", "remove")]


def test_the_conversation_can_go_back_as_well(place: Place) -> None:
    code, out, err = place.run("--to", "2", "--what", "both", "--yes")
    assert (code, err) == (0, "") and "goes on before turn 2: change it" in out
    state = load.load(os.path.join(load.sessions_of(str(place.home), str(place.work)), "only"))
    texts = [entry.text for entry in state.entries if isinstance(entry, User) and entry.origin == "typed"]
    assert texts == ["make a file"] and place.files() == {"a.txt": "one\n"}
    assert place.run("--to", "1", "--what", "conversation")[1].startswith("The conversation would go on before turn 1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "9"), "there is no point 9"),
        (("--to", "1", "--what", "all"), "--what cannot be 'all'"),
        (("nosuch",), "there is no session"),
        (("a", "b"), "too many words"),
    ],
)
def test_mistakes_are_told(place: Place, words: tuple[str, ...], told: str) -> None:
    code, out, err = place.run(*words)
    assert code != 0 and told in err and not out


def test_a_session_in_use_is_not_rewound(place: Place) -> None:
    async def talk() -> None:
        conversation, _ = open_scripted(script(), place.home, place.work)
        code, _, err = await asyncio.to_thread(place.run, "--to", "2", "--yes")
        assert code != 0 and "in use" in err
        assert (await asyncio.to_thread(place.run, "--to", "2"))[0] == 0, "looking is free"
        await conversation.close()

    asyncio.run(talk())
    assert place.files() == {"a.txt": "two\n", "b": ""}


@pytest.mark.parametrize("what", ["files", "both"])
def test_the_model_is_told_of_files_that_a_command_put_back(place: Place, what: str) -> None:
    """It reads the records, so that also a process that knows nothing of the command tells it, once."""
    assert place.run("--to", "2", "--what", what, "--yes")[0] == 0

    async def talk() -> list[str]:
        conversation, session = open_scripted([], place.home, place.work)
        assert not conversation.unfinished, "to be told of it opens no turn"
        for text in ("go on", "and on"):
            await conversation.prompt(text)
        await conversation.close()
        return [entry.text for entry in session.state.entries if isinstance(entry, User)]

    texts = asyncio.run(talk())
    told = [text for text in texts if "put 2 files back to an earlier state: a.txt, b." in text]
    assert len(told) == 1 and texts.index(told[0]) == texts.index("go on") - 1


def test_a_turn_that_is_gone_on_with_is_told_too_once_its_calls_have_results(place: Place) -> None:
    class Crash(BaseException):
        pass

    def crash(request: Any) -> Any:
        raise Crash

    async def broken() -> None:
        conversation, _ = open_scripted(
            [*script()[:4], calls(call("Bash", command="touch c")), crash], place.home, place.work
        )
        with pytest.raises(Crash):
            await conversation.prompt("more")
        await conversation.close()

    async def again() -> list[str]:
        conversation, session = open_scripted([], place.home, place.work)
        assert conversation.unfinished
        await conversation.go_on()
        await conversation.close()
        return [entry.text for entry in session.state.entries if isinstance(entry, User)]

    asyncio.run(broken())
    assert place.run("--to", "3", "--what", "files", "--yes")[0] == 0
    assert "put 1 file back to an earlier state: c." in asyncio.run(again())[-1]


def test_in_a_conversation_files_and_both(place: Place) -> None:
    class Host:
        def __init__(self, talk: Any) -> None:
            self.board, self.talk = Transcript(lambda: 100, ASCII, lambda: 0.0), talk
            self.taken_back = ""

        def take_back(self, text: str) -> None:
            self.taken_back = text

        def moved(self) -> None:
            pass

    async def talk() -> None:
        conversation, session = open_scripted(script(), place.home, place.work)
        host: Any = Host(conversation)
        context = Context(host, Settings(str(place.work)), {}, str(place.home), str(place.work), Processes())

        async def said(args: str) -> str:
            await rewind(context, args)
            return "\n".join(plain(spans) for spans in host.board.take())

        assert "2 files   change it" in await said("files")
        plan = await said("files 2")
        assert "restore  a.txt" in plan and "+one" in plan and "Nothing was changed" in plan
        assert place.files() == {"a.txt": "two\n", "b": ""}
        assert "2 put back" in await said("files 2 yes") and place.files() == {"a.txt": "one\n"}
        assert "2 put back" in await said("files r1 yes") and place.files() == {"a.txt": "two\n", "b": ""}
        assert "1 put back" not in await said("both 2") and host.taken_back == ""
        done = await said("both 2 yes")
        assert "2 put back" in done and "goes on before turn 2" in done and host.taken_back == "change it"
        with pytest.raises(AgenyxError, match="takes a point"):
            await said("files 1 no")
        await conversation.prompt("again")
        texts = [entry.text for entry in session.state.entries if isinstance(entry, User)]
        assert any("put 2 files back to an earlier state: a.txt, b" in text for text in texts)
        assert "again" in texts and "change it" not in texts
        await conversation.close()

    asyncio.run(talk())
