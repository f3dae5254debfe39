"""What becomes of a tool's outcome: masked, visible, bounded, and exact where it is the text of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.agent.normalise import EMPTY, Normaliser
from agenyx.core.messages import Media, Text, ToolCall
from agenyx.core.redact import MASK, Masker
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.tools.spec import Outcome

KEY = "sk-live-0123456789"
CALL = ToolCall("call_1", "w", "Any", "{}")
REF = PathRef("f", b"/w/f", "/w")
HIDDEN = "a\u202eb\u202e\u200bc"


def normaliser(directory: Path, limit: int = 1000, *secrets: str) -> Normaliser:
    return Normaliser(Masker(secrets or (KEY,)), limit, str(directory))


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_a_key_in_two_blocks_that_stand_side_by_side(tmp_path: Path, cut: int) -> None:
    result = normaliser(tmp_path)(CALL, Outcome("ok", (Text(f"a {KEY[:cut]}"), Text(f"{KEY[cut:]} b"))))
    assert result.text == f"a {MASK} b"


def test_an_error_and_a_name_of_media(tmp_path: Path) -> None:
    media = Media("image", "image/png", "0" * 64, 1, f"{KEY}.png")
    result = normaliser(tmp_path)(CALL, Outcome("error", (Text(f"no {KEY}"), media)))
    assert result.content == (Text(f"no {MASK}"), Media("image", "image/png", "0" * 64, 1, f"{MASK}.png"))


def test_nothing_said(tmp_path: Path) -> None:
    assert normaliser(tmp_path)(CALL, Outcome.ok("")).text == EMPTY


@pytest.mark.parametrize(
    "effects",
    [
        None,
        Effects(),
        Effects(reads=(REF,), commands=(Command(("cat", "f")),)),
        Effects(hosts=("h",)),
        Effects(reads=(REF,), opaque="a tool of somebody else"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(tmp_path: Path, effects: Effects | None) -> None:
    assert normaliser(tmp_path)(CALL, Outcome.ok(HIDDEN), effects).text == "a\\u202eb\\u202e\\u200bc"


@pytest.mark.parametrize("effects", [Effects(reads=(REF,), parallel=True), Effects(writes=(REF,))])
def test_the_text_of_a_file_stays_exact_and_is_told_about(tmp_path: Path, effects: Effects) -> None:
    told = "[this text holds invisible characters: U+200B, U+202E x2]"
    assert normaliser(tmp_path)(CALL, Outcome.ok(HIDDEN), effects).text == f"{HIDDEN}\n{told}"
    assert normaliser(tmp_path)(CALL, Outcome.ok("日本 👩‍👩‍👧"), effects).text == "日本 👩‍👩‍👧"
    long = normaliser(tmp_path, 60)(CALL, Outcome.ok(HIDDEN + "x" * 500), effects).text
    assert long.endswith(told)


@pytest.mark.parametrize("key", [KEY, "schlüssel-0123456"])
def test_what_is_kept_aside_is_masked_bytes_and_all(tmp_path: Path, key: str) -> None:
    spill = tmp_path / "spill.txt"
    spill.write_bytes(b"\xff\r\n" + key.encode() * 2 + b"\x00")
    result = normaliser(tmp_path, 1000, key)(CALL, Outcome("ok", (Text("x"),), spill=str(spill)))
    assert result.spill == str(spill)
    assert spill.read_bytes() == b"\xff\r\n" + MASK.encode() * 2 + b"\x00"
    normaliser(tmp_path, 90, key)(CALL, Outcome.ok(f"{key} " * 50))
    assert (tmp_path / "call_1.txt").read_text() == f"{MASK} " * 50


def test_a_spill_that_is_gone(tmp_path: Path) -> None:
    assert normaliser(tmp_path)(CALL, Outcome("ok", (Text("x"),), spill=str(tmp_path / "no"))).spill is None


@pytest.mark.parametrize("key", [KEY, "schlüssel-0123456"])
def test_live_output_is_masked_wherever_its_bytes_are_cut(tmp_path: Path, key: str) -> None:
    data = f"ä {key} ü".encode()
    for cut in range(len(data) + 1):
        shown: list[bytes] = []
        feed, end = normaliser(tmp_path, 1000, key).live(shown.append)
        feed(data[:cut])
        feed(data[cut:])
        end()
        assert b"".join(shown) == f"ä {MASK} ü".encode()
