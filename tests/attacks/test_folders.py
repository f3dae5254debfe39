"""Folders beside the workspace: the same wall, guards and protected paths as the workspace has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenyx.app.folders import MOST, add, take
from agenyx.app.start import open_root
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root


class Ground:
    """A workspace `work`, a folder `lib` beside it, and a home with Agenyx's own folder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.work, self.lib, self.person = base / "work", base / "lib", base / "home"
        self.home = self.person / ".agenyx"
        for folder in (self.work, self.lib, self.home):
            folder.mkdir(parents=True)
        (self.home / "auth.json").write_text("KEY", "utf-8")
        (self.lib / "a.py").write_text("one\n", "utf-8")
        (base / "secret").write_text("BAIT\n", "utf-8")
        self.root = open_root(str(self.work), str(self.home), str(self.person))
        self.told: list[Notice] = []

    def add(self, path: Path | str) -> tuple[str, bool]:
        env = {"HOME": str(self.person)}
        return add(self.root, str(path), env, str(self.home), str(self.work), self.told.append)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.fixture
def root(ground: Ground) -> Root:
    ground.add(ground.lib)
    return ground.root


def test_a_file_of_an_added_folder_is_read_and_written(ground: Ground, root: Root) -> None:
    ref = root.ref(str(ground.lib / "a.py"))
    assert (ref.problem, ref.root, ref.shown) == ("", str(ground.lib), str(ground.lib / "a.py"))
    assert root.read_bytes(ref).data == b"one\n"
    root.replace(root.ref("../lib/new.py", writing=True), b"two\n")
    assert (ground.lib / "new.py").read_text("utf-8") == "two\n"
    assert root.word("../lib/a.py", str(ground.work)).root == str(ground.lib)


@pytest.mark.parametrize(
    "path", ["../secret", "{lib}/../secret", "{lib}-evil/x", "/etc/passwd", "{lib}/../lib/../secret"]
)
def test_what_lies_beside_an_added_folder_stays_outside(ground: Ground, root: Root, path: str) -> None:
    (ground.base / "lib-evil").mkdir()
    (ground.base / "lib-evil" / "x").write_text("BAIT", "utf-8")
    ref = root.ref(path.format(lib=ground.lib))
    assert "outside the workspace" in ref.problem
    with pytest.raises(FileProblem, match="outside the workspace"):
        root.read_bytes(ref)
    with pytest.raises(FileProblem, match="outside the workspace"):
        root.replace(ref, b"x")


def test_a_link_out_of_an_added_folder_is_refused(ground: Ground, root: Root) -> None:
    (ground.lib / "out").symlink_to(ground.base / "secret")
    (ground.lib / "up").symlink_to("..")
    for path in ("out", "up/secret"):
        assert "outside the workspace" in root.ref(str(ground.lib / path)).problem
    assert root.word(str(ground.lib / "out")).root is None


def test_a_link_from_the_workspace_into_an_added_folder_is_its_file(ground: Ground, root: Root) -> None:
    (ground.work / "in").symlink_to(ground.lib)
    assert root.ref("in/a.py").root == str(ground.lib)


def test_a_folder_that_becomes_a_link_after_the_judgement_is_not_followed(ground: Ground, root: Root) -> None:
    (ground.lib / "sub").mkdir()
    (ground.lib / "sub" / "x").write_text("mine", "utf-8")
    ref = root.ref(str(ground.lib / "sub" / "x"))
    (ground.lib / "sub").rename(ground.lib / "old")
    (ground.lib / "sub").symlink_to(ground.base)
    with pytest.raises(FileProblem):
        root.read_bytes(ref)


def test_an_added_folder_that_is_exchanged_is_not_used(ground: Ground, root: Root) -> None:
    ref = root.ref(str(ground.lib / "new"), writing=True)
    ground.lib.rename(ground.base / "moved")
    (ground.base / "evil").mkdir()
    (ground.base / "evil").rename(ground.lib)
    with pytest.raises(FileProblem):
        root.replace(ref, b"x")
    assert os.listdir(ground.lib) == []


@pytest.mark.parametrize("name", [".env", ".git/config", "id_rsa", ".ssh/known_hosts", ".claude/settings.json"])
def test_protected_paths_are_protected_in_an_added_folder(ground: Ground, root: Root, name: str) -> None:
    path = ground.lib / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("BAIT", "utf-8")
    assert root.ref(str(path)).protected
    assert root.ref(str(path), writing=True).protected
    assert root.word(str(path)).protected


