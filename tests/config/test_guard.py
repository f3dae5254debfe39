"""The home stays what it was, or everything is denied from then on."""

from __future__ import annotations

import os
import timeit
from collections.abc import Callable
from pathlib import Path

import pytest

from agenyx.config.guard import HomeGuard, identity_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "sessions").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "sessions").chmod(0o700)
    return folder


def aside(path: Path) -> Path:
    return path.rename(path.with_name(path.name + "-aside"))


def replaced(path: Path) -> None:
    aside(path)
    path.mkdir(mode=0o700)


def linked(path: Path) -> None:
    path.symlink_to(aside(path))


def gone(path: Path) -> None:
    aside(path)


def opened(path: Path) -> None:
    path.chmod(0o755)


def filed(path: Path) -> None:
    aside(path)
    path.write_text("", "utf-8")


def back(path: Path) -> None:
    """As if nothing had been."""
    if (away := path.with_name(path.name + "-aside")).exists():
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            path.rmdir()
        away.rename(path)
    path.chmod(0o700)


CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (gone, "moved, removed"),
    (replaced, "replaced"),
    (linked, "replaced"),
    (filed, "replaced"),
    (opened, "opened to other users (mode 0755)"),
]


@pytest.mark.parametrize("inner", ["", "sessions"])
@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_what_is_lost_is_told_and_stays_lost(
    home: Path, inner: str, change: Callable[[Path], None], words: str
) -> None:
    guard, place = HomeGuard(str(home)), home / inner
    assert guard.check() == ""
    change(place)
    told = guard.check()
    assert told.startswith(str(place))
    assert words in told
    back(place)
    assert guard.check() == told, "it came back, but nobody knows what happened meanwhile"
    assert HomeGuard(str(home)).check() == "", "a new start looks afresh"


def test_another_owner(home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    guard = HomeGuard(str(home))
    os.chown(home / "sessions", 12345, -1)
    assert "another user" in guard.check()
    assert "another user" in HomeGuard(str(home)).check(), "nor are they taken over at a start"


def test_what_was_open_before_may_stay_so_and_may_be_closed(home: Path) -> None:
    home.chmod(0o755)
    guard = HomeGuard(str(home))
    assert guard.check() == ""
    home.chmod(0o700)
    assert guard.check() == ""


def test_sessions_are_taken_when_they_come(home: Path) -> None:
    (home / "sessions").rmdir()
    guard = HomeGuard(str(home))
    assert guard.check() == ""
    (home / "sessions").mkdir(mode=0o700)
    assert guard.check() == ""
    opened(home / "sessions")
    assert "opened to other users" in guard.check()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_sessions_have_to_be_a_folder(home: Path, tmp_path: Path, kind: str) -> None:
    (home / "sessions").rmdir()
    guard = HomeGuard(str(home))
    if kind == "link":
        (home / "sessions").symlink_to(tmp_path)
    else:
        (home / "sessions").write_text("")
    assert str(home / "sessions") in guard.check()


def test_a_home_behind_a_link_counts_as_what_it_leads_to(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)
    guard = HomeGuard(str(link))
    assert guard.check() == ""
    (tmp_path / "other").mkdir(mode=0o700)
    link.unlink()
    link.symlink_to(tmp_path / "other")
    assert "replaced" in guard.check()


def test_without_a_home_there_is_nothing_to_lose(tmp_path: Path) -> None:
    guard = HomeGuard(str(tmp_path / "none"))
    (tmp_path / "none").mkdir()
    assert guard.check() == ""
    assert not guard.owns(str(tmp_path / "none"))


def test_a_displaced_home_stays_owned(home: Path, tmp_path: Path) -> None:
    guard = HomeGuard(str(home))
    (home / "auth.json").write_text("{}")
    assert guard.owns(str(home / "auth.json"))
    assert guard.owns(os.fsencode(home / "sessions" / "not" / "there"))
    assert not guard.owns(str(tmp_path / "home-other"))
    moved = home.rename(tmp_path / "moved")
    assert guard.owns(str(moved / "auth.json"))
    assert not guard.owns(str(home / "auth.json")), "what stands there now is somebody else's"
    identity = identity_of(str(moved))
    assert identity is not None
    assert guard.owns(identity)
    assert not guard.owns((identity[0] + 1, identity[1]))
    out = (moved / "sessions").rename(tmp_path / "out")
    assert guard.owns(str(out / "x" / "transcript.jsonl"))


def test_a_check_is_cheap(home: Path) -> None:
    guard = HomeGuard(str(home))
    best = min(timeit.repeat(guard.check, number=1000, repeat=5)) / 1000
    assert best < 0.001, "seconds; two looks take some microseconds"
