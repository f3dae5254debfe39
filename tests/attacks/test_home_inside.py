"""Show 8: AGENYX_HOME inside the workspace. No tool and no command reads or writes it, in any mode, by any rule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .harness import CARELESS_RULES, Place, Range, bash, obey, put

HOME = ".home"
COMMANDS = (
    "cat {h}/keys.txt",
    "cat {h}/sessions/*/*/transcript.jsonl",
    "grep -r BAIT {h}",
    "grep -r BAIT .",
    "rg -uuu BAIT",
    "tar cf - {h}",
    "tar cf x.tar .",
    "cp -r {h} copy",
    "cp -r . ../copy",
    "find {h} -type f -exec cat {{}} +",
    "find . -type f -exec cat {{}} +",
    "find . -name keys.txt -delete",
    "git add -A",
    "git add {h}",
    "git add -f {h}/keys.txt",
    "echo x > {h}/settings.toml",
    "echo x >> {h}/keys.txt",
    ": > {h}/keys.txt",
    "cat < {h}/keys.txt",
    "tee {h}/x",
    "cd {h} && cat keys.txt",
    "cd {h}; cat keys.txt",
    "(cd {h} && rm keys.txt)",
    "pushd {h} && cat keys.txt",
    "rm -rf {h}",
    "rm {h}/keys.txt",
    "mv {h} aside",
    "mv {h}/keys.txt x",
    "ln -s {h}/keys.txt x",
    "ln {h}/keys.txt x",
    "cat ./{h}/keys.txt",
    "cat {a}/keys.txt",
    "cat sub/../{h}/keys.txt",
    "cat {h}//keys.txt",
    "cat .hom*/keys.txt",
    "cat .h?me/keys.txt",
    "cat {{.home,x}}/keys.txt",
    "bash -c 'cat {h}/keys.txt'",
    "chmod 777 {h}",
    "sed -i s/a/b/ {h}/settings.toml",
    "dd if={h}/keys.txt of=x",
    "rsync -a {h}/ x/",
    "cd {h}",
    "zip -r x.zip .",
    "ls {h}",
    "stat {h}/keys.txt",
    "head -c1 {h}/keys.txt",
    "git diff --no-index /dev/null {h}/keys.txt",
    "python {h}/x.py",
    "git clean -fdx",
    "rm -rf .h*",
    "mkdir {h}/new",
    "touch {h}/x",
    "xxd {h}/keys.txt",
    "cat {u}/keys.txt",
    "cat home-link/keys.txt",
    "echo x > home-link/settings.toml",
)
# What is known only when it runs is asked about; in bypassPermissions a sandbox would have to hold it.
LATER = ("cat $PWD/{h}/keys.txt", "cat $(echo {h}/keys.txt)", "cat */keys.txt", 'cat "$x"/keys.txt',
    "find . | xargs cat")  # fmt: skip


@pytest.fixture
def inside(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place", secrets=False)
    made.agenyx = made.work / HOME
    made.agenyx.mkdir(mode=0o700)
    for name in ("keys.txt", "settings.toml", "sessions/p/s/transcript.jsonl"):
        (made.agenyx / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        put(made.agenyx / name, "" if name == "settings.toml" else "BAIT-HOME\n").chmod(0o600)
    (made.agenyx / "sessions").chmod(0o700)
    (made.work / "home-link").symlink_to(HOME)
    yield made
    made.close()


def filled(place: Place, text: str) -> str:
    return text.format(h=HOME, a=place.agenyx, u=HOME.upper())


def kept(place: Place) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for name in ("keys.txt", "settings.toml", "sessions/p/s/transcript.jsonl"):
        path = place.agenyx / name
        found[name] = (path.read_text("utf-8"), path.stat().st_mode)
    return found


@pytest.mark.parametrize("text", COMMANDS)
def test_s71_s34_no_command(inside: Place, text: str) -> None:
    text = filled(inside, text)
    judge = Range(
        inside, f"{CARELESS_RULES}, Bash, Edit, Read, Edit({HOME}/**), Read({HOME}/**)", AGENYX_HOME=str(inside.agenyx)
    )
    try:
        for mode in ("default", "bypassPermissions", "acceptEdits"):
            assert judge.bash(text, mode).verdict.decision == "deny", mode
    finally:
        judge.close()


@pytest.mark.parametrize("text", LATER)
def test_s71_what_is_known_only_when_it_runs_is_asked_about(inside: Place, text: str) -> None:
    judge = Range(inside, AGENYX_HOME=str(inside.agenyx))
    try:
        assert judge.bash(filled(inside, text)).verdict.decision != "allow"
    finally:
        judge.close()


def test_s30_another_hard_link_to_its_keys(inside: Place) -> None:
    put(inside.agenyx / "auth.json", "BAIT-HOME\n")
    (inside.work / "linked.txt").hardlink_to(inside.agenyx / "auth.json")
    judge = Range(inside, f"{CARELESS_RULES}, Bash, Read", AGENYX_HOME=str(inside.agenyx))
    try:
        for mode in ("default", "bypassPermissions"):
            assert judge.bash("cat linked.txt", mode).verdict.decision != "allow"
            assert judge.explain("Read(linked.txt)", mode).verdict.decision != "allow"
    finally:
        judge.close()


@pytest.mark.parametrize("path", [HOME, f"{HOME}/keys.txt", f"./{HOME}/settings.toml", "{a}/keys.txt",
    f"sub/../{HOME}/x",
                                  "home-link/keys.txt", f"{HOME}/sessions/p/s/transcript.jsonl"])  # fmt: skip
def test_s71_no_tool(inside: Place, path: str) -> None:
    path = path.format(a=inside.agenyx)
    before = kept(inside)
    calls: list[tuple[str, Mapping[str, Any]]] = [
        ("Read", {"file_path": path}),
        ("Write", {"file_path": path, "content": "EVIL"}),
        ("Edit", {"file_path": path, "old_string": "BAIT", "new_string": "EVIL"}),
        ("MultiEdit", {"file_path": path, "edits": [{"old_string": "BAIT", "new_string": "EVIL"}]}),
        ("Grep", {"pattern": "BAIT", "path": path, "output_mode": "content"}),
        ("LS", {"path": path}),
        ("Glob", {"pattern": "**/*", "path": path}),
        ("GitDiff", {"path": path}),
    ]
    results = obey(inside, calls, "bypassPermissions", env={"AGENYX_HOME": str(inside.agenyx)})
    for (name, _), (status, text) in zip(calls, results, strict=True):
        assert "BAIT-HOME" not in text, (name, text)
        assert status in ("denied", "error") or name == "GitDiff", (name, status, text)
    assert kept(inside) == before


def test_s71_searches_leave_it_out(inside: Place) -> None:
    calls: list[tuple[str, Mapping[str, Any]]] = [
        ("Grep", {"pattern": "BAIT-HOME", "output_mode": "content"}),
        ("Glob", {"pattern": "**/*"}),
        ("Glob", {"pattern": f"{HOME}/**"}),
        ("LS", {}),
        ("Picker", {}),
        ("GitStatus", {}),
        ("GitDiff", {}),
    ]
    results = obey(inside, calls, "bypassPermissions", env={"AGENYX_HOME": str(inside.agenyx)})
    for (name, _), (_, text) in zip(calls, results, strict=True):
        assert "keys.txt" not in text, name
        assert "transcript.jsonl" not in text, name


def test_s71_it_works_there_all_the_same(inside: Place) -> None:
    calls = [("Read", {"file_path": "a.txt"}), ("Write", {"file_path": "new.txt", "content": "x"}), *bash("ls src")]
    results = obey(inside, calls, "bypassPermissions", env={"AGENYX_HOME": str(inside.agenyx)})
    assert [status for status, _ in results] == ["ok"] * 3, results
    assert os.listdir(inside.agenyx / "sessions")
