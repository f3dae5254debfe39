"""Glob finds files newest first, leaves out what is ignored, and never follows links."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.proc import programs
from agenyx.tools.glob import Glob

TOOL = Glob()


def test_newest_first_and_recursive(work: Any, newest: Any) -> None:
    for age, name in enumerate(["old.py", "src/a.py", "src/deep/b.py", "src/c.txt"]):
        newest(work.put(name), age)
    assert work.ok(TOOL, pattern="**/*.py").splitlines() == ["src/deep/b.py", "src/a.py", "old.py"]
    assert work.ok(TOOL, pattern="src/**/*.py") == "src/deep/b.py\nsrc/a.py"
    assert work.ok(TOOL, pattern="*.{py,txt}", path="src").splitlines() == ["src/c.txt", "src/a.py"]
    assert work.ok(TOOL, pattern=str(work.path / "src/*.txt")) == "src/c.txt"
    assert work.ok(TOOL, pattern="src/a.py") == "src/a.py"
    limited = work.ok(TOOL, pattern="**", limit=2).splitlines()
    assert limited[:2] == ["src/c.txt", "src/deep/b.py"] and "2 of 4 files" in limited[2]


def test_a_plain_pattern_falls_back_to_deeper_files_and_says_so(work: Any) -> None:
    work.put("deep/er/x.go")
    text = work.ok(TOOL, pattern="*.go")
    assert text.splitlines()[0] == "deep/er/x.go" and "lie deeper" in text
    assert "No file matches" in work.ok(TOOL, pattern="*.rs")


def test_ignored_files_git_and_links_are_left_out(work: Any) -> None:
    for name in ("a.js", "node_modules/m/b.js", ".git/c.js", ".github/d.js", "out/e.js"):
        work.put(name)
    work.put(".gitignore", "node_modules\nout/\n")
    outside = work.path.parent / "elsewhere"
    outside.mkdir()
    (outside / "f.js").touch()
    (work.path / "link").symlink_to(outside)
    (work.path / "loop").symlink_to(".")
    assert sorted(work.ok(TOOL, pattern="**/*.js").splitlines()) == [".github/d.js", "a.js"]
    assert "node_modules/m/b.js" in work.ok(TOOL, pattern="**/*.js", path="node_modules")
    assert "outside" in work.fails(TOOL, pattern="*.js", path="link")
    assert "outside" in work.fails(TOOL, pattern="../elsewhere/*.js")
    assert "outside" in work.fails(TOOL, pattern="/etc/*")


def test_odd_names(work: Any) -> None:
    for name in ("-dash.py", "a:b.py", "new\nline.py", "sp ace.py"):
        work.put(name)
    assert sorted(work.ok(TOOL, pattern="*.py").splitlines()) == ["-dash.py", "a:b.py", "new\\x0aline.py", "sp ace.py"]
    assert work.ok(TOOL, pattern="-*") == "-dash.py"


def test_wrong_calls_are_explained(work: Any) -> None:
    work.put("file")
    assert "has no }" in work.fails(TOOL, pattern="{a")
    assert "not a directory" in work.fails(TOOL, pattern="*", path="file")
    assert "does not exist" in work.fails(TOOL, pattern="*", path="nowhere")
    assert work.project(TOOL, pattern="src/*.py").reads[0].shown == "src"


def test_out_of_time_gives_what_was_found(work: Any, endless_rg: Callable[[str], None]) -> None:
    work.put("found")
    endless_rg(r"./found\000./tor")
    lines = work.ok(Glob(seconds=2.0), pattern="*").splitlines()
    assert lines[0] == "found" and "stopped after 2 seconds" in lines[1] and len(lines) == 2


def test_a_missing_program_is_a_clear_error(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find", lambda *_: None)
    assert "pip install ripgrep" in work.fails(TOOL, pattern="*")


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="the file system takes only UTF-8 names")
def test_a_name_that_is_no_utf8(work: Any) -> None:
    with open(os.path.join(os.fsencode(work.path), b"caf\xe9.txt"), "wb"):
        pass
    assert work.ok(TOOL, pattern="*.txt") == "caf\\xe9.txt"
