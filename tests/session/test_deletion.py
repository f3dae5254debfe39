"""Show 7: a session is deleted wholly or not at all, killed at each step and tried again with the same revision."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.session import receipts
from agenyx.session.deletion import delete, unfinished
from agenyx.session.inventory import sessions
from agenyx.session.revision import revision_of
from agenyx.session.store import INTENT, TRANSCRIPT, FileStore
from support.stored import store_session, turn

# Runs a deletion in a process of its own that ends itself by SIGKILL before or after its n-th call of the system. It is
# forked for each n from one that has loaded everything already.
KILLED = """
import os, signal, sys
from agenyx.session.deletion import delete
import fcntl, shutil
NAMES = ("open", "close", "write", "fsync", "rename", "unlink", "rmdir", "mkdir", "stat", "ftruncate", "pwrite")

def shim(point, after):
    count = 0
    def wrapped(real):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            mine = count == point
            if mine and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return real(*args, **kwargs)
            finally:
                if mine and after:
                    os.kill(os.getpid(), signal.SIGKILL)
        return call
    for name in NAMES:
        setattr(os, name, wrapped(getattr(os, name)))
    fcntl.flock = wrapped(fcntl.flock)
    return lambda: count

for line in sys.stdin:
    partition, session, revision, point, after = line.split()
    child = os.fork()
    if child == 0:
        counted = shim(int(point), after == "after")
        status = delete(partition, session, revision)
        sys.stdout.write(f"{status} {counted()}\\n")
        sys.stdout.flush()
        os._exit(0)
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        sys.stdout.write(f"killed {os.WTERMSIG(ended)}\\n")
        sys.stdout.flush()
"""


class Killer:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, partition: Path, name: str, revision: str, point: int = 0, when: str = "-") -> tuple[str, int]:
        """What it came to, and how many steps it took or the signal that ended it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{partition} {name} {revision} {point} {when}\n")
        self._process.stdin.flush()
        status, number = self._process.stdout.readline().split()
        return status, int(number)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def make(home: Path, work: Path, name: str = "doomed") -> tuple[Path, str]:
    """A session with files and folders beside its transcript; its folder and its revision."""
    directory = store_session(home, work, name, [turn("one"), turn("two", args="{}")])
    (directory / "output").mkdir()
    (directory / "output" / "call.txt").write_text("long")
    (directory / "shell").mkdir()
    (directory / "title").write_text("a name")
    return directory, revision(directory)


def revision(directory: Path) -> str:
    folder = os.open(directory, os.O_RDONLY)
    try:
        return revision_of(folder)
    finally:
        os.close(folder)


def left(partition: Path) -> list[str]:
    """What is in the folder of the sessions besides the deletion's own books."""
    return sorted(name for name in os.listdir(partition) if name not in (receipts.REGISTRY, receipts.RECEIPTS))


def listed(home: Path, work: Path) -> list[str]:
    return [one.id for one in sessions(str(home), str(work))]


def test_a_session_is_gone_and_the_same_again_says_so(tmp_path: Path) -> None:
    directory, seen = make(tmp_path / "home", tmp_path)
    store_session(tmp_path / "home", tmp_path, "other", [turn("stay")])
    partition = str(directory.parent)
    assert delete(partition, "doomed", seen) == "deleted"
    assert left(directory.parent) == ["other"]
    assert delete(partition, "doomed", seen) == "deleted"
    assert delete(partition, "never", seen) == "not_found"
    other = seen[:-1] + ("A" if seen[-1] != "A" else "B")
    assert delete(partition, "doomed", other) == "stale"


def test_killed_at_each_step_and_tried_again(tmp_path: Path) -> None:
    home, killer = tmp_path / "home", Killer()
    hidden = shown = 0
    try:
        directory, seen = make(home, tmp_path)
        status, steps = killer.run(directory.parent, "doomed", seen)
        assert status == "deleted"
        assert steps > 40, "the shim sees the steps"
        for when in ("before", "after"):
            for point in range(1, steps + 1):
                where = f"{when} step {point}"
                work = tmp_path / f"{when}{point}"  # a folder of its own, so that each deletion is the first there
                directory, seen = make(home, work)
                partition = directory.parent
                assert killer.run(partition, "doomed", seen, point, when) == ("killed", signal.SIGKILL), where
                if listed(home, work):
                    shown += 1
                    assert revision(directory) == seen, f"{where}: what is still listed is untouched"
                elif directory.exists():
                    hidden += 1
                    with pytest.raises(AgenyxError, match="being deleted"):
                        FileStore(str(directory))
                assert delete(str(partition), "doomed", seen) == "deleted", where
                assert left(partition) == [], where
                assert delete(str(partition), "doomed", seen) == "deleted", where
        assert shown > 10
        assert hidden > 10
    finally:
        killer.close()


