"""Masking by value: every spelling, any cut, any bytes, and a mask that no secret touches."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.errors import ConfigError
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from agenyx.core.redact import MASK, MOST, MOST_BYTES, Masker, StreamMasker
from agenyx.core.spellings import MASKS, mask_in
from agenyx.core.tools import Command, Effects, PathRef

KEY = "sk-live-0123456789"
ODD = 'pa"ss/wörd+\\line\n&<end>'


def utf8_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


@pytest.mark.parametrize("secret", [KEY, ODD])
@pytest.mark.parametrize(
    "spelled",
    [
        lambda s: s,
        lambda s: json.dumps(s)[1:-1],
        lambda s: utf8_json(s),
        lambda s: utf8_json(utf8_json(s)),
        lambda s: quote(s, safe=""),
        lambda s: re.sub("%..", lambda match: match[0].lower(), quote(s, safe="")),
        html.escape,
        lambda s: s.encode().hex(),
        lambda s: s.encode().hex().upper(),
    ],
    ids=["plain", "json", "json utf-8", "json in json", "percent", "percent small", "html", "hex", "HEX"],
)
def test_the_spellings_of_programs(secret: str, spelled: Any) -> None:
    form = spelled(secret)
    assert Masker((secret,)).text(f"<{form}>") == f"<{MASK}>"


@given(st.binary(max_size=7), st.binary(max_size=7))
def test_base64_of_something_that_holds_it(before: bytes, after: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for secret in (KEY, ODD):
            encoded = encode(before + secret.encode() + after).decode()
            shown = Masker((secret,)).text(encoded)
            assert MASK in shown
            # What is left of it are the characters that belong to its neighbours, too.
            assert len(shown.replace(MASK, "")) <= (len(before) + len(after)) * 4 // 3 + 6


pieces = st.lists(st.sampled_from([KEY, KEY[:7], KEY[5:], "s", "aaaaaaaaaa", "aaa", "-", MASK, "ö"]), max_size=12)


@settings(max_examples=400, deadline=None)
@given(pieces, st.lists(st.integers(0, 200), max_size=12))
def test_a_stream_gives_what_the_whole_gives_however_it_is_cut(parts: list[str], cuts: list[int]) -> None:
    masker = Masker((KEY, KEY[8:] + "aaa", "aaaaaaaa"))
    whole = "".join(parts)
    stream, shown, at = StreamMasker(masker), "", 0
    for cut in sorted(cut % (len(whole) + 1) for cut in cuts):
        shown += stream.feed(whole[at:cut])
        at = cut
    shown += stream.feed(whole[at:]) + stream.end()
    assert shown == masker.text(whole)
    assert not masker.found(shown.encode())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([KEY, KEY[:9], KEY[9:], "x"])), max_size=8))
def test_blocks_in_a_row_spell_nothing(blocks: list[tuple[int, str]]) -> None:
    masker, place = Masker((KEY,)), 0
    stream, shown = StreamMasker(masker), []
    for step, text in blocks:
        place += step
        shown += stream.take(place, text)
    shown += stream.rest()
    assert "".join(text for _, text in shown) == masker.text("".join(text for _, text in blocks))
    assert [block for block, _ in shown] == sorted(block for block, _ in shown)


@pytest.mark.parametrize("secret", ["REDACTED", "[REDACTED]", "D]-live-0123", "0123-live-[RE", "x[REDACTED]y1234"])
def test_the_mask_is_another_where_a_secret_touches_it(secret: str) -> None:
    masker = Masker((secret,))
    assert masker.mask in MASKS and masker.mask != MASK
    for text in (f"a{secret}b", f"[{secret}", f"{secret}]", f"[{secret}{secret}live-0123", secret * 3):
        shown = masker.text(text)
        assert secret not in shown and masker.mask in shown
        assert mask_in(shown) == masker.mask


def test_no_mask_is_left() -> None:
    with pytest.raises(ConfigError, match="every sign"):
        Masker(("".join(mask[0] for mask in MASKS[1:]) + "REDACTED", *MASKS[1:], "REDACTED"))


def test_short_values_are_no_secrets() -> None:
    assert Masker(("1234567",)).text("1234567") == "1234567" and Masker(("1234567",)).longest == 0
    assert Masker(("öööö",)).text("öööö") == MASK, "eight bytes"


def test_limits() -> None:
    Masker(tuple(f"key-{number:06d}" for number in range(MOST)))
    for many in (tuple(f"key-{number:06d}" for number in range(MOST + 1)), ("x" * (MOST_BYTES + 1),)):
        with pytest.raises(ConfigError, match="secrets"):
            Masker(many)


def test_overlapping_secrets_leave_nothing_of_each_other() -> None:
    masker = Masker(("sk-abcABC123456789", "abcABC123456789-longer"))
    assert masker.text("<sk-abcABC123456789-longer>") == f"<{MASK}>"


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_bytes_that_are_no_text(before: bytes, after: bytes) -> None:
    for secret in (KEY, ODD):
        masker = Masker((secret,))
        data = before + secret.encode() + after
        assert masker.found(data) and not masker.found(masker.data(data))
        assert masker.data(data) == before + MASK.encode() + after


def test_values_are_masked_throughout_and_stay_themselves_without_a_secret() -> None:
    masker = Masker((KEY,))
    ref = PathRef(f"a/{KEY}", f"/w/{KEY}".encode(), "/w")
    effects = Effects(reads=(ref,), commands=(Command(("cat", None, KEY), (f"X={KEY}",)),), preview=f"+{KEY}")
    shown = masker.value(effects)
    assert shown.reads[0] == PathRef(f"a/{MASK}", f"/w/{MASK}".encode(), "/w")
    assert shown.commands[0].argv == ("cat", None, MASK) and shown.commands[0].assigns == (f"X={MASK}",)
    assert shown.preview == f"+{MASK}"
    clean = Effects(reads=(PathRef("a", b"/w/a", "/w"),))
    assert masker.value(clean) is clean
    assert masker.value({KEY: [KEY, 1]}) == {MASK: [MASK, 1]}


def test_opaque_state_is_dropped_never_altered() -> None:
    bad, good = Opaque("b", "w", f'"{KEY}"'), Opaque("b", "w", "{}")
    blocks = (Reasoning("x", bad), ToolCall("", "w", "Read", "{}", good), Text(KEY))
    shown = Masker((KEY,)).value(Assistant(blocks, "end"))
    assert shown.blocks == (Reasoning("x", None), blocks[1], Text(MASK))


@pytest.mark.parametrize("width", [1, 3, 10, 17, 40, 76])
def test_a_key_that_was_wrapped_into_lines(width: int) -> None:
    masker = Masker((KEY, TWO := "ghp_0123456789abcd"))
    for whole in (f"x {KEY} y {TWO}", base64.b64encode(f"abc{KEY}defg".encode()).decode() * 2):
        lines = "\n".join(whole[at : at + width] for at in range(0, len(whole), width)) + "\n"
        shown = masker.wrapped(lines)
        assert masker.text(shown.replace("\n", "")) == masker.text(whole) == shown.replace("\n", "")
    assert masker.wrapped("a\nb\n") == "a\nb\n"
