"""Files go back and forth over the points of a session: by tools, by commands, in git trees and outside of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenyx.app import rewind
from agenyx.app.start import open_root
from agenyx.core.errors import UsageError
from agenyx.core.ids import RandomIds
from agenyx.session import load
from agenyx.session.checkpoints import Blobs, history, stored
from agenyx.session.records import Checkpoint
from agenyx.session.session import Session
from agenyx.session.store import FileStore
from agenyx.workspace.birth import GRAIN
from support.conversation import NOON, open_scripted
from support.parts import Answers
from support.repository import git, repository
from support.scripted import Scripted, call, calls, say

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Place:
    """A workspace, a home, and the one session of both."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.work.mkdir(exist_ok=True)
        self.script: list[Any] = []
        self.events: list[Any] = []

    @property
    def directory(self) -> str:
        return os.path.join(load.sessions_of(str(self.home), str(self.work)), "only")

    def turn(self, *made: Any) -> list[str]:
        """One prompt, in a process of its own as it were; each of `made` is a step. Returns the results' texts."""

        async def run() -> list[str]:
            self.script += [calls(*(one if isinstance(one, tuple) else (one,))) for one in made]
            self.script.append(say("done"))
            conversation, session = open_scripted(
                self.script, self.home, self.work, events=self.events, approver=Answers(*["allow"] * 9)
            )
            before = len(session.state.entries)
            try:
                await conversation.prompt(f"turn {len(self.script)}")
                steps = session.state.entries[before:]
                return [result.text for step in steps for result in getattr(step, "results", ())]
            finally:
                await conversation.close()

        return asyncio.run(run())

    def root(self) -> Any:
        return open_root(str(self.work), str(self.home), str(self.home))

    def plan(self, number: int | str) -> rewind.Plan:
        found = history(stored(self.directory))
        return rewind.plan(self.root(), self.directory, found, rewind.point_of(found, str(number)))

    def go(self, number: int | str) -> dict[str, str]:
        """Rewind; what was done by path."""
        chosen = self.plan(number)
        store = FileStore(self.directory)
        session = Session("only", store, load.load(self.directory), self.directory, RandomIds(), lambda: NOON)
        try:
            done = rewind.apply(chosen, session, self.root())
        finally:
            session.close()
        return {step.shown: f"{step.action} {step.why}".strip() for step in done.steps}

    def tree(self) -> dict[str, Any]:
        """What stands in the workspace: content and permissions of files, targets of links, None for folders."""
        found: dict[str, Any] = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if name.split("/")[0] == ".git":
                continue
            if path.is_symlink():
                found[name] = os.readlink(path)
            else:
                found[name] = None if path.is_dir() else (path.read_bytes(), path.stat().st_mode & 0o777)
        return found

    def notices(self) -> str:
        return "\n".join(getattr(event.body, "text", "") for event in self.events)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def write(path: str, content: str) -> Any:
    return call("Write", file_path=path, content=content)


def edit(path: str, old: str, new: str) -> Any:
    return call("Edit", file_path=path, old_string=old, new_string=new)


def bash(command: str) -> Any:
    return call("Bash", command=command)


