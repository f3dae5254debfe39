"""Read shows numbered lines of what can be read, and says plainly why something cannot."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agenyx.session.media import MediaStore
from agenyx.tools.read import Read
from support.pictures import JPEG, PDF, PNG, png

READ = Read()


def test_lines_are_numbered_and_the_content_is_observed(work: Any) -> None:
    work.put("a.py", "one\n\ttwo\n\nfour")
    outcome = work.call(READ, file_path="a.py")
    assert outcome.content[0].text == "     1→one\n     2→\ttwo\n     3→\n     4→four"
    assert outcome.observed[0].path == str(work.path / "a.py")
    assert outcome.observed[0].sha256 == hashlib.sha256(b"one\n\ttwo\n\nfour").hexdigest()


def test_effects_are_a_parallel_read(work: Any) -> None:
    effects = work.project(READ, file_path="../x")
    assert (effects.parallel, effects.acts) == (True, False)
    assert "outside" in effects.reads[0].problem


def test_parts_name_the_next_offset(work: Any) -> None:
    work.put("f", "".join(f"line {n}\n" for n in range(1, 11)))
    text = work.ok(READ, file_path="f", offset=4, limit=3)
    assert text.splitlines() == [
        "     4→line 4",
        "     5→line 5",
        "     6→line 6",
        "[lines 4-6 of 10; continue with offset=7]",
    ]
    assert work.ok(READ, file_path="f", offset="9").splitlines()[-1] == "[lines 9-10 of 10]"
    assert "10 lines" in work.fails(READ, file_path="f", offset=11)


def test_what_the_model_sees_is_bounded_at_a_line(work: Any) -> None:
    work.result_chars = 3000
    work.put("f", "".join(f"{n} {'x' * 90}\n" for n in range(1, 1001)))
    text = work.ok(READ, file_path="f")
    assert len(text) <= 3000
    shown = len(text.splitlines()) - 1
    assert text.endswith(f"[lines 1-{shown} of 1000; continue with offset={shown + 1}]")


def test_long_lines_are_cut_and_say_so(work: Any) -> None:
    work.put("f", "x" * 5000 + "\nshort\n")
    first, second = work.ok(READ, file_path="f").splitlines()
    assert first.count("x") == 2000 and "5,000 characters" in first
    assert second == "     2→short"


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"", "is empty", ""),
        (b"\n", "     1→", ""),
        (b"\xef\xbb\xbfa\r\nb\r\n", "     1→a\n     2→b\n", "byte order mark, CRLF"),
        ("café".encode("latin-1"), "1→café", "windows-1252"),
        ("zwei\nz".encode("utf-16"), "     1→zwei\n     2→z", "utf-16"),
        (b"a\rb", "     1→a\n     2→b", "CR line ends"),
        ("é é ".encode() + b"\xff\n", "é é \\xff", "invalid bytes"),
    ],
)
def test_every_form_of_text_is_readable(work: Any, data: bytes, text: str, note: str) -> None:
    work.put("f", data)
    result = work.ok(READ, file_path="f")
    assert text in result and note in result
    assert "\ufffd" not in result


def test_binary_files_are_named(work: Any) -> None:
    work.put("p.png", b"\x89PNG\r\n\x1a\n\0\0\0")
    work.put("b", b"a\0b")
    assert "PNG image" in work.fails(READ, file_path="p.png")
    assert "binary" in work.fails(READ, file_path="b")
    assert work.seen == {}


def test_missing_files_suggest_similar_names(work: Any) -> None:
    work.put("src/config.py", "x")
    work.put("src/Reader.TSX", "x")
    assert "Did you mean src/config.py?" in work.fails(READ, file_path="src/confg.py")
    assert "src/Reader.TSX" in work.fails(READ, file_path="src/reader.ts")
    assert "does not exist" in work.fails(READ, file_path="nowhere/at/all")


def test_directories_and_fifos_are_refused_at_once(work: Any) -> None:
    (work.path / "d").mkdir()
    os.mkfifo(work.path / "p")
    assert "LS" in work.fails(READ, file_path="d")
    assert "FIFO" in work.fails(READ, file_path="p")
    assert "outside" in work.fails(READ, file_path="/etc/passwd")
    assert "~" in work.fails(READ, file_path="~/.ssh/id_rsa")


def test_files_beyond_the_limit_are_read_in_parts_without_being_observed(work: Any) -> None:
    with open(work.path / "big", "wb") as file:
        for number in range(1, 300_001):
            file.write(b"%07d %s\n" % (number, b"x" * 60))
    outcome = work.call(READ, file_path="big", offset=299_999, limit=2)
    assert outcome.content[0].text.startswith("299999→0299999 x")
    assert "end of file" in outcome.content[0].text
    assert outcome.observed == ()
    assert "offset=3" in work.ok(READ, file_path="big", limit=2)
    assert "ends before" in work.fails(READ, file_path="big", offset=400_000)


def test_a_sparse_gigabyte_and_a_line_of_a_hundred_megabytes_answer(work: Any) -> None:
    with open(work.path / "sparse", "wb") as file:
        file.truncate(1 << 30)
    with open(work.path / "line", "wb") as file:
        for _ in range(100):
            file.write(b"y" * (1 << 20))
        file.write(b"\nend\n")
    started = time.monotonic()
    assert "binary" in work.fails(READ, file_path="sparse")
    text = work.ok(READ, file_path="line")
    assert time.monotonic() - started < 15
    assert "104,857,600 bytes" in text and "     2→end" in text
    assert len(text) < 4000


def test_a_name_that_is_no_utf8_can_be_read_as_it_is_listed(work: Any) -> None:
    from agenyx.tools.ls import LS

    try:
        with open(os.path.join(os.fsencode(work.path), b"caf\xe9"), "wb") as file:
            file.write(b"coffee")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    shown = work.ok(LS())
    assert work.ok(READ, file_path=shown) == "     1→coffee"
    assert list(work.seen) == [str(work.path / "caf\\xe9")]


# --- images and documents --------------------------------------------------------------------------------------------


@pytest.fixture
def seeing(work: Any, tmp_path: Path) -> Any:
    """A workspace whose model can be shown everything."""
    store = MediaStore(str(tmp_path / "session"))
    work.keep = lambda data, name: store.keep(data, name, ("images", "documents"))
    return work


def test_an_image_is_shown_whatever_its_name_says(seeing: Any) -> None:
    for name, data, mime in (("a.txt", PNG, "image/png"), ("b.png", JPEG, "image/jpeg"), ("c", PDF, "application/pdf")):
        seeing.put(name, data)
        outcome = seeing.call(READ, file_path=name)
        said, media = outcome.content
        assert outcome.status == "ok" and said.text == f"{name}: {mime}, {len(data):,} bytes."
        assert (media.mime, media.name, media.size) == (mime, name, len(data))
        assert outcome.observed[0].sha256 == media.sha256 == hashlib.sha256(data).hexdigest()


def test_text_is_text_whatever_it_begins_with(seeing: Any) -> None:
    seeing.put("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>')
    assert "<svg" in seeing.ok(READ, file_path="a.svg")
    seeing.put("a.png", "GIF89a is a format\n")
    assert "is a format" in seeing.ok(READ, file_path="a.png")


def test_a_document_that_is_text_is_read_by_a_model_that_cannot_be_shown_it(work: Any) -> None:
    work.put("a.pdf", "%PDF-1.4\n1 0 obj\n%%EOF\n")
    assert "1 0 obj" in work.ok(READ, file_path="a.pdf")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png(20_000, 20_000), "20,000 x 20,000 pixels"),
        (PNG[:-6], "cut off"),
        (JPEG[:100], "cut off"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "no header"),
    ],
)
def test_hostile_images_are_refused_in_words(seeing: Any, data: bytes, why: str) -> None:
    seeing.put("a.png", data)
    text = seeing.fails(READ, file_path="a.png")
    assert text.startswith("a.png is a ") and why in text


def test_an_image_beyond_the_limit_of_files_is_not_read(seeing: Any) -> None:
    with open(seeing.put("a.png", PNG), "r+b") as file:
        file.truncate((16 << 20) + 1)
    assert "PNG image" in (text := seeing.fails(READ, file_path="a.png")) and "16,777,216" in text


def test_an_image_that_became_a_link_after_it_was_judged_is_not_shown(seeing: Any, tmp_path: Path) -> None:
    shot = seeing.put("a.png", PNG)
    (tmp_path / "elsewhere.png").write_bytes(JPEG)

    def swap() -> None:
        shot.unlink()
        shot.symlink_to(tmp_path / "elsewhere.png")

    outcome = seeing.call(READ, between=swap, file_path="a.png")
    assert outcome.status == "error" and len(outcome.content) == 1 and not (tmp_path / "session").exists()
