"""Write creates, overwrites only what is known, and keeps the form of the file."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import pytest

from agenyx.core.redact import MASK
from agenyx.tools.read import Read
from agenyx.tools.write import Write

READ, WRITE = Read(), Write()


def test_a_new_file_with_its_directories(work: Any) -> None:
    assert work.ok(WRITE, file_path="a/b/c.txt", content="one\ntwo\n") == "Created a/b/c.txt (2 lines, 8 bytes)."
    assert (work.path / "a/b/c.txt").read_bytes() == b"one\ntwo\n"
    assert "Overwrote" in work.ok(WRITE, file_path="a/b/c.txt", content="three")
    assert work.seen == {str(work.path / "a/b/c.txt"): hashlib.sha256(b"three").hexdigest()}


def test_effects_tell_a_write_with_its_diff(work: Any) -> None:
    work.put("f", "old\n")
    effects = work.project(WRITE, file_path="f", content="new\n")
    assert effects.acts and effects.writes[0].shown == "f" and not effects.parallel
    assert "-old\n+new" in effects.preview
    dry = work.project(WRITE, file_path="f", content="new\n", dry_run=True)
    assert not dry.acts and dry.reads[0].shown == "f"
    assert "outside" in work.project(WRITE, file_path="../f", content="x").preview


def test_an_existing_file_must_have_been_read(work: Any) -> None:
    path = work.put("f", "precious\n")
    assert "Read it first" in work.fails(WRITE, file_path="f", content="x")
    work.ok(READ, file_path="f")
    path.write_bytes(b"changed by a person\n")
    assert "changed since" in work.fails(WRITE, file_path="f", content="x")
    assert path.read_bytes() == b"changed by a person\n"
    work.ok(READ, file_path="f")
    os.utime(path)  # a new time alone is no change
    work.ok(WRITE, file_path="f", content="x")
    assert path.read_bytes() == b"x"


def test_a_dry_run_changes_nothing(work: Any) -> None:
    path = work.put("f", "old\n")
    text = work.ok(WRITE, file_path="f", content="new\n", dry_run=True)
    assert "-old\n+new" in text and "nothing was changed" in text
    assert "+x" in work.ok(WRITE, file_path="made/up", content="x", dry_run=True)
    assert path.read_bytes() == b"old\n"
    assert sorted(os.listdir(work.path)) == ["f"]


@pytest.mark.parametrize(
    ("old", "content", "new", "note"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", "CRLF"),
        (b"a\rb\r", "x\ny\n", b"x\ry\r", "CR line ends"),
        (b"a\nb\n", "x\r\ny\r\n", b"x\r\ny\r\n", "from LF to CRLF"),
        (b"a\nb\r\n", "x\ny\n", b"x\ny\n", "from mixed to LF"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n", "byte order mark"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n", "byte order mark"),
        ("café\n".encode("latin-1"), "thé\n", "thé\n".encode("latin-1"), "windows-1252"),
        ("a\n".encode("utf-16"), "é\n", "é\n".encode("utf-16"), "utf-16"),
        (b"a\nb\n", "x\ny", b"x\ny", ""),
    ],
)
def test_the_form_is_kept_or_the_change_is_said(work: Any, old: bytes, content: str, new: bytes, note: str) -> None:
    path = work.put("f", old)
    work.ok(READ, file_path="f")
    text = work.ok(WRITE, file_path="f", content=content)
    assert path.read_bytes() == new
    assert note in text and ("Note" in text) == bool(note)


def test_content_that_would_lose_something_is_refused(work: Any) -> None:
    path = work.put("latin", "café\n".encode("latin-1"))
    work.ok(READ, file_path="latin")
    assert "→" in work.fails(WRITE, file_path="latin", content="a → b")
    assert path.read_bytes() == "café\n".encode("latin-1")
    work.put("stray", "é é é".encode() + b"\xff")
    work.ok(READ, file_path="stray")
    assert "Edit" in work.fails(WRITE, file_path="stray", content="x")
    work.put("env", "KEY=sk-1234567890\nMODE=1\n")
    work.ok(READ, file_path="env")
    assert "hidden" in work.fails(WRITE, file_path="env", content=f"KEY={MASK}\nMODE=2\n")
    work.put("bin", b"\0")
    assert "binary" in work.fails(WRITE, file_path="bin", content="x")


@pytest.mark.parametrize("path", ["../x", "/etc/x", "d", "d/", "new/", "f/x", "", "~/x"])
def test_places_that_cannot_be_written(work: Any, path: str) -> None:
    (work.path / "d").mkdir()
    work.put("f", "x")
    assert len(work.fails(WRITE, file_path=path, content="x")) > 20
    assert sorted(os.listdir(work.path)) == ["d", "f"]


def test_a_link_out_of_the_workspace_is_refused(work: Any) -> None:
    outside = work.path.parent / "outside"
    (work.path / "link").symlink_to(outside)
    assert "outside" in work.fails(WRITE, file_path="link", content="x")
    assert not outside.exists()


def test_hard_links_keep_the_old_content_and_it_is_said(work: Any) -> None:
    path = work.put("f", "old")
    os.link(path, work.path / "g")
    work.ok(READ, file_path="f")
    assert "hard links" in work.ok(WRITE, file_path="f", content="new")
    assert (work.path / "g").read_bytes() == b"old"
