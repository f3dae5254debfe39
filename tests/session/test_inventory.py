"""Which sessions are found, in which order, and what their first lines and tails tell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenyx.core.errors import UsageError
from agenyx.session.heads import head_of
from agenyx.session.inventory import UnsafeStore, sessions
from agenyx.session.load import load, sessions_of
from agenyx.session.records import Title
from agenyx.session.resolve import latest, resolve
from agenyx.session.store import INTENT, TRANSCRIPT, UNFINISHED
from agenyx.session.titles import from_prompt, write_sidecar
from support.stored import NOON, store_session, turn


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def names(home: Path, workspace: Path | None) -> list[str]:
    return [one.id for one in sessions(str(home), None if workspace is None else str(workspace))]


def test_the_latest_comes_first_and_the_id_decides_between_equals(home: Path, tmp_path: Path) -> None:
    for name, at in (("b", 1.0), ("a", 1.0), ("late", 5.0), ("early", 0.5)):
        store_session(home, tmp_path, name, [turn("hello")], at=NOON + at)
    store_session(home, tmp_path / "other", "elsewhere", [turn("hello")], at=NOON)
    assert names(home, tmp_path) == ["late", "a", "b", "early"]
    assert names(home, None) == ["late", "a", "b", "early", "elsewhere"]
    assert latest(str(home), str(tmp_path)).endswith("/late")


def test_what_is_no_session_is_left_out(home: Path, tmp_path: Path) -> None:
    top = Path(sessions_of(str(home), str(tmp_path)))
    for name in ("whole", "copying", "going", "linked", "twice", "empty"):
        store_session(home, tmp_path, name, [turn("hello")])
    (top / "copying" / UNFINISHED).touch()
    (top / "going" / INTENT).touch()
    (top / "linked" / TRANSCRIPT).unlink()
    (top / "linked" / TRANSCRIPT).symlink_to(top / "whole" / TRANSCRIPT)
    os.link(top / "twice" / TRANSCRIPT, tmp_path / "second-name")
    (top / "empty" / TRANSCRIPT).write_bytes(b"")
    (top / "link").symlink_to(top / "whole")
    (top / "no id").mkdir()
    (top / ".hidden").mkdir()
    (top / "file").touch()
    assert names(home, tmp_path) == ["whole"]


def test_nothing_is_made_where_there_is_nothing(home: Path, tmp_path: Path) -> None:
    assert names(home, tmp_path) == names(home, None) == []
    assert not home.exists()


@pytest.mark.parametrize("which", ["sessions", "partition"])
@pytest.mark.parametrize("how", ["link", "open", "file"])
def test_a_store_that_others_could_write_is_not_listed(home: Path, tmp_path: Path, which: str, how: str) -> None:
    store_session(home, tmp_path, "one", [turn("hello")])
    place = home / "sessions" if which == "sessions" else Path(sessions_of(str(home), str(tmp_path)))
    if how == "open":
        place.chmod(0o777)
    else:
        place.rename(tmp_path / "aside")
        if how == "link":
            place.symlink_to(tmp_path / "aside")
        else:
            place.touch()
    with pytest.raises(UnsafeStore):
        names(home, tmp_path)


def test_a_title_is_the_first_line_that_says_something() -> None:
    assert from_prompt("\n   \n  mend   the parser \nand more") == "mend the parser"
    assert from_prompt("x" * 61) == "x" * 57 + "..."
    assert from_prompt(" \n ") == ""


@pytest.mark.parametrize("extra", [10, 200_000], ids=["short", "long instructions"])
def test_the_head_tells_title_workspace_and_time(home: Path, tmp_path: Path, extra: int) -> None:
    directory = store_session(home, tmp_path, "s", [turn("mend the parser\nplease"), turn("more")], extra=extra)
    head = head_of(str(directory))
    assert (head.title, head.workspace, head.created_at) == ("mend the parser", str(tmp_path), NOON)


def test_a_given_title_counts_wherever_it_stands(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("first"), [Title("my name for it")], turn("more")])
    assert head_of(str(directory)).title == "my name for it"
    assert load(str(directory)).title == "my name for it"
    directory = store_session(home, tmp_path, "s", [[Title("a second name")]])
    write_sidecar(str(directory), "a second name")
    store_session(home, tmp_path, "s", [turn("more", "long " * 5000) for _ in range(10)])
    assert (directory / TRANSCRIPT).stat().st_size > 200_000
    assert head_of(str(directory)).title == "a second name", "far from both ends it is read beside the transcript"


def test_a_head_that_cannot_be_read_is_empty(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("first")])
    (directory / TRANSCRIPT).write_bytes(b'{"kind":"title" "kind":"opened" "origin":"typed"\n\x00\xff\n')
    assert head_of(str(directory)).title == ""
    (directory / TRANSCRIPT).unlink()
    assert head_of(str(directory)).title == ""


class TestResolve:
    """What a person may call a session."""

    @pytest.fixture(autouse=True)
    def stored(self, home: Path, tmp_path: Path) -> None:
        self.home, self.here = str(home), str(tmp_path)
        store_session(home, tmp_path, "abcd-1111", [turn("mend the parser")])
        store_session(home, tmp_path, "abcd-2222", [turn("Write tests")])
        store_session(home, tmp_path, "ffff-3333", [turn("write docs")])
        store_session(home, tmp_path / "other", "eeee-4444", [turn("somewhere else")])
        store_session(home, tmp_path / "other", "abcd-5555", [turn("mend the parser")])

    def of(self, text: str) -> str:
        return os.path.basename(resolve(self.home, self.here, text))

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("abcd-2222", "abcd-2222"),
            ("eeee-4444", "eeee-4444"),
            ("abcd-1", "abcd-1111"),
            ("eeee", "eeee-4444"),
            ("abcd-5", "abcd-5555"),
            ("mend the parser", "abcd-1111"),
            ("WRITE  tests", "abcd-2222"),
            ("docs", "ffff-3333"),
        ],
    )
    def test_one(self, text: str, name: str) -> None:
        assert self.of(text) == name

    def test_several_are_named(self) -> None:
        with pytest.raises(UsageError) as error:
            self.of("write")
        assert error.value.message == "2 sessions are called 'write'"
        assert "abcd-2222" in error.value.fix and "Write tests" in error.value.fix
        with pytest.raises(UsageError, match="2 sessions begin with 'abcd'"):
            self.of("abcd")

    @pytest.mark.parametrize("text", ["nothing like it", "../abcd-1111", "", "abc/../x", "a" * 300])
    def test_none(self, text: str) -> None:
        with pytest.raises(UsageError, match="there is no session"):
            self.of(text)

    def test_a_whole_id_counts_before_a_title(self, home: Path, tmp_path: Path) -> None:
        store_session(home, tmp_path, "gggg-6666", [turn("abcd-1111")])
        assert self.of("abcd-1111") == "abcd-1111"