def test_edits_creations_deletions_and_renames_go_back_and_forth(place: Place) -> None:
    (place.work / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (place.work / "a.txt").chmod(0o640)
    (place.work / "old").mkdir()
    (place.work / "old" / "b.bin").write_bytes(bytes(range(256)))
    (place.work / "link").symlink_to("a.txt")
    trees = [place.tree()]
    place.turn(call("Read", file_path="a.txt"), edit("a.txt", "one", "ONE"), write("new/deep/c.txt", "c\n"))
    trees.append(place.tree())
    place.turn(bash("mv a.txt moved.txt && rm -r old && rm link"))
    trees.append(place.tree())
    place.turn(bash("mkdir -p x/y && echo hi > x/y/z && chmod 700 moved.txt"), write("new/deep/c.txt", "d\n"))
    trees.append(place.tree())
    assert len({str(tree) for tree in trees}) == 4
    assert place.go(2) and place.tree() == trees[1]
    assert place.go(1) and place.tree() == trees[0]
    assert place.go("r1") and place.tree() == trees[3]
    assert place.go(3) and place.tree() == trees[2]
    assert place.go(1) and place.tree() == trees[0]
    assert [point.kind for point in history(stored(place.directory)).points] == ["prompt"] * 3 + ["rewind"] * 5


def test_files_go_back_and_forth_between_the_branches_of_a_conversation(place: Place) -> None:
    (place.work / "a.txt").write_text("one\n")
    first = [calls(bash("echo A > a.txt; echo x > only-a")), say("done")]
    second = [calls(bash("echo B > a.txt; mkdir b; mv only-a b/moved")), say("done")]

    async def scenario() -> None:
        provider = Scripted(first)
        conversation, _ = open_scripted(provider, place.home, place.work)
        files, trees = conversation.files(), [place.tree()]
        await conversation.prompt("one way")
        trees.append(place.tree())
        conversation.rewind(conversation.tree().turns[0].before)
        files.apply(files.plan("1"))
        assert place.tree() == trees[0]
        provider.script = list(second)
        await conversation.prompt("another way")
        trees.append(place.tree())
        assert trees[2]["a.txt"][0] == b"B\n" and trees[1]["a.txt"][0] == b"A\n"
        files.apply(files.plan("r1"))  # as the first branch left it
        assert place.tree() == trees[1]
        files.apply(files.plan("r2"))
        assert place.tree() == trees[2]
        files.apply(files.plan("1"))
        assert place.tree() == trees[0]
        assert [point.name for point in files.history().points] == ["1", "r1", "2", "r2", "r3", "r4"]
        await conversation.close()

    asyncio.run(scenario())


def test_the_plan_lists_what_would_happen_with_diffs_and_changes_nothing(place: Place) -> None:
    (place.work / "a.txt").write_text("one\n")
    place.turn(call("Read", file_path="a.txt"), edit("a.txt", "one", "two"), write("b.txt", "b\n"))
    before = place.tree()
    steps = {step.shown: step for step in place.plan(1).steps}
    assert {name: step.action for name, step in steps.items()} == {"a.txt": "restore", "b.txt": "remove"}
    assert "-two\n+one" in steps["a.txt"].diff and "-b" in steps["b.txt"].diff
    assert place.tree() == before
    with pytest.raises(UsageError, match="no point 9"):
        place.plan(9)


def test_what_somebody_else_changed_or_made_stays(place: Place) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (place.work / name).write_text("one\n")
    place.turn(bash("echo two > a.txt; echo two > b.txt; rm c.txt; mkdir d; echo d > d/ours"))
    (place.work / "a.txt").write_text("mine\n")
    (place.work / "c.txt").write_text("mine again\n")
    (place.work / "d" / "theirs").write_text("mine\n")
    done = place.go(1)
    assert "not by this session" in done["a.txt"] and "not by this session" in done["c.txt"]
    assert done["b.txt"] == "restore" and done["d/ours"] == "remove"
    assert done["d"].startswith("leave it holds what this session did not make")
    assert (place.work / "a.txt").read_text() == "mine\n" and (place.work / "c.txt").read_text() == "mine again\n"
    assert (place.work / "b.txt").read_text() == "one\n" and (place.work / "d" / "theirs").exists()
    assert not (place.work / "d" / "ours").exists()


def aged(work: Path) -> None:
    """Wait until git's settings are older than any call: what git ignores may have changed by one of this moment."""
    own = [path for path in (work / ".git" / "config", work / ".git" / "info" / "exclude") if path.exists()]
    while max(path.stat().st_ctime_ns for path in own) >= time.time_ns() - 2 * GRAIN:
        time.sleep(0.002)


def committed(place: Place) -> None:
    repository(place.work)
    (place.work / ".gitignore").write_text("build/\n*.log\n")
    (place.work / "clean.txt").write_bytes(b"clean\n")
    (place.work / "run.sh").write_text("#!/bin/sh\n")
    (place.work / "run.sh").chmod(0o755)
    (place.work / "gone.txt").write_text("gone\n")
    (place.work / "dirty.txt").write_text("first\n")
    git(place.work, "add", ".")
    git(place.work, "commit", "-q", "-m", "first")
    (place.work / "dirty.txt").write_text("not committed\n")
    (place.work / "untracked.txt").write_text("untracked\n")
    (place.work / "build").mkdir()
    (place.work / "build" / "out").write_text("ignored\n")
    aged(place.work)


SCRIPT = """
import os, pathlib
for name in ("clean.txt", "dirty.txt", "untracked.txt", "run.sh", "build/out"):
    pathlib.Path(name).write_text("changed by a program\\n")
os.remove("gone.txt")
os.makedirs("fresh/deep")
pathlib.Path("fresh/deep/new.txt").write_text("new\\n")
pathlib.Path("x.log").write_text("log\\n")
"""


@needs_git
@pytest.mark.parametrize("commit", [False, True])
def test_in_a_git_tree_what_a_program_changed_is_known_as_well(place: Place, commit: bool) -> None:
    committed(place)
    (place.work.parent / "p.py").write_text(SCRIPT)
    trees = [place.tree()]
    after = " && git add -A && git -c user.name=x -c user.email=x@y commit -qm more" if commit else ""
    place.turn(bash(f"python3 {place.work.parent}/p.py{after}"))
    trees.append(place.tree())
    done = place.go(1)
    assert set(done) == {
        *("clean.txt", "dirty.txt", "untracked.txt", "run.sh", "gone.txt"),
        *("fresh", "fresh/deep", "fresh/deep/new.txt"),
    }
    assert not any(what.startswith("leave") for what in done.values())
    ignored = {"build", "build/out", "x.log"}  # git does not show them, so nothing of them is touched
    back = place.tree()
    assert {k: v for k, v in back.items() if k not in ignored} == {
        k: v for k, v in trees[0].items() if k not in ignored
    }
    assert back["build/out"] == trees[1]["build/out"] and "x.log" in back
    place.go("r1")
    assert place.tree() == trees[1]


@needs_git
def test_a_file_that_is_no_longer_ignored_does_not_pass_for_a_new_one(place: Place) -> None:
    committed(place)
    (place.work / "kept.log").write_text("older\n")
    place.turn(bash("python3 -c \"open('.gitignore','w'); open('kept.log','a').write('more')\""))
    done = place.go(1)
    assert "was not kept" in done["kept.log"], done
    assert (place.work / "kept.log").read_text() == "older\nmore"
    assert (place.work / ".gitignore").read_text() == "build/\n*.log\n"


@needs_git
def test_what_a_program_moved_goes_back_unless_it_came_from_where_git_does_not_look(place: Place) -> None:
    committed(place)
    (place.work.parent / "m.py").write_text(
        "import os\nos.rename('clean.txt', 'moved.txt')\nos.rename('build/out', 'kept.txt')\n"
    )
    made, deadline = (place.work / "build" / "out").stat().st_ctime_ns, time.monotonic() + 30
    while time.time_ns() < made + 60_000_000:  # what was made in the same instant cannot be told from new
        assert time.monotonic() < deadline
    place.turn(bash(f"python3 {place.work.parent}/m.py"))
    done = place.go(1)
    assert (done["moved.txt"], done["clean.txt"]) == ("remove", "restore")
    assert "was not kept" in done["kept.txt"] and (place.work / "kept.txt").read_text() == "ignored\n"


@needs_git
def test_uncommitted_work_goes_to_a_private_reference_before_git_discards_it(place: Place) -> None:
    committed(place)
    git(place.work, "mv", "clean.txt", "staged.txt")
    before, status = place.tree(), git(place.work, "status", "--porcelain")
    (text,) = place.turn(bash("git reset -q --hard && git clean -qfd"))
    assert not (place.work / "untracked.txt").exists() and (place.work / "dirty.txt").read_text() == "first\n"
    name = "refs/agenyx/only/1"
    assert f"git stash apply --index {name}" in text and f"git stash apply --index {name}" in str(place.events)
    assert git(place.work, "stash", "list") == ""
    git(place.work, "stash", "apply", "--index", name)
    assert (place.tree(), git(place.work, "status", "--porcelain")) == (before, status)
    place.turn(bash("git reset -q --hard"))
    assert git(place.work, "for-each-ref", "--format=%(refname)", "refs/agenyx").split() == [name, f"{name[:-1]}2"]
    git(place.work, "reset", "-q", "--hard")
    (text,) = place.turn(bash("git reset -q --hard"))
    assert "refs/agenyx" not in text or "untracked" in git(place.work, "status", "--porcelain")


@needs_git
def test_a_rewind_also_undoes_a_hard_reset(place: Place) -> None:
    committed(place)
    before = place.tree()
    place.turn(bash("git reset -q --hard && git clean -qfd"))
    assert place.tree() != before
    place.go(1)
    assert place.tree() == before


def test_a_crash_in_the_middle_leaves_what_is_unclear(place: Place) -> None:
    (place.work / "a.txt").write_text("one\n")
    (place.work / "b.txt").write_text("one\n")
    place.turn(bash("echo two > a.txt; echo two > b.txt"))
    path = Path(place.directory, "transcript.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    begun = next(at for at, line in enumerate(lines) if b'"effects_begun"' in line)
    path.write_bytes(b"".join(lines[: begun + 1]))
    (place.work / "a.txt").write_text("half of it\n")
    (place.work / "b.txt").write_text("one\n")
    (step,) = place.plan(1).steps
    assert (step.shown, step.action) == ("a.txt", "leave") and "stopped" in step.why
    place.go(1)
    assert (place.work / "a.txt").read_text() == "half of it\n"


def test_a_copy_that_is_gone_or_damaged_is_told(place: Place) -> None:
    for name in ("a.txt", "b.txt"):
        (place.work / name).write_text(f"one {name}\n")
    place.turn(bash("echo two > a.txt; echo two > b.txt"))
    blobs = Path(place.directory, "blobs")
    for blob in blobs.iterdir():
        assert blob.stat().st_mode & 0o777 == 0o600
        if blob.read_bytes() == b"one a.txt\n":
            blob.unlink()
        elif blob.read_bytes() == b"one b.txt\n":
            blob.write_bytes(b"else\n")
    assert all("copy" in step.why for step in place.plan(1).steps) and len(place.plan(1).steps) == 2


def test_large_files_are_told_and_left(place: Place) -> None:
    (place.work / "big").write_bytes(b"x" * ((8 << 20) + 1))
    place.turn(bash("echo small > big"))
    assert "big is not kept for a rewind: it is larger than 8 MiB" in place.notices()
    (step,) = place.plan(1).steps
    assert step.action == "leave" and "copy" in step.why


def test_protected_files_are_neither_copied_nor_touched(place: Place) -> None:
    (place.work / ".env").write_text("KEY=very-secret-value\n")
    place.turn(bash("echo KEY=other > .env"))
    blobs = Path(place.directory, "blobs")
    assert not any(b"very-secret" in blob.read_bytes() for blob in (blobs.iterdir() if blobs.is_dir() else ()))
    assert place.go(1) == {".env": "leave it is protected"}


def test_calls_that_only_look_leave_no_trace(place: Place) -> None:
    (place.work / "a.txt").write_text("one\n")
    place.turn(call("Read", file_path="a.txt"), call("LS"), bash("ls && cat a.txt"))
    assert not any(isinstance(record.body, Checkpoint) for record in stored(place.directory))
    assert not Path(place.directory, "blobs").exists()


def test_a_link_in_the_way_is_not_followed(place: Place) -> None:
    outside = place.work.parent / "outside"
    outside.mkdir()
    (place.work / "d").mkdir()
    (place.work / "d" / "a.txt").write_text("one\n")
    place.turn(bash("rm d/a.txt"))
    (place.work / "d").rmdir()
    (place.work / "d").symlink_to(outside)
    done = place.go(1)
    assert done["d/a.txt"].startswith("leave") and not list(outside.iterdir())


NAMES = ("a", "b", "d/a", "d/e/b")
ACTS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.binary(max_size=20)),
    st.tuples(st.just("rm -rf"), st.sampled_from((*NAMES, "d", "d/e")), st.just(b"")),
    st.tuples(st.just("mv"), st.sampled_from(NAMES), st.sampled_from((b"a", b"c", b"d/f"))),
    st.tuples(st.just("chmod"), st.sampled_from(NAMES), st.sampled_from((b"600", b"755"))),
    st.tuples(st.just("ln -sf"), st.sampled_from(NAMES), st.just(b"target")),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.lists(ACTS, min_size=1, max_size=4), min_size=1, max_size=4), jumps=st.data())
