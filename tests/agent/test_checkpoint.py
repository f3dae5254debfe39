"""When checkpoints cannot be taken as they should: the call runs all the same, and the person is told."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.checkpoint import Checkpoints
from agenyx.app.start import open_root
from agenyx.core.events import Output
from agenyx.core.tools import Command, Effects
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.session.checkpoints import Blobs
from agenyx.session.records import Checkpoint
from agenyx.workspace import gitwatch
from support.conversation import open_scripted
from support.repository import git, repository
from support.scripted import call, calls, say

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Keeping:
    """A keeper of a workspace, with what it tells."""

    def __init__(self, folder: Path) -> None:
        self.work, self.directory = folder / "work", folder / "session"
        self.work.mkdir()
        self.told: list[str] = []

    def around(self, effects: Any, act: Any) -> dict[str, tuple[str, str | None]]:
        """The state before and after of each path, by its name."""

        async def run() -> list[Checkpoint]:
            processes = Processes()
            root = open_root(os.path.realpath(self.work), "/nonexistent", "/nonexistent")
            env = child_env({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
            tell = lambda notice: self.told.append(notice.text)  # noqa: E731
            keeper = Checkpoints(root, "s", str(self.directory), processes, env, tell, Blobs(str(self.directory)))
            try:
                first = await keeper.before("call", effects(root))
                assert all(one.after is None for one in first)
                act()
                await keeper.after("call")
                ended = keeper.ended("call")
                assert not keeper.ended("call").records
                assert {one.path for one in first} <= {one.path for one in ended.records}
                return list(ended.records)
            finally:
                await processes.close()

        return {os.path.relpath(one.path, self.work): (one.before, one.after) for one in asyncio.run(run())}


@pytest.fixture
def keeping(tmp_path: Path) -> Keeping:
    return Keeping(tmp_path)


def writes(name: str) -> Any:
    return lambda root: Effects(writes=(root.ref(name, writing=True),))


def program(root: Any) -> Effects:
    return Effects(commands=(Command(("make",), kinds=("runs",)),), script="make")


def test_missing_folders_of_a_new_file_are_taken_as_well(keeping: Keeping) -> None:
    def act() -> None:
        (keeping.work / "d" / "e").mkdir(parents=True)
        (keeping.work / "d" / "e" / "f").write_text("x")

    found = keeping.around(writes("d/e/f"), act)
    assert {name: was for name, (was, _) in found.items()} == {"d": "", "d/e": "", "d/e/f": ""}
    assert (found["d"][1], found["d/e"][1]) == ("folder", "folder") and len(found["d/e/f"][1] or "") == 64


def test_no_place_for_copies_is_told_once_and_stops_nothing(keeping: Keeping) -> None:
    keeping.directory.write_text("a file where the folder should be")
    (keeping.work / "a").write_text("x")
    found = keeping.around(writes("a"), lambda: (keeping.work / "a").write_text("y"))
    assert list(found) == ["a"] and len(keeping.told) == 1 and "a is not kept for a rewind" in keeping.told[0]


@needs_git
def test_a_folder_that_was_empty_before_is_not_taken_for_a_new_one(keeping: Keeping, tmp_path: Path) -> None:
    repository(keeping.work)
    (keeping.work / "a").write_text("x")
    git(keeping.work, "add", ".")
    git(keeping.work, "commit", "-q", "-m", "first")
    (keeping.work / "empty").mkdir()
    os.utime(keeping.work / "empty", (1, 1))

    made, probe, deadline = (keeping.work / "empty").stat().st_ctime_ns, tmp_path / "probe", time.monotonic() + 30
    while probe.write_text("x") and probe.stat().st_ctime_ns < made + 60_000_000:  # until its clock has moved on
        assert time.monotonic() < deadline

    def act() -> None:
        (keeping.work / "empty" / "new").write_text("x")
        (keeping.work / "made").mkdir()
        (keeping.work / "made" / "new").write_text("x")

    found = keeping.around(program, act)
    assert set(found) - {"made"} == {"empty/new", "made/new"}


@needs_git
def test_git_that_fails_to_look_is_asked_no_more(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(keeping.work)
    monkeypatch.setattr(gitwatch, "MOST", 0)
    (keeping.work / "a").write_text("x")
    assert keeping.around(program, lambda: None) == {}
    assert "only where it is named" in keeping.told[0]


def test_a_command_that_is_stopped_leaves_what_it_named_known(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\n")

    async def scenario() -> list[Checkpoint]:
        started = asyncio.Event()

        class Events(list[Any]):
            def append(self, event: Any) -> None:
                super().append(event)
                if isinstance(event.body, Output):
                    started.set()

        script = [calls(call("Bash", command="echo two > a.txt; echo done; sleep 600")), say("x")]
        conversation, session = open_scripted(script, tmp_path / "home", work, events=Events())
        task = asyncio.get_running_loop().create_task(conversation.prompt("go"))
        async with asyncio.timeout(60):
            await started.wait()
        task.cancel()
        assert (await task).outcome.kind == "cancelled"
        found = [record.body for record in session.records() if isinstance(record.body, Checkpoint)]
        await conversation.close()
        return found

    first, last = asyncio.run(scenario())
    assert first.after is None and last.after not in (None, "", first.before) and first.before == last.before
