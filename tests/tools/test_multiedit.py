"""MultiEdit makes all of its replacements or none, and says which one does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.core.redact import MASK
from agenyx.tools.multiedit import MultiEdit
from agenyx.tools.read import Read

TOOL, READ = MultiEdit(), Read()


def edit(old: str, new: str, **more: object) -> dict[str, object]:
    return {"old_string": old, "new_string": new, **more}


def test_each_edit_sees_the_result_of_those_before_it(work: Any) -> None:
    path = work.put("f", b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    text = work.ok(TOOL, file_path="f", edits=[edit("one", "zero\none"), edit("zero\none", "first"), edit("two", "2")])
    assert path.read_bytes() == b"\xef\xbb\xbffirst\r\n2\r\nthree\r\n"
    assert text.startswith("Edited f: 3 edits, 3 replacements.") and "-two" in text and "+first" in text


def test_one_that_does_not_fit_leaves_the_file_and_is_named(work: Any) -> None:
    path = work.put("f", "a\nb\nb\n")
    told = work.fails(TOOL, file_path="f", edits=[edit("a", "x"), edit("b", "y"), edit("c", "z")])
    assert "f was not changed, edit 2 of 3 does not fit (after the edits before it)" in told and "2 times" in told
    told = work.fails(TOOL, file_path="f", edits=[edit("nope", "x"), edit("a", "z")])
    assert "edit 1 of 2 does not fit: old_string was not found" in told
    assert "edit 2 of 2" in work.fails(TOOL, file_path="f", edits=[edit("a", "x"), edit("", "y")])
    assert path.read_bytes() == b"a\nb\nb\n"


def test_replacing_all_needs_a_fresh_read_as_with_edit(work: Any) -> None:
    path = work.put("f", "x\ny\nx\n")
    edits = [edit("y", "w"), edit("x", "z", replace_all=True)]
    told = work.fails(TOOL, file_path="f", edits=edits)
    assert "has not been read yet, and edit 2 replaces several places" in told
    work.ok(READ, file_path="f")
    path.write_bytes(b"x\ny\nx\nx\n")
    assert "has changed" in work.fails(TOOL, file_path="f", edits=edits)
    work.ok(READ, file_path="f")
    assert "2 edits, 4 replacements" in work.ok(TOOL, file_path="f", edits=edits)
    assert path.read_bytes() == b"z\nw\nz\nz\n"
    work.ok(TOOL, file_path="f", edits=[edit("z", "q", replace_all=True)])  # its own change was observed


def test_the_effects_are_one_write_with_one_diff(work: Any) -> None:
    path = work.put("f", "a\nb\n")
    effects = work.project(TOOL, file_path="f", edits=[edit("a", "x"), edit("b", "y")])
    assert [ref.shown for ref in effects.writes] == ["f"] and not effects.parallel
    assert effects.preview.count("@@ -") == 1 and "-a\n-b\n+x\n+y" in effects.preview
    assert "would fail" in work.project(TOOL, file_path="f", edits=[edit("none", "x")]).preview
    assert path.read_bytes() == b"a\nb\n"


def test_an_empty_first_old_string_creates(work: Any) -> None:
    assert "Created new/f" in work.ok(TOOL, file_path="new/f", edits=[edit("", "a\n"), edit("a", "b")])
    assert (work.path / "new/f").read_bytes() == b"b\n"
    assert "does not exist" in work.fails(TOOL, file_path="zzz", edits=[edit("a", "b")])
    assert "edit 1 of 1" in work.fails(TOOL, file_path="new/f", edits=[edit("", "c")])


def test_a_mask_does_not_take_the_place_of_a_secret_in_two_edits(work: Any) -> None:
    path = work.put("f", "key = 0123456789abcdef\nend\n")
    edits = [edit("key = 0123456789abcdef\n", ""), edit("end", f"key = {MASK}\nend")]
    assert "secret" in work.fails(TOOL, file_path="f", edits=edits)
    assert b"0123456789abcdef" in path.read_bytes()


@pytest.mark.parametrize("edits", [[], [{"old_string": "a"}], [edit("a", "b", other=1)], "a"])
def test_wrong_arguments_are_refused(work: Any, edits: object) -> None:
    with pytest.raises(ValueError):
        work.call(TOOL, file_path="f", edits=edits)
