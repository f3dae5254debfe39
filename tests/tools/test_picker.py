"""Picker numbers the project's files, and a number means the same file until the files change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.tools.picker import Picker
from agenyx.tools.read import Read

TOOL = Picker()


def token(text: str, which: str) -> str:
    found = re.search(rf'{which} page="([^"]+)"', text)
    assert found, text
    return found[1]


def test_numbers_paths_and_what_is_left_out(work: Any) -> None:
    for name in ("b.py", "a/z.py", "a/b/c.txt", ".hidden", "skipped.log"):
        work.put(name, "text")
    work.put(".gitignore", "*.log\n")
    work.put(".git/config", "x")
    lines = work.ok(TOOL).splitlines()
    assert lines[:5] == ["1 .gitignore", "2 .hidden", "3 a/b/c.txt", "4 a/z.py", "5 b.py"]
    assert lines[5].startswith("[1-5 of 5; ") and "end of the list" in lines[5]
    assert work.ok(TOOL, path="a").splitlines()[:2] == ["1 a/b/c.txt", "2 a/z.py"]
    assert work.project(TOOL).parallel and not work.project(TOOL).acts
    assert work.ok(TOOL, pick=[4, 3]) == "a/z.py\na/b/c.txt"


def test_pages_and_picks_from_them(work: Any) -> None:
    for number in range(450):
        work.put(f"d/f{number:03}")
    first = work.ok(TOOL)
    assert first.splitlines()[199] == "200 d/f199" and "[1-200 of 450;" in first
    second = work.ok(TOOL, page=token(first, "next"))
    assert second.splitlines()[0] == "201 d/f200"
    third = work.ok(TOOL, page=token(second, "next"))
    assert third.splitlines()[49] == "450 d/f449" and "end of the list" in third
    assert work.ok(TOOL, page=token(third, "this"), pick=[450, 1]) == "d/f449\nd/f000"
    assert "no number 451" in work.fails(TOOL, pick=[451])


def test_a_number_of_an_old_list_picks_nothing(work: Any) -> None:
    work.put("b")
    page = token(work.ok(TOOL), "this")
    work.put("a")
    assert "have changed since" in work.fails(TOOL, page=page, pick=[1])
    assert "is no page" in work.fails(TOOL, page="2")
    digest = token(work.ok(TOOL), "this").partition("-")[2]
    assert "only 2 entries" in work.fails(TOOL, page=f"900-{digest}")


def test_depth_shows_folders_and_query_narrows(work: Any) -> None:
    for name in ("src/app/Main.py", "src/app/view.py", "src/lib/x/y.c", "README"):
        work.put(name)
    assert work.ok(TOOL, depth=1).splitlines()[:2] == ["1 README", "2 src/ (3 files)"]
    assert work.ok(TOOL, depth=2).splitlines()[1:3] == ["2 src/app/ (2 files)", "3 src/lib/ (1 file)"]
    assert work.ok(TOOL, depth=1, pick=[2]) == "src/"
    assert work.ok(TOOL, query="APP .py").splitlines()[:2] == ["1 src/app/Main.py", "2 src/app/view.py"]
    assert "No file in . fits" in work.ok(TOOL, query="nothing")


def test_odd_names_are_one_line_and_can_be_given_back(work: Any) -> None:
    work.put("a\nb", "one")
    work.put("c\x1b", "two")
    (work.path / "link").symlink_to("/etc")
    shown = [line.partition(" ")[2] for line in work.ok(TOOL).splitlines()[:-1]]
    assert shown == ["a\\x0ab", "c\\x1b"]
    assert "one" in work.ok(Read(), file_path=shown[0])


def test_small_results_and_wrong_places(work: Any) -> None:
    for number in range(100):
        work.put(f"{'long' * 20}{number}")
    work.result_chars = 2000
    text = work.ok(TOOL)
    assert len(text) <= 2000 and "next page=" in text
    assert "outside" in work.fails(TOOL, path="..")
    assert "does not exist" in work.fails(TOOL, path="zzz")
    assert "not a directory" in work.fails(TOOL, path=f"{'long' * 20}1")


@pytest.mark.usefixtures("work")
def test_out_of_time_says_so(work: Any, endless_rg: Callable[[str], None]) -> None:
    endless_rg("./a\\0")
    assert "stopped after 0.5 seconds: there may be more" in work.ok(Picker(seconds=0.5))
