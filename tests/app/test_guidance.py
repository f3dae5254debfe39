"""Output styles in a conversation: in the head of a new session, as a notice where they change, kept on resume."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.commands.spec import Reply
from agenyx.app.extensions import Extensions
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.app.trust import Gate
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice, PrefixBroke
from agenyx.core.messages import User
from agenyx.session.session import Session
from support.conversation import open_scripted
from support.mock import Mock, agenyx, command_env, mock_server
from support.parts import Answers
from support.scripted import say

from .commands.places import Place

CODING, LIMITS = "# How you work", "# Limits"
PIRATE = "---\nname: Pirate\ndescription: Talks like one\n---\nSay arr.\n"


class Styled(Place):
    """`settings` are those of the next conversation; the session goes on where there is one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.settings: dict[str, Any] = {}
        self.size: Any = "full"
        self.script = [say(str(number)) for number in range(20)]

    async def open(self) -> tuple[Conversation, Session]:
        work, home, person = map(os.path.realpath, (self.work, self.home, self.person))
        self.told: list[Notice] = []
        gate = Gate(Settings(work, trust=True), {}, home, work, None, self.told.append)  # type: ignore[arg-type]
        await gate.open()
        extensions = Extensions(gate, home, person, self.told.append)  # type: ignore[arg-type]
        return open_scripted(
            self.script,
            self.home,
            self.work,
            events=self.events,
            approver=Answers(),
            extensions=extensions,
            settings=Settings(work, **self.settings),
            size=self.size,
        )

    def after(self, *words: str) -> tuple[str, list[str]]:
        """Head and style notices after these prompts and commands."""

        async def work(conversation: Conversation, session: Session) -> tuple[str, list[str]]:
            for word in words:
                if word.startswith("/"):
                    assert isinstance(await self.type(conversation, word), Reply)
                else:
                    await conversation.prompt(word)
            assert session.state.prefix is not None
            users = [entry.text for entry in session.state.view.entries if isinstance(entry, User)]
            return "\n\n".join(session.state.prefix.system), [text for text in users if "output style" in text]

        return self.run(work)


@pytest.fixture
def place(tmp_path: Path) -> Styled:
    made = Styled(tmp_path)
    made.write(".claude/output-styles/pirate.md", PIRATE)
    made.write(".agenyx/styles/terse.md", "Few words.", person=True)
    return made


def test_by_default_there_is_none(place: Styled) -> None:
    head, notices = place.after("hi")
    assert (CODING in head, LIMITS in head, "# Output style" in head, notices) == (True, True, False, [])


def test_a_style_stands_in_the_head_and_may_take_the_place_of_the_coding_instructions(place: Styled) -> None:
    place.settings = {"output_style": "pirate"}
    head, notices = place.after("hi")
    assert "# Output style: Pirate\nSay arr." in head
    assert (CODING in head, LIMITS in head, "# Tools" in head, notices) == (False, True, True, [])


def test_ours_keep_the_coding_instructions(place: Styled) -> None:
    place.settings = {"output_style": "explanatory"}
    head, _ = place.after("hi")
    assert CODING in head and "# Output style: Explanatory" in head


def test_an_unknown_style_is_told_and_the_default_holds(place: Styled) -> None:
    place.settings = {"output_style": "gone"}
    head, _ = place.after("hi")
    assert "# Output style" not in head and CODING in head
    (told,) = place.told
    assert (told.text, told.fix) == (
        "There is no output style 'gone', so the default holds.",
        "There are: default, Explanatory, Learning, terse, Pirate.",
    )


def test_a_small_model_gets_none_and_it_is_said(place: Styled) -> None:
    place.settings, place.size = {"output_style": "pirate"}, "small"
    head, _ = place.after("hi")
    assert "arr" not in head
    assert "small model" in place.told[0].text