def test_any_sequence_goes_back_to_each_point_byte_for_byte(
    turns: list[Any], jumps: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    (place.work / "d").mkdir()
    (place.work / "a").write_bytes(b"first")
    (place.work / "d" / "a").write_bytes(b"\x00\xff")
    trees: list[Any] = []
    for acts in turns:
        trees.append(place.tree())
        made: list[Any] = []
        for kind, name, value in acts:
            if kind == "write":
                octal = "".join(f"\\{byte:03o}" for byte in value)
                made.append(bash(f"mkdir -p {os.path.dirname(name) or '.'} && printf '{octal}' > {name}"))
            elif kind == "ln -sf":
                made.append(bash(f"ln -sf {value.decode()} {name}"))
            elif kind == "chmod":
                made.append(bash(f"chmod {value.decode()} {name}"))
            else:
                made.append(bash(f"{kind} {name} {value.decode()}"))
        place.turn(*made)
    trees.append(place.tree())
    for _ in range(3):
        number = jumps.draw(st.integers(1, len(turns)))
        place.go(number)
        assert place.tree() == trees[number - 1]


@needs_git
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.lists(ACTS, min_size=1, max_size=5), min_size=1, max_size=3), jumps=st.data())
def test_any_program_in_a_git_tree_is_undone_byte_for_byte(
    turns: list[Any], jumps: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What a program does is seen by git alone, which knows no empty folders and one bit of the permissions.

    A file that a program changed and then moved might come from where git does not look: it is left, by name.
    """
    place = Place(tmp_path_factory.mktemp("any"))
    repository(place.work)
    (place.work / "d").mkdir()
    (place.work / "a").write_bytes(b"first")
    (place.work / "d" / "a").write_bytes(b"\x00\xff")
    git(place.work, "add", "a")
    git(place.work, "commit", "-q", "-m", "first")
    (place.work / "d" / "f").write_bytes(b"not committed")
    aged(place.work)
    trees: list[Any] = []

    def contents() -> dict[str, Any]:
        return {name: was[0] if isinstance(was, tuple) else was for name, was in place.tree().items() if was}

    for number, acts in enumerate(turns):
        trees.append(contents())
        lines = ["set +e"]
        for kind, name, value in acts:
            octal = "".join(f"\\{byte:03o}" for byte in value)
            folder = os.path.dirname(name) or "."
            lines.append(
                f"mkdir -p {folder}; printf '{octal}' > {name}"
                if kind == "write"
                else f"ln -sf {value.decode()} {name}"
                if kind == "ln -sf"
                else f"chmod {value.decode()} {name}"
                if kind == "chmod"
                else f"{kind} {name} {value.decode()}"
            )
            if kind == "mv":
                lines.append("git add -A; git -c user.name=x -c user.email=x@y commit -qm more")
        script = place.work.parent / f"script{number}.py"
        script.write_text(f"import subprocess\nsubprocess.run(['sh', '-c', {chr(10).join(lines)!r}])\n")
        place.turn(bash(f"python3 {script}"))
    for _ in range(3):
        number = jumps.draw(st.integers(1, len(turns)))
        left = {name for name, what in place.go(number).items() if what.startswith("leave")}
        assert left <= {"c", "d/f", "d"}, "only what a program moved there may be of unknown origin"
        back, wanted = contents(), trees[number - 1]
        assert {k: v for k, v in back.items() if k not in left} == {k: v for k, v in wanted.items() if k not in left}


def test_the_copies_of_a_session_have_a_limit_and_the_oldest_go_first(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path), total=1000)
    names = [blobs.put(bytes([n]) * 300) for n in range(3)]
    for at, name in enumerate(names):
        os.utime(tmp_path / "blobs" / name, (at, at))
    assert blobs.put(b"\0" * 300) == names[0], "it is there already, and used last now"
    last = blobs.put(b"z" * 300)
    assert [blobs.get(name) is not None for name in (*names, last)] == [True, False, True, True]
