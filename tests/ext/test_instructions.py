"""How instruction files become a text that shows all it holds."""

from __future__ import annotations

import pytest

from agenyx.ext import instructions as module
from agenyx.ext.instructions import bounded, instructions, section, told, visible
from agenyx.ext.sources import Source


def source(path: str, data: bytes, by: str = "", *, own: bool = False) -> Source:
    folder, _, name = path.rpartition("/")
    return Source("instructions", "user" if own else "workspace", folder, name, path, data, by)


def test_a_file_is_told_once() -> None:
    found = instructions(
        [
            source("/AGENTS.md", b"outer\n"),
            source("/CLAUDE.md", b"outer\n"),
            source("/a/CLAUDE.md", b"outer\n"),
            source("/a/b/AGENTS.md", b"\xef\xbb\xbfinner\r\nlines\r\n"),
            source("/a/b/CLAUDE.md", b"another text\n"),
            source("/a/b/CLAUDE.local.md", b"inner\nlines\n"),
        ]
    )
    assert [(item.path, item.text) for item in found] == [
        ("/AGENTS.md", "outer"),
        ("/a/CLAUDE.md", "outer"),
        ("/a/b/AGENTS.md", "inner\nlines"),
        ("/a/b/CLAUDE.md", "another text"),
    ]
    assert "Instructions from /a/b/CLAUDE.md:\n\nanother text" in section(found)
    assert section([]) == ""


def test_whose_they_are_and_who_takes_them_in_is_said() -> None:
    text = section(
        instructions(
            [
                source("/w/CLAUDE.md", b"project"),
                source("/w/docs/x.md", b"more", "/w/CLAUDE.md"),
                source("/home/.agenyx/AGENTS.md", b"mine", own=True),
            ]
        )
    )
    assert text.index("# The user's instructions") < text.index("mine") < text.index("# Project instructions")
    assert "Instructions from /w/docs/x.md, taken in by /w/CLAUDE.md:\n\nmore" in text
    assert told(text) == {"/w/CLAUDE.md", "/w/docs/x.md", "/home/.agenyx/AGENTS.md"}


def test_what_stands_nearest_stays_when_there_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHARS", 10)
    found = instructions([source("/A", b"x" * 5), source("/a/A", b"y" * 6), source("/a/b/A", b"z" * 4)])
    kept, left = bounded(found)
    assert ([item.path for item in kept], [item.path for item in left]) == (["/a/A", "/a/b/A"], ["/A"])


@pytest.mark.parametrize(
    ("data", "text", "told"),
    [
        ("say \x1b[8mhidden\u202e".encode() + b"\xff", "say \\x1b[8mhidden\\u202e\ufffd", "U+202E, control"),
        ("a\u200bb\u200b".encode(), "a\\u200bb\\u200b", "U+200B x2"),
        ("tag \U000e0061".encode(), "tag \\U000e0061", "U+E0061"),
        ("plain é 日本 👩‍💻\t\n".encode(), "plain é 日本 👩‍💻\t\n", ""),
    ],
)
def test_what_cannot_be_seen_is_visible_to_model_and_person(data: bytes, text: str, told: str) -> None:
    shown, hidden = visible(data)
    assert shown == text
    assert hidden.startswith(told)
    assert bool(hidden) is bool(told)
