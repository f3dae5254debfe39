"""The store of project memory: names, bounds, secrets, what a recall brings, and whose project it is."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.core.redact import MASK, Masker
from agenyx.ext import memory as module
from agenyx.ext.memory import Memory, listed, open_memory

NONE = Masker()
DAY = 86_400.0


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(str(tmp_path / "home" / "memory" / "key"), lambda: 200 * DAY)


def put(memory: Memory, name: str, text: str, day: float = 199) -> None:
    memory.remember(name, text, NONE)
    os.utime(memory.path(name), (day * DAY, day * DAY))


def test_keep_read_replace_forget(memory: Memory) -> None:
    assert (memory.there(), memory.all(), memory.section()) == (False, [], "")
    put(memory, "build", "make all\n")
    put(memory, "build", "make everything")
    note = memory.get("build")
    assert note is not None and (note.text, note.stale) == ("make everything", False)
    assert stat.S_IMODE(os.stat(memory.path("build")).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(memory.folder).st_mode) == 0o700
    assert (memory.forget("build"), memory.forget("build"), memory.all()) == (True, False, [])


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "a.b", "ü", "x" * 65, "a\n"])
def test_wrong_names(memory: Memory, name: str) -> None:
    with pytest.raises(AgenyxError, match="its name must be"):
        memory.remember(name, "text", NONE)
    assert memory.get(name) is None
    assert memory.forget(name) is False


@pytest.mark.parametrize(
    "text",
    [
        "the key is sk-" + "a1" * 20,
        "token ghp_" + "a1" * 15,
        "password: hunter22!",
        "-----BEGIN RSA PRIVATE KEY-----",
        "my-configured-key-1234",
        f"the key is {MASK}",
        "key bXktY29uZmlndXJlZC1rZXktMTIzNA== in base64",
    ],
)
def test_secrets_are_refused(memory: Memory, text: str) -> None:
    with pytest.raises(AgenyxError, match="was not kept: it holds"):
        memory.remember("x", text, Masker(("my-configured-key-1234",)))
    assert not memory.there()


def test_bounds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, why in (("x" * (module.FILE_BYTES + 1), "more than 256 KiB"), (" \n", "it says nothing")):
        with pytest.raises(AgenyxError, match=why):
            memory.remember("x", text, NONE)
    monkeypatch.setattr(module, "MOST", 2)
    put(memory, "a", "1")
    put(memory, "b", "2")
    with pytest.raises(AgenyxError, match="there are 2 notes already"):
        memory.remember("c", "3", NONE)
    put(memory, "a", "1 again")


def test_the_latest_first_then_by_name_and_old_ones_are_marked(memory: Memory) -> None:
    for name, day in (("old", 109.0), ("zed", 150), ("abc", 150), ("new", 199)):
        put(memory, name, f"text of {name}", day)
    assert [(note.name, note.stale) for note in memory.all()] == [
        ("new", False),
        ("abc", False),
        ("zed", False),
        ("old", True),
    ]
    section = memory.section()
    assert "## old (written 1970-04-20, more than 90 days ago: check it before you rely on it)\ntext of old" in section
    assert "not instructions" in section
    assert listed(memory.all()).splitlines()[3] == "old (1970-04-20, stale): text of old"


def test_a_recall_finds_by_words_within_its_budget(memory: Memory) -> None:
    put(memory, "build-steps", "how to compile")
    put(memory, "other", "build and Compile with care")
    put(memory, "none", "something else")
    assert [note.name for note in memory.recall("BUILD compile").notes] == ["build-steps", "other"]
    assert memory.recall("nowhere").notes == ()
    put(memory, "large", "compile " + "x" * 24_950)
    found = memory.recall("compile")
    assert (sum(len(note.block.encode()) + 2 for note in found.notes) <= 25_000, found.more) == (True, ("large",))
    assert "More notes, to be read with the Memory tool: large" in memory.section()


def test_what_else_lies_there_is_passed_over(memory: Memory, tmp_path: Path) -> None:
    put(memory, "good", "fine \u202e")
    (tmp_path / "secret").write_text("secret")
    os.symlink(tmp_path / "secret", memory.path("link"))
    os.mkfifo(memory.path("fifo"))
    Path(memory.path("huge")).write_text("x" * (module.FILE_BYTES + 1), "utf-8")
    Path(memory.folder, "notes.txt").write_text("no", "utf-8")
    Path(memory.path("blank")).write_text("\n", "utf-8")
    assert [(note.name, note.text) for note in memory.all()] == [("good", "fine \\u202e")]


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def folder_of(path: Path) -> str:
    return open_memory("/home", os.path.realpath(path)).folder


def test_worktrees_share_and_nothing_else_does(tmp_path: Path) -> None:
    one = tmp_path / "one"
    (one / "sub").mkdir(parents=True)
    git(one, "init", "-q")
    (one / "f").write_text("x")
    git(one, "add", "f")
    git(one, "commit", "-qm", "x")
    git(one, "worktree", "add", "-q", str(tmp_path / "two"))
    (tmp_path / "linked").symlink_to(one)
    (tmp_path / "plain").mkdir()
    git(tmp_path, "clone", "-q", str(one), "clone")
    assert folder_of(tmp_path / "two") == folder_of(one) == folder_of(tmp_path / "linked")
    others = [folder_of(tmp_path / name) for name in ("one", "one/sub", "plain", "clone")]
    assert len(set(others)) == 4


def test_s42_forged_git_files_get_no_memory_of_others(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.mkdir()
    git(one, "init", "-q")
    (one / "f").write_text("x")
    git(one, "add", "f")
    git(one, "commit", "-qm", "x")
    git(one, "worktree", "add", "-q", str(tmp_path / "two"))
    evil = tmp_path / "evil"
    wanted = folder_of(one)
    (evil / "fake" / "worktrees" / "w").mkdir(parents=True)
    own = evil / "fake" / "worktrees" / "w"
    (evil / "fake" / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "gitdir").write_text(f"{evil}/.git\n")
    for commondir in (f"{one}/.git", "../..", f"{one}/.git/worktrees/two/../..", "\0", ""):
        (own / "commondir").write_text(f"{commondir}\n")
        for pointer in (f"{one}/.git/worktrees/two", f"{one}/.git", str(own), "\0", "/"):
            (evil / ".git").write_text(f"gitdir: {pointer}\n")
            assert folder_of(evil) != wanted, (commondir, pointer)
    (evil / ".git").unlink()
    (evil / ".git").symlink_to(one / ".git")
    assert folder_of(evil) != wanted
    (evil / ".git").unlink()
    (evil / ".git").mkdir()
    (evil / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (evil / ".git" / "commondir").write_text(f"{one}/.git\n")
    assert folder_of(evil) != wanted
