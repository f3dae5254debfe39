"""The Memory tool in a conversation: a person is asked before a note is kept, and secrets never are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenyx.agent.ports import Approver
from agenyx.app.runtime import Conversation
from agenyx.core.messages import Step
from agenyx.core.verdict import Mode
from agenyx.ext.memory import open_memory
from agenyx.ext.memory_tool import Memory
from agenyx.session.session import Session
from agenyx.tools.spec import describe
from support.mock import Mock, agenyx, command_env, mock_server
from support.parts import Answers
from support.scripted import call, calls, say

from .commands.places import Place

REMEMBER = call("Memory", "r", action="remember", name="build", content="make all")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def results(place: Place, answers: Approver, *made: object, mode: Mode = "default") -> list[tuple[str, str]]:
    """Status and text of these calls, one a step, in a session of its own."""
    for path in (place.home / "sessions").rglob("*"):
        if path.is_file():
            path.unlink()
    place.script = [*(calls(one) for one in made), say("done")]  # type: ignore[arg-type]
    place.approver, place.mode = answers, mode

    async def work(conversation: Conversation, session: Session) -> list[tuple[str, str]]:
        await conversation.prompt("go")
        steps = [entry for entry in session.state.entries if isinstance(entry, Step)]
        return [(result.status, result.text) for step in steps for result in step.results]

    return place.run(work)


def kept(place: Place) -> dict[str, str]:
    notes = open_memory(str(place.home / ".agenyx"), os.path.realpath(place.work)).all()
    return {note.name: note.text for note in notes}


def test_a_yes_keeps_a_note_and_shows_what_it_is(place: Place) -> None:
    answers = Answers("allow")
    assert results(place, answers, REMEMBER) == [("ok", "Kept as build; sessions that begin from now on are told.")]
    assert kept(place) == {"build": "make all"}
    effects = answers.asked[0].effects
    assert "+make all" in effects.preview
    assert [os.path.basename(ref.shown) for ref in effects.writes] == ["build.md"]
    answers = Answers("allow", "allow")
    replaced = call("Memory", "r", action="remember", name="build", content="make everything")
    told = results(
        place,
        answers,
        replaced,
        call("Memory", "l", action="list"),
        call("Memory", "q", action="recall", query="everything"),
        call("Memory", "f", action="forget", name="build"),
        call("Memory", "n", action="forget", name="build"),
    )
    assert "-make all\n+make everything" in answers.asked[0].effects.preview
    assert len(answers.asked) == 3
    assert [status for status, _ in told] == ["ok", "ok", "ok", "ok", "denied"]
    assert "make everything" in told[1][1] and "make everything" in told[2][1]
    assert kept(place) == {}


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
def test_a_no_keeps_nothing_whatever_edits_are_accepted(place: Place, mode: Mode) -> None:
    assert results(place, Answers("deny"), REMEMBER, mode=mode)[0][0] == "denied"
    assert kept(place) == {}


@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
def test_where_nobody_is_asked_nothing_is_kept(place: Place, mode: Mode) -> None:
    answers = Answers("allow")
    assert results(place, answers, REMEMBER, mode=mode)[0][0] == "denied"
    assert (answers.asked, kept(place)) == ([], {})


def test_a_secret_is_refused_in_every_mode(place: Place) -> None:
    secret = call("Memory", "r", action="remember", name="key", content="token ghp_" + "a1" * 15)
    for mode in ("default", "bypassPermissions"):
        answers = Answers("allow")
        ((status, text),) = results(place, answers, secret, mode=mode)  # type: ignore[arg-type]
        assert (status, answers.asked) == ("denied", [])
        assert "the note is not kept: it holds what looks like a key" in text
    assert kept(place) == {}


def test_wrong_arguments_do_nothing(place: Place) -> None:
    odd = call("Memory", "r", action="remember", name="../x", content="text")
    assert results(place, Answers("allow"), odd, mode="bypassPermissions")[0][0] == "error"
    assert not (place.home / ".agenyx" / "memory").exists()


def test_it_is_there_only_where_it_has_a_place() -> None:
    spec = describe(Memory("/home", "/work"))
    assert len(spec.description) + len(json.dumps(spec.schema)) < 700
    assert spec.sets == ("full",)


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def test_each_new_session_is_told_and_the_program_manages_it(mock: Mock, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    server = f"{mock.url}/v1"
    env = command_env(tmp_path, OPENAI_API_KEY="my-configured-key-77", OPENAI_BASE_URL=server, AGENYX_MODEL="m")

    def run(*argv: str, code: int = 0) -> str:
        done = agenyx(*argv, cwd=work, env=env)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    def request(*argv: str) -> tuple[str, list[str]]:
        mock.reset("hello", keep_bodies=True)
        run("-p", *argv, "hi")
        body = json.loads(mock.bodies()[0])
        return body["messages"][0]["content"], [tool["function"]["name"] for tool in body["tools"]]

    assert "Project memory" not in request()[0]
    assert "Kept as build" in run("memory", "remember", "build", "make", "all")
    assert "my-configured" not in run("memory", "remember", "key", "it is my-configured-key-77", code=1)
    assert "Kept as style" in run("-p", "/memory remember style tabs, not spaces")
    system, tools = request()
    assert system.index("# Project memory") < system.index("tabs, not spaces") < system.index("make all")
    assert "Memory" in tools
    for flags in (["--bare"], ["--no-session-persistence"]):
        system, tools = request(*flags)
        assert ("make all" in system, "Memory" in tools) == (False, False), flags
    assert "make all" not in request("--tool-set", "small")[0]
    assert "build (" in run("memory", "list")
    assert json.loads(run("memory", "show", "build", "--json"))["content"] == "make all"
    assert [one["name"] for one in json.loads(run("memory", "list", "--json"))["notes"]] == ["style", "build"]
    assert "tabs" in run("-p", "/memory recall tabs")
    assert "forgotten" in run("memory", "forget", "build")
    assert "there is no note 'build'" in run("memory", "forget", "build", code=2)
    assert "Usage: agenyx memory" in run("memory", "--help")
