"""Instructions that come with what a call touched: which, when, and which never."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.extensions import Extensions
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.core.events import Notice
from agenyx.core.messages import Assistant, Step, User
from agenyx.llm.request import Request
from agenyx.session.session import Session
from agenyx.workspace.trust import Trust
from support.conversation import open_scripted
from support.parts import Answers
from support.scripted import Scripted, call, calls, say

from .commands.places import Place


class Touched(Place):
    """A workspace in which the model reads files; `answers` are asked about folders."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.answers = Answers(*["allow"] * 20)
        self.trust = False

    async def open(self) -> tuple[Conversation, Session]:
        work, home, person = map(os.path.realpath, (self.work, self.home, self.person))

        def tell(body: Any) -> None:
            self.told.append(body)

        self.told: list[Notice] = []
        gate = Gate(Settings(work, trust=self.trust), {}, home, work, self.answers, tell)
        await gate.open()
        extensions = Extensions(gate, home, person, tell)
        return open_scripted(
            self.script, self.home, self.work, events=self.events, approver=Answers(), extensions=extensions
        )

    def notices(self, *reads: str, prompts: int = 1) -> list[str]:
        """The notices of a session in which these files are read, one a step."""
        self.script = [calls(call("Read", f"r{path}", file_path=path)) for path in reads] + [say("done")] * prompts

        async def work(conversation: Conversation, session: Session) -> list[str]:
            await conversation.prompt("go")
            users = [entry for entry in session.state.entries if isinstance(entry, User)]
            return [user.text for user in users[1:] if user.origin == "notice"]

        return self.run(work)


@pytest.fixture
def place(tmp_path: Path) -> Touched:
    made = Touched(tmp_path)
    for folder in ("a", "a/b", "c", "node_modules/p", "nested", "nested/in", "ignored", "tracked"):
        made.write(f"{folder}/f.py", "x")
        made.write(f"{folder}/AGENTS.md", f"told of {folder}.")
    return made


def test_folders_between_the_root_and_the_file_outermost_first(place: Touched) -> None:
    place.write("a/b/CLAUDE.md", "claude too")
    told = place.notices("a/b/f.py", "a/f.py", "c/f.py")
    assert ["told of a." in text for text in told] == [True, False, False, False]
    assert "told of a/b." in told[1]
    assert "claude too" in told[2]
    assert "told of c." in told[3]
    assert all(text.startswith("Instructions for what lies in ") for text in told)
    assert [len(asked.effects.preview.split("AGENTS.md (")) - 1 for asked in place.answers.asked] == [2, 1]


def test_a_yes_is_kept_by_hash_and_a_change_asks_again(place: Touched) -> None:
    place.notices("a/f.py")
    asked = place.answers.asked
    assert "told of a." in asked[0].effects.preview
    place.answers = Answers()
    grant = Trust(str(place.home)).grant_of(os.path.realpath(place.work))
    assert grant is not None
    assert [os.path.basename(os.path.dirname(path)) for path in grant.files] == ["a"]
    for kind in ("same", "changed"):
        for path in (place.home / "sessions").rglob("*"):
            if path.is_file():
                path.unlink()
        if kind == "changed":
            place.write("a/AGENTS.md", "evil.")
        assert len(place.notices("a/f.py")) == (1 if kind == "same" else 0)
    assert "+evil." in place.answers.asked[0].effects.preview


def test_a_no_leaves_it_out_for_the_session_and_is_said_once(place: Touched) -> None:
    place.answers = Answers()
    assert place.notices("a/f.py", "a/b/f.py", "a/f.py", "c/f.py") == []
    assert len(place.answers.asked) == 3, "each file once"
    assert len([body for body in place.told if body.level == "warning"]) == 1


def test_packages_other_repositories_and_ignored_folders_say_nothing(place: Touched) -> None:
    place.write(".gitignore", "ignored/\ntracked/\n")
    place.write("nested/.git/HEAD", "ref: refs/heads/main\n")
    for words in (["init", "-q"], ["add", "-f", "tracked/AGENTS.md"]):
        subprocess.run(["git", *words], cwd=place.work, check=True)
    told = place.notices("node_modules/p/f.py", "nested/f.py", "nested/in/f.py", "ignored/f.py", "tracked/f.py")
    assert [text.partition("told of ")[2] for text in told] == ["tracked."]
    assert len(place.answers.asked) == 1


