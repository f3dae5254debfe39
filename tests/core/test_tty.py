"""What a terminal gets and what a model sees of text that tries to hide or to act."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.tty import json_safe, safe, unseen, visible

ATTACKS = {
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "link": "\x1b]8;;http://evil\x1b\\safe\x1b]8;;\x1b\\",
    "title": "\x1b]0;title\x07",
    "title report": "\x1b[21t",
    "status string": "\x1bP$qm\x1b\\",
    "application": "\x1b_Gf=100;AAAA\x1b\\",
    "privacy": "\x1b^x\x1b\\",
    "cursor": "\x1b[1A\x1b[2K",
    "eight bits": "\x9b2J\x9d52;c;x\x9c\x90q\x9c",
    "bells": "\x07" * 100,
    "over": "rm -rf /\rls       ",
    "back": "rm\x08\x08ls",
    "delete": "a\x7f",
    "shift": "\x0e\x0f",
    "bidi": "\u202e\u2066\u2069\u200f\u061c",
    "zero width": "a\u200bb\u2060c\ufeff",
    "tags": "\U000e0001\U000e0041\U000e007f",
    "selectors": "\ufe00\U000e0100",
    "fillers": "\u3164\uffa0\u115f\u1160\u00ad\u034f",
    "lines": "a\u2028b\u2029c",
    "joiners": "pay\u200dpal \u200cx",
    "half": "\ud800",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_shown(name: str) -> None:
    text = ATTACKS[name]
    shown = safe(text)
    assert "\\" in shown and all(c == "\n" or c.isprintable() for c in shown)
    assert safe(shown) == shown


BENIGN = "plain\n\ttext é 日本 😀 ❤️ 👩‍👩‍👧 🏳️‍🌈 می‌خواهم क्‍ष שלום"


def test_text_of_people_passes() -> None:
    assert safe(BENIGN) == visible(BENIGN) == BENIGN and unseen(BENIGN) == ""


nasty = st.text(st.one_of(st.characters(), st.sampled_from("".join(ATTACKS.values()))))


@settings(max_examples=500)
@given(nasty)
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    shown = safe(text)
    for c in shown:
        code = ord(c)
        assert c in "\n\t" or (code >= 32 and not 127 <= code < 160), c
        assert not 0x202A <= code <= 0x202E and not 0x2066 <= code <= 0x2069 and not 0xE0000 <= code < 0xE1000
        assert not 0xD800 <= code < 0xE000 and code not in (0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF)
    assert safe(shown) == shown
    shown.encode()


@given(nasty)
def test_what_is_visible_has_nothing_unseen(text: str) -> None:
    shown = visible(text)
    assert unseen(shown) == "" and (unseen(text) == "") == (shown == text)


def test_unseen_in_words() -> None:
    assert unseen("a\u202eb\u202ec\u200b") == "U+200B, U+202E x2"
    assert unseen("".join(map(chr, range(0x2060, 0x206F)))).endswith("and 5 more kinds")


@given(nasty.map(lambda text: text.encode("utf-8", "replace").decode()))
def test_json_on_a_terminal_means_the_same(text: str) -> None:
    data = json_safe(json.dumps({"a": text}, ensure_ascii=False).encode() + b"\n")
    assert json.loads(data) == {"a": text}
    assert all(c == "\n" or safe(c) == c or c in "\u200c\u200d" for c in data.decode())
