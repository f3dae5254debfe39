"""Copies: what goes to the terminal, and what is written when it cannot."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from agenyx.ui.tui.transcript.copying import MOST, kept, sequence, told

XTERM = {"TERM": "xterm-256color"}


def test_the_clipboard_of_the_terminal_gets_the_text() -> None:
    sent = sequence("hällo\n", XTERM)
    assert sent == f"\x1b]52;c;{base64.b64encode('hällo'.encode() + bytes([10])).decode()}\x07"


def test_within_tmux_the_terminal_around_it_gets_it_too() -> None:
    own = sequence("x", XTERM)
    sent = sequence("x", {**XTERM, "TMUX": "/tmp/tmux-0/default,1,0"})
    doubled = own.replace("\x1b", "\x1b\x1b")
    assert sent == f"{own}\x1bPtmux;{doubled}\x1b\\"
    assert "tmux passes it on if" in told("x", {"TMUX": "1"})
    assert "tmux" not in told("x", {})


def test_nothing_of_a_text_can_end_the_sequence() -> None:
    sent = sequence("\x1b\\\x07\x1b]52;c;evil\x07", XTERM)
    assert sent.count("\x1b") == 1 and sent.count("\x07") == 1


@pytest.mark.parametrize("term", ["", "dumb", "linux"])
def test_terminals_without_a_clipboard_get_nothing(term: str) -> None:
    assert sequence("x", {"TERM": term}) == ""


def test_a_long_text_goes_to_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    long = "é" * (MOST // 2 + 1)
    assert sequence(long, XTERM) == ""
    assert sequence("x" * MOST, XTERM)
    words, level = kept(long, {"XDG_RUNTIME_DIR": str(tmp_path)})
    path = Path(words.rpartition("written to ")[2])
    assert (level, path.parent, path.read_text("utf-8")) == ("info", tmp_path, long)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "too long for the clipboard" in words


def test_two_copies_are_two_files(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert kept("one\ntwo", env)[0].startswith("2 lines, this terminal has no clipboard")
    kept("x", env)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_is_full_or_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    words, level = kept("x", {})
    assert level == "error"
    assert words.startswith("It could not be copied: No space left on device.")