def test_a_link_and_a_huge_file_are_left_out_and_said(place: Touched, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (place.work / "a" / "AGENTS.md").unlink()
    (place.work / "a" / "AGENTS.md").symlink_to(tmp_path / "secret")
    place.write("c/AGENTS.md", "x" * 300_000)
    assert place.notices("a/f.py", "c/f.py") == []
    told = " ".join(body.text for body in place.told)
    assert "symbolic link" in told
    assert "more than 256 KiB" in told


def test_what_it_takes_in_comes_with_it_but_nothing_from_outside(place: Touched, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside")
    place.write("a/AGENTS.md", f"see @more.md and @{tmp_path}/outside.md")
    place.write("a/more.md", "more of a")
    (told,) = place.notices("a/f.py")
    assert "more of a" in told
    assert "more of a" in place.answers.asked[0].effects.preview
    assert "\noutside" not in told


def test_rules_come_with_the_files_they_name_once(place: Touched) -> None:
    place.trust = True
    place.write(".agenyx/rules/py.md", "---\npaths: [a/**/*.py]\n---\nin a")
    place.write("../person/.agenyx/rules/own.md", "---\npaths: c/*.py\n---\nmine in c")
    told = place.notices("c/f.py", "a/b/f.py", "a/f.py")
    rules = [text for text in told if "for files such as" in text]
    assert ["mine in c" in rules[0], "in a" in rules[1], len(rules)] == [True, True, 2]
    assert place.answers.asked == [], "trusted for the run"


def test_after_a_summary_it_may_be_told_again(place: Touched) -> None:
    place.script = [
        calls(call("Read", "1", file_path="a/f.py")),
        say("one"),
        calls(call("Read", "2", file_path="a/f.py")),
        say("two"),
    ]

    async def work(conversation: Conversation, session: Session) -> list[int]:
        counts: list[int] = []
        for prompt in ("first", "again"):
            await conversation.prompt(prompt)
            users = [entry.text for entry in session.state.entries if isinstance(entry, User)]
            counts.append(sum("told of a." in text for text in users))
            if prompt == "first":
                assert await conversation.compact() is not None
        return counts

    assert place.run(work) == [1, 2]


def test_in_a_new_process_it_is_known(place: Touched) -> None:
    assert len(place.notices("a/f.py")) == 1
    place.answers = Answers()
    place.script = [
        calls(call("Read", "ra/f.py", file_path="a/f.py")),
        say("done"),
        calls(call("Read", "x", file_path="a/f.py")),
        say("done"),
    ]

    async def work(conversation: Conversation, session: Session) -> int:
        await conversation.prompt("once more")
        users = [entry.text for entry in session.state.entries if isinstance(entry, User)]
        return sum("told of a." in text for text in users)

    assert place.run(work) == 1
    assert place.answers.asked == []


def test_a_subagent_is_told_what_it_touches_and_its_parent_is_not(place: Touched) -> None:
    def first(request: Request) -> Assistant:
        words = " ".join(entry.text for entry in request.entries if isinstance(entry, User))
        if "look at a" in words:
            return calls(*(call("Read", f"r{name}", file_path=f"{name}/f.py") for name in ("a", "c")))
        return calls(call("Task", "t", description="look at a", prompt="look at a"))

    place.script = model = Scripted([first, say("done")])  # type: ignore[assignment]

    async def work(conversation: Conversation, session: Session) -> list[str]:
        await conversation.prompt("go")
        return [entry.text for entry in session.state.entries if isinstance(entry, User)]

    assert not any("told of" in text for text in place.run(work))
    child = next(
        request
        for request in model.requests
        if any("look at a" in entry.text for entry in request.entries if isinstance(entry, User))
        and any(isinstance(entry, Step) for entry in request.entries)
    )
    told = [entry.text for entry in child.entries if isinstance(entry, User) and "told of" in entry.text]
    assert len(told) == 2
    assert len(place.answers.asked) == 2
