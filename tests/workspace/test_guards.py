"""Agenyx's own folder, protected files in a tree and other names of protected files, on a real disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenyx.workspace import guards
from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root


def secret(real: bytes) -> str:
    return "it may hold secrets" if os.path.basename(real).lower() == b".env" else ""


def control(real: bytes) -> str:
    return secret(real) or ("it controls git" if b".git" in real.split(b"/") else "")


def changing(real: bytes) -> str:
    return control(real) or ("it steers agents" if real.endswith(b"AGENTS.md") else "")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = Path(os.path.realpath(tmp_path))
    for name in ("app/src", "app/.git/hooks", "user/.ssh", "home/sessions"):
        (path / name).mkdir(parents=True)
    return path


@pytest.fixture
def root(top: Path) -> Root:
    known = (os.fsencode(top / "user/.ssh/*"), os.fsencode(top / "home/auth.json"), b"/nowhere/*")
    return Root(str(top / "app"), control, changing=changing, below=secret, home=str(top / "home"), known=known)


def put(path: Path, content: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def test_each_use_has_its_own_protection(top: Path, root: Root) -> None:
    put(top / "app/AGENTS.md")
    put(top / "app/.git/config")
    assert root.ref("AGENTS.md").protected == "" and root.word("AGENTS.md").protected == ""
    assert root.ref("AGENTS.md", writing=True).protected == root.word("AGENTS.md", "", True).protected != ""
    assert root.word("AGENTS.md", removing=True).protected
    assert root.ref(".git/config").protected and root.at(os.fsencode(top / "app/.git/config")).protected
    assert root.found(os.fsencode(top / "app/.git/config")).protected == ""
    assert root.found(os.fsencode(top / "app/.env")).protected and root.hides(os.fsencode(top / "app/.env"))


def test_a_tree_that_holds_secrets_says_which_and_how_many(top: Path, root: Root) -> None:
    assert root.holds(root.word(".")) == ""
    for number in range(5):
        put(top / f"app/d{number}/.env")
    held = root.holds(root.word("."))
    assert held.count(".env") == 3 and "and 2 more" in held and "secrets" in held
    assert ".env" in root.holds(root.word("d1")) and root.holds(root.word("src")) == ""
    assert root.holds(root.word(".", writing=True), writing=True).startswith("it holds ")
    assert root.holds(root.word("d1/.env")) == ""  # a file is no tree
    assert root.holds(root.word("gone")) == ""


def test_git_is_held_for_changes_only_and_hidden_names_can_be_passed_over(top: Path, root: Root) -> None:
    put(top / "app/.git/config")
    assert root.holds(root.word(".")) == ""
    assert ".git" in root.holds(root.word("."), writing=True)
    put(top / "app/src/.env")
    assert root.holds(root.word("."), hidden=False) == "" and root.holds(root.word("."))


def test_a_link_in_a_tree_counts_for_what_it_leads_to(top: Path, root: Root) -> None:
    put(top / "elsewhere/.env")
    (top / "app/src/link").symlink_to(top / "elsewhere/.env")
    assert "src/link" in root.holds(root.word("."))
    (top / "app/src/link").unlink()
    (top / "app/src/all").symlink_to(top)
    assert "folder of Agenyx" in root.holds(root.word("."))


def test_what_cannot_be_looked_through_is_asked_about(top: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        put(top / f"app/src/f{number}")
    monkeypatch.setattr(guards, "_ENTRIES", 10)
    assert "too large to be looked through" in root.holds(root.word("."))
    monkeypatch.setattr(guards, "_ENTRIES", 100_000)
    monkeypatch.setattr(guards, "_SECONDS", -1.0)
    for number in range(300):
        put(top / f"app/src/g{number}")
    assert "too large to be looked through" in root.holds(root.word("."))


def test_a_protected_folder_counts_once(top: Path) -> None:
    root = Root(str(top / "app"), lambda real: "keys" if b".keys" in real.split(b"/") else "")
    for number in range(5):
        put(top / f"app/src/.keys/k{number}")
    assert root.holds(root.word(".")) == "it holds src/.keys: keys"


def test_published_packages_are_not_looked_through(top: Path, root: Root) -> None:
    put(top / "app/node_modules/pkg/.env")
    assert root.holds(root.word(".")) == ""
    assert root.holds(root.word("node_modules"))  # unless they are what is named


@pytest.mark.parametrize("word", ["/", "/proc", "/dev", "/sys/kernel"])
def test_trees_of_the_kernel_are_held(root: Root, word: str) -> None:
    assert root.holds(root.word(word))


def test_nothing_in_the_own_folder_is_used_by_anything(top: Path, root: Root) -> None:
    put(top / "home/auth.json")
    home = top / "home"
    for word in (home, home / "auth.json", home / "new/x", home / "../home/auth.json", top / "user/../HOME/auth.json"):
        for writing in (False, True):
            assert "belongs to Agenyx" in root.word(str(word), "", writing).problem, word
    (top / "app/way").symlink_to(home)
    assert "belongs to Agenyx" in root.word("way/auth.json").problem
    assert root.word(str(top / "homely/x")).problem == ""
    assert root.keeps_home(root.word(str(top))) and root.keeps_home(root.word(str(home)))
    assert not root.keeps_home(root.word("."))


def test_an_own_folder_that_is_moved_away_is_still_the_own_one(top: Path, root: Root) -> None:
    put(top / "home/auth.json")
    (top / "home").rename(top / "app/harmless")
    assert "belongs to Agenyx" in root.word("harmless/auth.json").problem
    assert "belongs to Agenyx" in root.ref("harmless", writing=True).problem
    (top / "home").mkdir()
    assert "belongs to Agenyx" in root.word("harmless").problem
    assert "belongs to Agenyx" in root.word(str(top / "home")).problem


def test_an_own_folder_inside_the_workspace(top: Path) -> None:
    home = top / "app/.state/agenyx"
    put(home / "auth.json", "key")
    root = Root(str(top / "app"), home=str(home))
    for text in (".state/agenyx", ".state/agenyx/auth.json", ".STATE/Agenyx/auth.json", ".state/agenyx/new"):
        ref = root.ref(text)
        assert "belongs to Agenyx" in ref.problem, text
        with pytest.raises(FileProblem, match="belongs to Agenyx"):
            root.read_bytes(ref)
        with pytest.raises(FileProblem, match="belongs to Agenyx"):
            root.replace(ref, b"x")
    assert root.ref(".state/other").problem == ""
    assert root.keeps_home(root.word(".")) and "Agenyx" in root.holds(root.word("."))
    assert root.owns(os.fsencode(home / "auth.json")) and root.hides(os.fsencode(home / "auth.json"))


def test_other_names_of_protected_files_are_found_by_identity(top: Path, root: Root) -> None:
    put(top / "user/.ssh/work_key", "secret")
    put(top / "home/auth.json", "secret")
    put(top / "app/config/prod/.env", "secret")
    (top / "app/docs").mkdir()
    for number, target in enumerate(("user/.ssh/work_key", "home/auth.json", "app/config/prod/.env")):
        os.link(top / target, top / f"app/docs/n{number}.txt")
        assert os.path.basename(target) in root.ref(f"docs/n{number}.txt").protected
        assert root.word(f"docs/n{number}.txt").protected
    assert root.holds(root.word("docs")).startswith("it holds n0.txt, n1.txt: it is another name")
    put(top / "app/free")
    os.link(top / "app/free", top / "app/docs/free")
    assert root.ref("docs/free").protected == ""


def test_a_link_to_a_protected_name_is_protected_whatever_it_leads_to(top: Path, root: Root) -> None:
    put(top / "app/plain")
    (top / "app/.env").symlink_to("plain")
    (top / "app/alias").symlink_to(".env")
    for name in (".env", "alias"):
        assert root.ref(name).protected and root.ref(name).real == os.fsencode(top / "app/plain")
    os.rename(top / "app/.git", top / "app/gitdata")
    (top / "app/.git").symlink_to("gitdata")
    assert root.ref(".git/hooks/pre-commit", writing=True).protected
