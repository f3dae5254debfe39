"""Which instruction files are found, and what of them is left out and said."""

from __future__ import annotations

import os
from pathlib import Path

from agenyx.ext import instructions
from agenyx.ext.instructions import find, section


def inside(tmp_path: Path, workspace: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """What was found below the test's own folder."""
    found, problems = find(str(workspace))
    top = str(tmp_path)
    return (
        [(os.path.relpath(item.path, top), item.text) for item in found if item.path.startswith(top)],
        [problem.replace(top + "/", "") for problem in problems if top in problem],
    )


def test_from_the_root_down_and_claude_only_where_it_says_more(tmp_path: Path) -> None:
    work = tmp_path / "a" / "b"
    work.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("outer\n")
    (tmp_path / "CLAUDE.md").write_text("outer\n")
    (tmp_path / "a" / "CLAUDE.md").write_text("only claude\n")
    (work / "AGENTS.md").write_bytes(b"\xef\xbb\xbfinner\r\nlines\r\n")
    (work / "CLAUDE.md").write_text("another text\n")
    (work / "sub").mkdir()
    (work / "sub" / "AGENTS.md").write_text("below\n")
    found, problems = inside(tmp_path, work)
    assert found == [
        ("AGENTS.md", "outer"),
        ("a/CLAUDE.md", "only claude"),
        ("a/b/AGENTS.md", "inner\nlines"),
        ("a/b/CLAUDE.md", "another text"),
    ]
    assert problems == []


def test_what_is_no_ordinary_file_is_left_out_and_said(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("link", "fifo", "folder", "huge", "empty")]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link" / "AGENTS.md").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "fifo" / "AGENTS.md")
    (tmp_path / "folder" / "AGENTS.md").mkdir()
    (tmp_path / "huge" / "AGENTS.md").write_bytes(b"x" * (instructions.FILE_BYTES + 1))
    (tmp_path / "empty" / "AGENTS.md").write_text(" \n")
    for folder in folders:
        found, problems = inside(tmp_path, folder)
        assert found == []
        assert len(problems) == (folder.name != "empty"), problems


def test_controls_are_visible_to_the_model_too(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes("say \x1b[8mhidden\u202e".encode() + b"\xff")
    ((_, text),), _ = inside(tmp_path, tmp_path)
    assert text == "say \\x1b[8mhidden\\u202e\ufffd"


def test_the_section_names_each_file(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("use tabs\n")
    found, _ = find(str(tmp_path))
    assert f"Instructions from {tmp_path}/AGENTS.md:\n\nuse tabs" in section(found)
