"""Edit changes the one place that is meant, unread too, and explains itself when it does not."""

from __future__ import annotations

from typing import Any

from agenyx.tools.edit import Edit
from agenyx.tools.read import Read

EDIT, READ = Edit(), Read()


def test_one_exact_place_needs_no_read(work: Any) -> None:
    path = work.put("a.py", "one\ntwo\nthree\n")
    text = work.ok(EDIT, file_path="a.py", old_string="two", new_string="2")
    assert path.read_bytes() == b"one\n2\nthree\n"
    assert text.splitlines()[0] == "Edited a.py: 1 replacement."
    assert "-two\n+2" in text and "@@ -1,3 +1,3 @@" in text
    work.ok(EDIT, file_path="a.py", old_string="2", new_string="two")
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_effects_tell_a_write_with_its_diff(work: Any) -> None:
    path = work.put("f", "old\n")
    effects = work.project(EDIT, file_path="f", old_string="old", new_string="new")
    assert effects.acts and effects.writes[0].shown == "f" and "-old\n+new" in effects.preview
    assert not work.project(EDIT, file_path="f", old_string="old", new_string="new", dry_run=True).acts
    assert "would fail" in work.project(EDIT, file_path="f", old_string="none", new_string="x").preview
    assert path.read_bytes() == b"old\n"


def test_a_formatter_in_between_is_no_obstacle_while_the_place_is_unique(work: Any) -> None:
    path = work.put("f", "a\nb\n")
    work.ok(READ, file_path="f")
    path.write_bytes(b"# formatted\na\nb\n")
    work.ok(EDIT, file_path="f", old_string="b", new_string="c")
    assert path.read_bytes() == b"# formatted\na\nc\n"


def test_replacing_several_places_needs_a_fresh_read(work: Any) -> None:
    path = work.put("f", "x\ny\nx\n")
    args = {"file_path": "f", "old_string": "x", "new_string": "z", "replace_all": True}
    refused = work.fails(EDIT, **args)
    assert "has not been read" in refused and "lines 1, 3" in refused
    work.ok(READ, file_path="f")
    path.write_bytes(b"x\ny\nx\nx\n")
    assert "has changed" in work.fails(EDIT, **args)
    assert path.read_bytes() == b"x\ny\nx\nx\n"
    work.ok(READ, file_path="f")
    assert "3 replacements" in work.ok(EDIT, **args)
    assert path.read_bytes() == b"z\ny\nz\nz\n"
    work.ok(EDIT, file_path="f", old_string="y", new_string="z")
    work.ok(EDIT, file_path="f", old_string="z", new_string="w", replace_all=True)  # our own edit was observed
    assert path.read_bytes() == b"w\nw\nw\nw\n"


def test_failures_leave_the_file_and_say_why(work: Any) -> None:
    path = work.put("f", "\tx = 1\n\tx = 1\n")
    assert "2 times" in work.fails(EDIT, file_path="f", old_string="x = 1", new_string="y")
    assert "white space" in work.fails(EDIT, file_path="f", old_string="    x = 1\n    x = 1", new_string="y")
    assert "same" in work.fails(EDIT, file_path="f", old_string="x", new_string="x")
    assert "empty" in work.fails(EDIT, file_path="f", old_string="", new_string="x")
    assert "Did you mean f?" in work.fails(EDIT, file_path="f.", old_string="x", new_string="y")
    assert path.read_bytes() == b"\tx = 1\n\tx = 1\n"


def test_an_empty_old_string_creates(work: Any) -> None:
    assert "Created new/f" in work.ok(EDIT, file_path="new/f", old_string="", new_string="text\n")
    assert (work.path / "new/f").read_bytes() == b"text\n"
    work.put("empty")
    work.ok(EDIT, file_path="empty", old_string="", new_string="x")
    assert (work.path / "empty").read_bytes() == b"x"
    assert "both empty" in work.fails(EDIT, file_path="other", old_string="", new_string="")
    assert "does not exist" in work.fails(EDIT, file_path="zzz", old_string="a", new_string="b")


def test_crlf_files_keep_their_line_ends(work: Any) -> None:
    path = work.put("f", b"\xef\xbb\xbfa\r\nb\r\n")
    work.ok(EDIT, file_path="f", old_string="a\nb", new_string="a\nnew\nb")
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nnew\r\nb\r\n"


def test_a_dry_run_shows_and_changes_nothing(work: Any) -> None:
    path = work.put("f", "a\n")
    text = work.ok(EDIT, file_path="f", old_string="a", new_string="b", dry_run=True)
    assert "-a\n+b" in text and "nothing was changed" in text
    assert path.read_bytes() == b"a\n"
    assert work.seen == {}


def test_notebooks_are_text(work: Any) -> None:
    path = work.put("n.ipynb", '{"cells": [{"source": ["print(1)"]}]}')
    work.ok(EDIT, file_path="n.ipynb", old_string="print(1)", new_string="print(2)")
    assert b"print(2)" in path.read_bytes()


def test_what_is_shown_of_a_large_change_is_bounded(work: Any) -> None:
    work.put("f", "x\n" * 50_000)
    work.ok(READ, file_path="f")
    text = work.ok(EDIT, file_path="f", old_string="x", new_string="y" * 50, replace_all=True)
    assert "50000 replacements" in text
    assert len(text) < 5000
