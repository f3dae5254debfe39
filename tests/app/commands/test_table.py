"""The built-in commands: every one of the table works, and its page names it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agenyx.app.commands import table
from agenyx.app.commands.spec import Reply
from agenyx.app.runtime import Conversation
from agenyx.core import json as core_json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.messages import User
from agenyx.session.session import Session
from support.scripted import call, calls, say

from .places import Place

PAGE = Path(__file__).resolve().parents[3] / "docs" / "commands.md"


def test_names_and_aliases_are_one_namespace() -> None:
    names = [name for row in table.BUILTIN for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names)) == len(table.BY_NAME)
    assert all(re.fullmatch(r"[a-z?][a-z-]*", name) for name in names)


@pytest.mark.parametrize("name", [row.name for row in table.BUILTIN])
def test_every_command_is_there_and_answers(place: Place, name: str) -> None:
    """Alone it answers, asks for a turn, or says in one sentence what to do instead; never anything else."""
    try:
        reply = place.reply(f"/{name}")
    except AgenyxError as error:
        assert error.message and error.fix and "\n" not in error.message
    else:
        assert reply.text or reply.prompt or reply.diff
        core_json.encode(reply.data)  # for programs


def test_the_page_names_every_command_and_no_other() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `/")]
    named = [re.findall(r"`/([a-z?-]+)", row.split(" | ")[0]) for row in rows]
    assert sorted(named) == sorted([row.name, *row.aliases] for row in table.BUILTIN)


def test_status_tells_programs_what_it_is(place: Place) -> None:
    async def work(conversation: Conversation, session: Session) -> None:
        await conversation.prompt("hello")
        reply = await place.type(conversation, "/status")
        assert isinstance(reply, Reply)
        data = reply.data
        assert (data["model"], data["mode"], data["persistent"]) == ("scripted-model", "default", True)
        assert data["projected_items"] == len(session.state.view.entries) == 3
        assert data["workspace_trusted"] is False and data["platform"]
        assert f"session    {conversation.session_id}" in reply.text and str(place.work) in reply.text

    place.run(work)


def test_plan_goes_into_plan_mode_and_back(place: Place) -> None:
    async def work(conversation: Conversation, session: Session) -> None:
        reply = await place.type(conversation, "/plan")
        assert isinstance(reply, Reply) and reply.data == {"mode": "plan"}
        await place.type(conversation, "/plan off")
        assert conversation.mode == "default"
        conversation.set_mode("acceptEdits")
        await place.type(conversation, "/plan off")
        assert conversation.mode == "acceptEdits"
        with pytest.raises(UsageError, match="takes on"):
            await place.type(conversation, "/plan the release")

    place.run(work)


def test_login_says_what_to_do_and_stores_nothing(place: Place) -> None:
    for name in ("login", "logout"):
        reply = place.reply(f"/{name}")
        assert "agenyx login ID" in reply.text and "agenyx logout ID" in reply.text
        assert reply.data["provider"] == "test"
    assert not (place.home / "auth.json").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("", "git diff HEAD"),
        ("#12", "gh pr diff 12"),
        ("https://github.com/a/b/pull/7", "gh pr view https://github.com/a/b/pull/7"),
        ("main {x}", "What is to be reviewed: main {x}."),
    ],
)
def test_review_asks_the_model_for_a_review(place: Place, args: str, words: str) -> None:
    reply = place.reply(f"/review {args}")
    assert reply.prompt is not None and words in reply.prompt.text and "Change nothing" in reply.prompt.text
    assert reply.prompt.said == f"/review {args}".strip()


def test_export_writes_a_new_file_and_no_other(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.script = [calls(call("Bash", command="echo '```'"), text="I look."), say("Done."), say("more")]

    async def work(conversation: Conversation, session: Session) -> None:
        await conversation.prompt(User((), shown="/typed"))
        reply = await place.type(conversation, '/export "my notes.md"')
        assert isinstance(reply, Reply)
        text = (place.work / "my notes.md").read_text("utf-8")
        assert reply.data == {"format": "md", "file": str(place.work / "my notes.md")}
        assert text.startswith("# /typed\n") and "## You\n\n/typed\n" in text
        assert "**Bash**\n\n````json\n" in text and "````\n```\n````" in text and text.endswith("Done.\n")
        assert (place.work / "my notes.md").stat().st_mode & 0o777 == 0o600
        for name in ("my notes.md", "nowhere/x.md"):
            with pytest.raises(AgenyxError):
                await place.type(conversation, f'/export "{name}"')
        assert (place.work / "my notes.md").read_text("utf-8") == text
        (place.work / "link.md").symlink_to(place.work / "target.md")
        with pytest.raises(AgenyxError):
            await place.type(conversation, "/export link.md")
        assert not (place.work / "target.md").exists()
        await place.type(conversation, "/export talk.json")
        whole = json.loads((place.work / "talk.json").read_text("utf-8"))
        said = [(one["role"], one["text"]) for one in whole["messages"] if one.get("origin") != "notice"]
        assert said == [("user", ""), ("assistant", "I look."), ("tool", "```"), ("assistant", "Done.")]
        shown = await place.type(conversation, "/export json")
        assert isinstance(shown, Reply) and json.loads(shown.text)["messages"] == whole["messages"]

    place.run(work)


def test_tree_tells_turns_and_goes_to_one(place: Place) -> None:
    async def work(conversation: Conversation, session: Session) -> None:
        await conversation.prompt("one")
        await conversation.prompt("two")
        reply = await place.type(conversation, "/tree 1")
        assert isinstance(reply, Reply) and reply.data["head"] == 1
        assert [turn["prompt"] for turn in reply.data["turns"]] == ["one", "two"]
        await conversation.prompt("other")
        texts = [entry.text for entry in session.state.entries if isinstance(entry, User) and entry.origin == "typed"]
        assert texts == ["one", "other"]

    place.run(work)
