"""A look into a stored session: how it began and ended, without a model and without its lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.app.session_peek import Peek, peek
from support.stored import store_session, turn


def test_the_first_and_the_last_prompt_and_the_last_answer(tmp_path: Path) -> None:
    turns = [turn("find the bug", "found"), turn("mend it", "mended", '{"file_path":"a"}'), turn("test it", "green")]
    seen = peek(str(store_session(tmp_path / "home", tmp_path, "s1", turns)))
    assert (seen.first, seen.last, seen.said) == ("find the bug", "test it", "green")
    assert (seen.prompts, seen.steps) == (3, 4)


def test_long_prompts_are_cut(tmp_path: Path) -> None:
    seen = peek(str(store_session(tmp_path / "home", tmp_path, "s1", [turn("x" * 5000, "y" * 5000)])))
    assert (len(seen.first), len(seen.said)) == (2000, 2000)


def test_lines_that_are_no_records_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "s1"
    folder.mkdir()
    (folder / "transcript.jsonl").write_bytes(b"nonsense\n{}\n")
    assert peek(str(folder)) == Peek()


def test_a_session_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        peek(str(tmp_path / "none"))