@pytest.mark.parametrize("name", [".env", "deploy.pem"])
def test_secrets_are_left_out_of_what_is_met(ground: Ground, root: Root, name: str) -> None:
    (ground.lib / name).write_text("BAIT", "utf-8")
    assert root.hides(os.fsencode(ground.lib / name))
    assert root.found(os.fsencode(ground.lib / name)).protected
    assert name in root.holds(root.ref(str(ground.lib)))


def test_a_folder_within_a_protected_one_stays_protected(ground: Ground) -> None:
    inner = ground.base / ".ssh" / "more"
    inner.mkdir(parents=True)
    (inner / "x").write_text("BAIT", "utf-8")
    ground.add(inner)
    assert "keys" in ground.root.ref(str(inner / "x")).protected


def test_a_hard_link_to_a_protected_file_is_known_in_either_place(ground: Ground, root: Root) -> None:
    (ground.work / ".env").write_text("BAIT", "utf-8")
    os.link(ground.work / ".env", ground.lib / "innocent")
    (ground.lib / ".env").write_text("BAIT", "utf-8")
    os.link(ground.lib / ".env", ground.work / "innocent")
    os.link(ground.home / "auth.json", ground.lib / "notes")
    for path in (ground.lib / "innocent", ground.work / "innocent", ground.lib / "notes"):
        assert "another name of" in root.ref(str(path)).protected, path


def test_what_would_cover_the_folder_of_agenyx_is_refused(ground: Ground) -> None:
    link = ground.base / "link"
    link.symlink_to(ground.home)
    for path in (ground.person, ground.base, "/", ground.home, ground.home / "sessions", link, "~"):
        (ground.home / "sessions").mkdir(exist_ok=True)
        with pytest.raises(UsageError, match="cannot be added"):
            ground.add(path)
    assert ground.root.beside == ()


@pytest.mark.parametrize("path", ["", "  ", "nowhere", "a\0b", "/dev", "/proc/self", "/sys/kernel"])
def test_what_is_no_folder_to_add_is_refused(ground: Ground, path: str) -> None:
    with pytest.raises(UsageError):
        ground.add(path)
    assert ground.root.beside == ()


def test_a_file_is_no_folder(ground: Ground) -> None:
    with pytest.raises(UsageError, match="it is no folder"):
        ground.add(ground.base / "secret")


def test_the_home_directory_may_be_added_where_agenyx_lives_elsewhere_and_it_is_told(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = open_root(str(ground.work), str(elsewhere), str(ground.person))
    add(root, str(ground.person), {"HOME": str(ground.person)}, str(elsewhere), str(ground.work), ground.told.append)
    assert ["whole home directory" in notice.text for notice in ground.told] == [True]
    (ground.person / ".ssh").mkdir()
    assert root.ref(str(ground.person / ".ssh" / "config")).protected


def test_overlapping_folders_are_one(ground: Ground) -> None:
    deep, inside = ground.lib / "deep", ground.work / "inside"
    deep.mkdir()
    inside.mkdir()
    assert ground.add(inside) == (str(inside), False)
    assert ground.add(deep) == (str(deep), True)
    assert ground.add(ground.lib) == (str(ground.lib), True)
    assert ground.add(deep) == (str(deep), False)
    assert ground.root.folders() == (str(ground.lib),)


def test_a_folder_around_the_workspace_leaves_the_workspace_its_own(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    (outer / "work").mkdir(parents=True)
    (outer / "x").write_text("x", "utf-8")
    home = tmp_path / "home"
    home.mkdir()
    root = open_root(str(outer / "work"), str(home), str(home))
    add(root, "..", {}, str(home), str(outer / "work"), lambda _: None)
    assert root.ref("a").root == str(outer / "work")
    assert root.ref("a").shown == "a"
    assert root.ref("../x").root == str(outer)


def test_there_is_an_end_to_folders(ground: Ground) -> None:
    for number in range(MOST):
        (ground.base / f"f{number}").mkdir()
        ground.add(ground.base / f"f{number}")
    with pytest.raises(UsageError, match=f"{MOST} folders already"):
        ground.add(ground.lib)


def test_a_folder_of_an_earlier_session_that_is_gone_or_refused_now_is_told(ground: Ground) -> None:
    env = {"HOME": str(ground.person)}
    before = (str(ground.base / "gone"), str(ground.person), str(ground.lib))
    take(ground.root, (), before, env, str(ground.home), str(ground.work), ground.told.append)
    assert ground.root.folders() == (str(ground.lib),)
    assert [notice.text.split(":")[0] for notice in ground.told] == [
        "This session goes on without a folder that it had"
    ] * 2
