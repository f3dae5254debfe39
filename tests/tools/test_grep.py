"""Grep finds what is there, in any file name and encoding, bounded, and shows nothing protected."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.proc import programs
from agenyx.tools.grep import Grep
from agenyx.tools.read import Read

TOOL = Grep()


def test_lines_files_and_counts(work: Any) -> None:
    work.put("b.py", "foo\nbar\nfoo bar\n")
    work.put("src/a.py", "x\nfoo\n")
    assert work.ok(TOOL, pattern="foo").splitlines() == ["b.py:1:foo", "b.py:3:foo bar", "src/a.py:2:foo"]
    assert work.ok(TOOL, pattern="foo", output_mode="files").splitlines() == ["b.py", "src/a.py"]
    assert work.ok(TOOL, pattern="foo", output_mode="files_with_matches").splitlines() == ["b.py", "src/a.py"]
    assert work.ok(TOOL, pattern="foo", output_mode="count").splitlines() == ["b.py:2", "src/a.py:1"]
    assert work.ok(TOOL, pattern="foo", path="src") == "src/a.py:2:foo"
    assert work.ok(TOOL, pattern="foo", path="src/a.py") == "src/a.py:2:foo"
    assert "No matches" in work.ok(TOOL, pattern="nothing")
    assert work.project(TOOL, pattern="x", path="src").reads[0].shown == "src"
    assert work.project(TOOL, pattern="x").parallel


def test_options(work: Any) -> None:
    work.put("f", "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n")
    assert work.ok(TOOL, pattern="three", case_insensitive=True) == "f:3:THREE"
    assert work.ok(TOOL, pattern="THREE", context=1).splitlines() == ["f-2-two", "f:3:THREE", "f-4-four"]
    assert "--" in work.ok(TOOL, pattern="one|seven", context=1).splitlines()
    assert work.ok(TOOL, pattern="two.*four", multiline=True).splitlines() == ["f:2:two", "f:3:THREE", "f:4:four"]
    assert work.ok(TOOL, pattern="[ei].*e$") == "f:5:five"


def test_pages(work: Any) -> None:
    work.put("f", "".join(f"hit {n}\n" for n in range(1, 8)))
    text = work.ok(TOOL, pattern="hit", head_limit=3, offset=3).splitlines()
    assert text == ["f:4:hit 4", "f:5:hit 5", "f:6:hit 6", "[results 4-6 of 7; continue with offset=6]"]
    assert work.ok(TOOL, pattern="hit", offset=6) == "f:7:hit 7"
    assert "only 7 results" in work.ok(TOOL, pattern="hit", offset=7)
    assert len(work.ok(TOOL, pattern="hit", head_limit=0).splitlines()) == 7
    work.result_chars = 1000
    short = work.ok(TOOL, pattern="hit|^", head_limit=0)
    assert len(short) <= 1000


def test_narrowing_by_glob_and_type_respects_ignore_files(work: Any) -> None:
    for name in ("a.py", "src/b.py", "src/c.ts", "src/node_modules/d.ts", "src/x/e.ts", "log.log", "web/f.tsx"):
        work.put(name, "needle\n")
    work.put(".gitignore", "node_modules\n*.log\n")

    def files(**args: object) -> list[str]:
        return work.ok(TOOL, pattern="needle", output_mode="files", **args).splitlines()

    assert files(glob="*.ts") == ["src/c.ts", "src/x/e.ts"]
    assert files(glob="*.{ts,tsx}") == ["src/c.ts", "src/x/e.ts", "web/f.tsx"]
    assert files(glob="src/**") == ["src/b.py", "src/c.ts", "src/x/e.ts"]
    assert files(glob="src/*.ts") == ["src/c.ts"]
    assert files(glob="**/x/*.ts") == ["src/x/e.ts"]
    assert files(glob="{src,web}/*.{ts,tsx}") == ["src/c.ts", "web/f.tsx"]
    assert files(glob="!*.ts", path="src") == ["src/b.py"]
    assert files(glob="*") == ["a.py", "src/b.py", "src/c.ts", "src/x/e.ts", "web/f.tsx"]
    assert files(type="py") == ["a.py", "src/b.py"]
    assert files(type="py", glob="src/**") == ["src/b.py"]
    assert "No matches" in files(glob="nowhere/**")[0]


def test_hidden_files_are_searched_git_is_not_and_links_are_not_followed(work: Any) -> None:
    work.put(".github/w.yml", "needle\n")
    work.put(".git/config", "needle\n")
    outside = work.path.parent / "out"
    outside.mkdir()
    (outside / "secret").write_text("needle\n", "utf-8")
    (work.path / "link").symlink_to(outside)
    (work.path / "file").symlink_to(outside / "secret")
    (work.path / "loop").symlink_to(".")
    assert work.ok(TOOL, pattern="needle") == ".github/w.yml:1:needle"
    assert "needle" not in work.ok(TOOL, pattern="needl[e]", glob="link/**").replace("needl[e]", "")
    assert "outside" in work.fails(TOOL, pattern="needle", path="link")
    assert "outside" in work.fails(TOOL, pattern="root", path="/etc/passwd")


def test_protected_files_are_left_out_unless_they_were_asked_for(work: Any) -> None:
    work.put(".env", "TOKEN=needle\n")
    os.link(work.path / ".env", work.path / "copy.txt")
    work.put("a", "needle\n")
    for mode in ("content", "files", "count"):
        text = work.ok(TOOL, pattern="needle", output_mode=mode)
        assert "TOKEN" not in text
        assert text.splitlines()[0].startswith("a") and ".env" in text and "copy.txt" in text
        assert "protected" in text.splitlines()[-1]
    assert work.project(TOOL, pattern="x", path=".env").reads[0].protected
    assert work.ok(TOOL, pattern="needle", path=".env") == ".env:1:TOKEN=needle"


def test_odd_names_and_patterns(work: Any) -> None:
    for name in ("-dash", "a:1:b", "new\nline:2:", "sp ace"):
        work.put(name, "x -e needle\n")
    assert sorted(work.ok(TOOL, pattern="needle").splitlines()) == [
        "-dash:1:x -e needle",
        "a:1:b:1:x -e needle",
        "new\\x0aline:2::1:x -e needle",
        "sp ace:1:x -e needle",
    ]
    assert len(work.ok(TOOL, pattern="-e needle").splitlines()) == 4
    assert work.ok(TOOL, pattern="needle", path="-dash") == "-dash:1:x -e needle"
    assert work.ok(TOOL, pattern="needle", path="new\\x0aline:2:", output_mode="count") == "new\\x0aline:2::1"


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="the file system takes only UTF-8 names")
def test_names_that_are_no_utf8_lead_back(work: Any) -> None:
    with open(os.path.join(os.fsencode(work.path), b"caf\xe9"), "wb") as file:
        file.write(b"needle\n")
    name = work.ok(TOOL, pattern="needle", output_mode="files")
    assert name == "caf\\xe9"
    assert work.ok(Read(), file_path=name) == "     1→needle"


def test_encodings_line_ends_long_lines_and_binary_files(work: Any) -> None:
    work.put("crlf", b"needle\r\nx\r\n")
    work.put("latin", "needle café\n".encode("latin-1"))
    work.put("utf16", "needle é\n".encode("utf-16"))
    work.put("long", b"needle" + b"x" * 10_000 + b"\n")
    work.put("binary", b"needle\n\0\n")
    lines = work.ok(TOOL, pattern="needle").splitlines()
    assert "crlf:1:needle" in lines and "latin:1:needle café" in lines and "utf16:1:needle é" in lines
    (long,) = (line for line in lines if line.startswith("long"))
    assert long.endswith("… [line cut]") and len(long) < 600
    assert work.ok(TOOL, pattern="needle$", path="crlf") == "crlf:1:needle"
    assert "binary files match: binary" in work.ok(TOOL, pattern="needle", path="binary")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"pattern": "("}, ["not a valid regular expression", "unclosed group"]),
        ({"pattern": "(?<=a)b"}, ["look-around"]),
        ({"pattern": "a\nb"}, ["multiline"]),
        ({"pattern": "x", "type": "nope"}, ["no file type 'nope'"]),
        ({"pattern": "x", "type": "--pre=sh"}, ["not a file type"]),
        ({"pattern": "x", "glob": "{a"}, ["has no }"]),
        ({"pattern": "x", "glob": "![z-a]"}, ["failed"]),
        ({"pattern": "x", "path": "nowhere"}, ["does not exist"]),
        ({"pattern": "x\0"}, ["NUL"]),
        ({"pattern": "x{1000000000}"}, ["pattern"]),
    ],
)
def test_wrong_calls_are_explained(work: Any, args: dict[str, str], words: list[str]) -> None:
    work.put("f", "x")
    text = work.fails(TOOL, **args)
    for word in words:
        assert word in text
    assert len(text) < 400


def test_out_of_time_gives_what_was_found(work: Any, endless_rg: Callable[[str], None]) -> None:
    work.put("f", "needle\n")
    endless_rg(r"./f\0001:needle\n./f\0002:nee")
    lines = work.ok(Grep(seconds=2.0), pattern="needle").splitlines()
    assert lines == ["f:1:needle", "[stopped after 2 seconds: there may be more; narrow the search]"]


def test_floods_are_capped_and_the_search_is_ended(work: Any) -> None:
    work.put("f", b"needle in a line\n" * 600_000)
    text = work.ok(TOOL, pattern="needle")
    assert "stopped after 4 MiB" in text
    assert len(text.splitlines()) == 252
    assert "f:250:needle in a line" in text


def test_configuration_of_the_environment_is_not_used(work: Any, tmp_path: Path) -> None:
    config = tmp_path / "rc"
    config.write_text("--files-without-match\n", "utf-8")
    work.env["RIPGREP_CONFIG_PATH"] = str(config)
    work.put("f", "needle\n")
    assert work.ok(TOOL, pattern="needle") == "f:1:needle"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_said(work: Any) -> None:
    work.put("a", "needle\n")
    work.put("b", "needle\n").chmod(0)
    text = work.ok(TOOL, pattern="needle")
    assert "a:1:needle" in text and "could not be read" in text


def test_a_missing_program_is_a_clear_error(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find", lambda *_: None)
    assert "pip install ripgrep" in work.fails(TOOL, pattern="x")
