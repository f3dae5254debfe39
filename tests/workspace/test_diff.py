"""Diffs say what changes and stay small and quick."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.workspace.diff import unified


def test_a_small_change() -> None:
    before, after = b"a\nb\nc\nd\ne\nf\ng\nh\n", b"a\nb\nc\nd\nE\nf\ng\nh\n"
    assert unified(before, after, "f.txt").splitlines() == [
        "--- f.txt",
        "+++ f.txt",
        "@@ -2,7 +2,7 @@",
        " b",
        " c",
        " d",
        "-e",
        "+E",
        " f",
        " g",
        " h",
    ]


def test_new_unchanged_and_binary_files() -> None:
    assert unified(None, b"x\n", "n").splitlines() == ["--- /dev/null", "+++ n", "@@ -0,0 +1,1 @@", "+x"]
    assert unified(b"x\n", b"x\n", "n") == ""
    assert "binary" in unified(b"\0", b"x", "n")


def test_a_change_of_form_only_is_put_into_words() -> None:
    assert "crlf line ends → utf-8, lf line ends" in unified(b"a\r\n", b"a\n", "n")
    assert "no line end at the end" in unified(b"a\n", b"a", "n")


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_the_diff_can_be_applied(tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]) -> None:
    folder: Path = tmp_path_factory.mktemp("patch")
    before = "".join(f"{line}\n" for line in old).encode()
    after = "".join(f"{line}\n" for line in new).encode()
    (folder / "f").write_bytes(before)
    diff = unified(before, after, "f")
    if diff:
        done = subprocess.run(
            ["patch", "-s", "f"], cwd=folder, input=diff + "\n", text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{diff}\n{done.stdout}"
    assert ((folder / "f").read_bytes() if (folder / "f").exists() else b"") == after


def test_large_changes_are_bounded() -> None:
    started = time.monotonic()
    before = b"".join(b"line %d\n" % number for number in range(200_000))
    many = unified(before, before.replace(b"7", b"seven"), "f", most=50)
    other = unified(before, b"".join(b"other %d\n" % number for number in range(150_000)), "f", most=50)
    long = unified(b"x" * 1_000_000, b"y" * 1_000_000, "f")
    assert len(many.splitlines()) < 400 and "more changed places" in many
    assert len(other.splitlines()) < 150 and "more lines" in other
    assert len(long) < 2000
    assert time.monotonic() - started < 20