def test_a_change_comes_at_the_tail_and_breaks_nothing(place: Styled) -> None:
    head, notices = place.after("hi", "/output-style PIRATE", "go on", "and on", "/output-style default", "end")
    assert "arr" not in head
    assert [text.partition(".\n")[0] for text in notices] == [
        "The user switched the output style to Pirate",
        "The user switched the output style to default",
    ]
    assert "Say arr." in notices[0]
    assert not [body for body in place.bodies if isinstance(body, PrefixBroke)]


def test_a_session_keeps_its_style_and_another_one_counts_only_when_it_was_said(place: Styled) -> None:
    place.settings = {"output_style": "pirate"}
    place.after("hi")
    place.settings = {"output_style": "terse"}  # of a settings file
    assert place.after("more")[1] == []
    place.settings = {"output_style": "terse", "style_given": True}
    assert "Few words." in place.after("more")[1][0]
    place.settings = {}
    assert len(place.after("more")[1]) == 1, "it was told already"


def test_a_summary_takes_no_style_away(place: Styled) -> None:
    place.after("hi", "/output-style pirate", "go on")

    async def work(conversation: Conversation, session: Session) -> list[str]:
        assert await conversation.compact() is not None
        await conversation.prompt("after it")
        return [entry.text for entry in session.state.view.entries if isinstance(entry, User)]

    assert sum("Say arr." in text for text in place.run(work)) == 1


def test_the_list_and_a_wrong_name(place: Styled) -> None:
    place.settings = {"output_style": "pirate"}

    async def work(conversation: Conversation, session: Session) -> None:
        await conversation.prompt("hi")
        reply = await place.type(conversation, "/style")
        assert isinstance(reply, Reply)
        assert "* Pirate: Talks like one (" in reply.text and "  Learning: " in reply.text
        assert [one["name"] for one in reply.data["styles"]] == [
            "default",
            "Explanatory",
            "Learning",
            "terse",
            "Pirate",
        ]
        with pytest.raises(UsageError, match="there is no output style 'x'"):
            await place.type(conversation, "/style x")

    place.run(work)


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def program(mock: Mock, tmp_path: Path, *argv: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """A run of the program; and the system text that the server got."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")
    mock.reset("hello", keep_bodies=True)
    done = agenyx("-p", *argv, cwd=work, env=env)
    bodies = mock.bodies()
    return done, json.loads(bodies[0])["messages"][0]["content"] if bodies else ""


def test_a_new_session_begins_with_the_style_that_held(mock: Mock, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")
    mock.reset("hello", keep_bodies=True)

    async def delivered() -> None:
        pass

    async def scenario() -> None:
        settings = Settings(str(tmp_path / "work"))
        conversation = await open_conversation(settings, env, lambda _: None, Answers(), delivered)
        await conversation.prompt("hi")
        conversation.guidance.set_style("learning")
        fresh = await conversation.clear()
        await fresh.prompt("hi")
        await fresh.close()

    asyncio.run(scenario())
    systems = [json.loads(body)["messages"][0]["content"] for body in mock.bodies()]
    assert ["# Output style: Learning" in system for system in systems] == [False, True]


def test_by_flag_and_by_settings_of_home_and_of_a_trusted_workspace(mock: Mock, tmp_path: Path) -> None:
    done, system = program(mock, tmp_path, "--output-style", "learning", "hi")
    assert done.returncode == 0, done.stderr
    assert "# Output style: Learning" in system
    (tmp_path / ".agenyx" / "settings.toml").write_text("output_style = 'Explanatory'\n")
    assert "# Output style: Explanatory" in program(mock, tmp_path, "hi")[1]
    settings = tmp_path / "work" / ".agenyx" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text("output_style = 'Learning'\n")
    assert "# Output style: Explanatory" in program(mock, tmp_path, "hi")[1], "not before trust"
    assert "# Output style: Learning" in program(mock, tmp_path, "--trust-workspace", "hi")[1]
    done, _ = program(mock, tmp_path, "--bare", "/output-style")
    assert "* Explanatory" in done.stdout
    done, _ = program(mock, tmp_path, "/output-style learning")
    assert "Give it with the prompt: --output-style learning" in done.stderr
