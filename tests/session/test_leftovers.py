"""What a killed copy leaves, and sessions in which nothing was said: removed, and never anything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenyx.config.home import workspace_key
from agenyx.core.messages import Text, User
from agenyx.session.fork import fork
from agenyx.session.leftovers import leftovers
from agenyx.session.load import load
from agenyx.session.records import Opened, Prompt
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import INTENT, LOCK, TRANSCRIPT, UNFINISHED, FileStore
from support.mock import agenyx, command_env
from support.parts import CountingIds

HANGS = """
import sys, agenyx.session.fork as forking
copy = forking._copy_records
def hang(*args):
    copy(*args)
    print("copied", flush=True)
    sys.stdin.read()
forking._copy_records = hang
forking.fork(sys.argv[1], sys.argv[2])
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def partition(work: Path, tmp_path: Path) -> Path:
    """The sessions of `work`, with one in it that has an output of its own."""
    folder = tmp_path / ".agenyx" / "sessions" / workspace_key(str(work))
    place = folder / "one"
    session = Session("one", FileStore(str(place)), State(), str(place), CountingIds(), lambda: 1.0)
    session.append(Opened("one", str(work), "1"), Prompt(User((Text("hello"),), "typed")), turn="t1")
    (place / "output").mkdir()
    (place / "output" / "c1.txt").write_text("the whole")
    session.close()
    return folder


@pytest.fixture
def copying(partition: Path) -> Iterator[subprocess.Popen[str]]:
    """A process in the middle of a copy to `two`: all is there, and the marker too."""
    command = [sys.executable, "-c", HANGS, str(partition / "one"), str(partition / "two")]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "copied\n"
    yield child
    child.kill()
    child.communicate()


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.wait()


def names(partition: Path) -> list[str]:
    return sorted(path.name for path in partition.iterdir())


def test_a_copy_in_progress_stays_and_a_killed_one_goes_with_prune(
    partition: Path, copying: subprocess.Popen[str], work: Path, tmp_path: Path
) -> None:
    env = command_env(tmp_path)

    def prune(*argv: str) -> list[dict[str, str]]:
        done = agenyx("sessions", "prune", "--json", *argv, cwd=work, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["sessions"]

    assert prune("--yes") == [], "its process is alive"
    assert (partition / "two" / UNFINISHED).exists() and (partition / "two" / TRANSCRIPT).exists()
    kill(copying)
    assert prune() == [{"session_id": "two", "reason": "incomplete", "status": "would_delete"}]
    assert (partition / "two").exists()
    assert prune("--yes") == [{"session_id": "two", "reason": "incomplete", "status": "deleted"}]
    assert names(partition) == ["one"] and not load(str(partition / "one")).problems
    assert "nothing to delete" in agenyx("sessions", "prune", "--yes", cwd=work, env=env).stdout


def test_the_next_copy_clears_away_what_a_killed_one_left(partition: Path, copying: subprocess.Popen[str]) -> None:
    fork(str(partition / "one"), str(partition / "three"))
    assert names(partition) == ["one", "three", "two"], "that one is being made"
    kill(copying)
    fork(str(partition / "one"), str(partition / "four"))
    assert names(partition) == ["four", "one", "three"]


def test_a_copy_that_came_to_its_end_is_a_session(partition: Path, copying: subprocess.Popen[str]) -> None:
    copying.communicate("")
    assert copying.returncode == 0
    assert leftovers(str(partition), remove=True) == []
    assert names(partition) == ["one", "two"] and len(load(str(partition / "two")).entries) == 1


def test_a_removal_that_breaks_off_is_taken_up_again(
    partition: Path, copying: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(copying)
    with monkeypatch.context() as patched:
        patched.setattr("agenyx.session.leftovers.shutil.rmtree", failing)
        assert leftovers(str(partition), remove=True) == []
    left = partition / "two"
    assert (left / UNFINISHED).exists() and not (left / TRANSCRIPT).exists(), "the marker goes last"
    assert leftovers(str(partition), remove=True) == [("two", "incomplete")]
    assert names(partition) == ["one"]


def failing(*_: object, **__: object) -> None:
    raise OSError(5, "Input/output error")


def made(folder: Path, *files: str, ago: float) -> None:
    folder.mkdir()
    for name in files:
        (folder / name).touch()
    os.utime(folder, (time.time() - ago,) * 2)


def test_sessions_in_which_nothing_was_said_go_once_nobody_can_be_at_them(partition: Path) -> None:
    day = 86_400.0
    made(partition / "said-nothing", LOCK, TRANSCRIPT, ago=day)
    made(partition / "only-a-folder", ago=day)
    made(partition / "just-now", LOCK, TRANSCRIPT, ago=5)
    made(partition / "holds-more", LOCK, TRANSCRIPT, "notes.txt", ago=day)
    made(partition / "being-deleted", LOCK, TRANSCRIPT, INTENT, ago=day)
    made(partition / "old-copy-no-lock", UNFINISHED, ago=day)
    made(partition / "new-copy-no-lock", UNFINISHED, ago=5)
    held = FileStore(str(partition / "held"))
    os.utime(partition / "held", (time.time() - day,) * 2)
    (partition / "link").symlink_to(partition / "only-a-folder")
    (partition / ".hidden").mkdir()
    looked = leftovers(str(partition))
    assert looked == [("old-copy-no-lock", "incomplete"), ("only-a-folder", "empty"), ("said-nothing", "empty")]
    before = set(names(partition))
    assert leftovers(str(partition), remove=True) == looked
    held.close()
    assert before - set(names(partition)) == {name for name, _ in looked}
