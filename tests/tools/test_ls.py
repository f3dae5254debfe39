"""LS lists names, sorted, bounded, without surprises in them."""

from __future__ import annotations

from typing import Any

from agenyx.tools.ls import LS

TOOL = LS()


def test_directories_end_in_a_slash_and_names_are_sorted(work: Any) -> None:
    for name in ("b.txt", "a/x", ".hidden", "C"):
        work.put(name)
    (work.path / "link").symlink_to("/etc")
    assert work.ok(TOOL).splitlines() == [".hidden", "C", "a/", "b.txt", "link"]
    assert work.ok(TOOL, path="a") == "x"
    assert work.ok(TOOL, path="") == work.ok(TOOL, path=str(work.path))
    assert work.project(TOOL, path="a").parallel


def test_empty_missing_and_other_places(work: Any) -> None:
    (work.path / "empty").mkdir()
    work.put("file")
    assert work.ok(TOOL, path="empty") == "empty is empty."
    assert "not a directory" in work.fails(TOOL, path="file")
    assert "Did you mean empty?" in work.fails(TOOL, path="emty")
    assert "outside" in work.fails(TOOL, path="..")


def test_many_names_are_bounded(work: Any) -> None:
    for number in range(1010):
        work.put(f"f{number:04}")
    lines = work.ok(TOOL).splitlines()
    assert len(lines) == 1001
    assert lines[-1].startswith("[10 more entries")


def test_names_with_line_ends_stay_one_line(work: Any) -> None:
    work.put("a\nb")
    work.put("c\x1b[31m")
    assert work.ok(TOOL).splitlines() == ["a\\x0ab", "c\\x1b[31m"]
