"""How instruction files become a text that shows all it holds."""

from __future__ import annotations

import pytest

from agenyx.ext.instructions import instructions, section, visible


def test_a_file_is_told_once() -> None:
    found = instructions(
        [
            ("/AGENTS.md", b"outer\n"),
            ("/CLAUDE.md", b"outer\n"),
            ("/a/CLAUDE.md", b"outer\n"),
            ("/a/b/AGENTS.md", b"\xef\xbb\xbfinner\r\nlines\r\n"),
            ("/a/b/CLAUDE.md", b"another text\n"),
        ]
    )
    assert [(item.path, item.text) for item in found] == [
        ("/AGENTS.md", "outer"),
        ("/a/CLAUDE.md", "outer"),
        ("/a/b/AGENTS.md", "inner\nlines"),
        ("/a/b/CLAUDE.md", "another text"),
    ]
    assert "Instructions from /a/b/CLAUDE.md:\n\nanother text" in section(found)


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