def test_killed_again_while_it_is_finished(tmp_path: Path) -> None:
    home, killer = tmp_path / "home", Killer()
    try:
        directory, seen = make(home, tmp_path)
        _, steps = killer.run(directory.parent, "doomed", seen)
        for point in range(3, steps, 7):
            work = tmp_path / f"twice{point}"
            directory, seen = make(home, work)
            assert killer.run(directory.parent, "doomed", seen, point, "after")[0] == "killed"
            again = 3
            while killer.run(directory.parent, "doomed", seen, again, "after")[0] == "killed":
                again += 4
            assert left(directory.parent) == []
            assert delete(str(directory.parent), "doomed", seen) == "deleted"
    finally:
        killer.close()


def test_what_changed_is_not_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    directory, seen = make(home, tmp_path)
    store_session(home, tmp_path, "doomed", [turn("three")])
    assert delete(str(directory.parent), "doomed", seen) == "stale"
    assert listed(home, tmp_path) == ["doomed"]
    assert not (directory / INTENT).exists()


def test_another_session_of_the_same_id_is_another_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    directory, seen = make(home, tmp_path)
    content = (directory / TRANSCRIPT).read_bytes()
    assert delete(str(directory.parent), "doomed", seen) == "deleted"
    directory.mkdir(0o700)
    (directory / TRANSCRIPT).write_bytes(content)
    assert delete(str(directory.parent), "doomed", seen) == "stale"
    assert listed(home, tmp_path) == ["doomed"]


def test_a_session_in_use_is_not_deleted(tmp_path: Path) -> None:
    directory, seen = make(tmp_path / "home", tmp_path)
    store = FileStore(str(directory))
    assert delete(str(directory.parent), "doomed", seen) == "session_locked"
    store.close()
    assert delete(str(directory.parent), "doomed", seen) == "deleted"


def test_an_unfinished_deletion_is_found_and_its_session_cannot_be_opened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    directory, seen = make(home, tmp_path)
    folder = os.open(directory, os.O_RDONLY)
    receipts.write_intent(folder, ("doomed", seen))
    os.close(folder)
    assert listed(home, tmp_path) == []
    with pytest.raises(AgenyxError, match="being deleted"):
        FileStore(str(directory))
    assert unfinished(str(directory.parent)) == [("doomed", seen)]
    other = seen[:-1] + ("A" if seen[-1] != "A" else "B")
    assert delete(str(directory.parent), "doomed", other) == "stale"
    assert delete(str(directory.parent), "doomed", seen) == "deleted"
    assert unfinished(str(directory.parent)) == []


def test_what_cannot_be_removed_stays_unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, seen = make(tmp_path / "home", tmp_path)
    remove = os.rmdir

    def refused(path: str, **kwargs: Any) -> None:
        if path == "output":
            raise PermissionError(13, "no")
        remove(path, **kwargs)

    monkeypatch.setattr(os, "rmdir", refused)
    assert delete(str(directory.parent), "doomed", seen) == "delete_incomplete"
    assert len(left(directory.parent)) == 1
    assert listed(tmp_path / "home", tmp_path) == []
    monkeypatch.undo()
    assert delete(str(directory.parent), "doomed", seen) == "deleted"
    assert left(directory.parent) == []


def test_links_inside_are_removed_and_not_followed(tmp_path: Path) -> None:
    directory, seen = make(tmp_path / "home", tmp_path)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("stay")
    (directory / "shell" / "out").symlink_to(precious)
    assert delete(str(directory.parent), "doomed", seen) == "deleted"
    assert (precious / "file").read_text() == "stay"


@pytest.mark.parametrize("damage", ["intent", "receipt", "link", "open"])
def test_a_damaged_store_is_told(tmp_path: Path, damage: str) -> None:
    directory, seen = make(tmp_path / "home", tmp_path)
    partition = directory.parent
    match damage:
        case "intent":
            (directory / INTENT).write_text("{")
        case "receipt":
            (partition / receipts.RECEIPTS).write_text("")
        case "link":
            directory.rename(tmp_path / "aside")
            directory.symlink_to(tmp_path / "aside")
        case _:
            partition.chmod(0o777)
    assert delete(str(partition), "doomed", seen) in ("store_unsafe", "delete_incomplete")
    assert any(path.name == TRANSCRIPT for path in tmp_path.rglob("*"))


def test_receipts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "RETAINED", 3)
    kept: list[tuple[str, str]] = []
    for number in range(6):
        directory, seen = make(tmp_path / "home", tmp_path, f"s{number}")
        kept.append((directory.name, seen))
        assert delete(str(directory.parent), directory.name, seen) == "deleted"
    assert len(os.listdir(directory.parent / receipts.RECEIPTS)) == 4
    assert delete(str(directory.parent), *kept[-1]) == "deleted"
    assert delete(str(directory.parent), *kept[0]) == "not_found"
