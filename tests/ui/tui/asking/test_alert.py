"""The bell and notifications: which terminal gets what."""

from __future__ import annotations

import pytest

from agenyx.ui.tui.asking.alert import alert


@pytest.mark.parametrize(
    ("env", "written"),
    [
        ({}, "\a"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "\a"),
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;Agenyx: hi\x1b\\\a"),
        ({"WEZTERM_PANE": "0"}, "\x1b]9;Agenyx: hi\x1b\\\a"),
        ({"VTE_VERSION": "7600"}, "\x1b]777;notify;Agenyx;hi\x1b\\\a"),
        ({"TERM": "foot"}, "\x1b]777;notify;Agenyx;hi\x1b\\\a"),
        ({"KITTY_WINDOW_ID": "1"}, "\x1b]99;;Agenyx: hi\x1b\\\a"),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/t,1,0"}, "\x1bPtmux;\x1b\x1b]99;;Agenyx: hi\x1b\x1b\\\x1b\\\a"),
        ({"TMUX": "/tmp/t,1,0"}, "\a"),
    ],
)
def test_what_terminals_get(env: dict[str, str], written: str) -> None:
    assert alert("hi", env) == written


def test_a_setting_takes_it_away() -> None:
    env = {"TERM_PROGRAM": "iTerm.app"}
    assert alert("hi", env, "bell") == "\a"
    assert alert("hi", env, "off") == ""


def test_text_of_others_cannot_end_the_sequence() -> None:
    written = alert("mcp__x\x1b\\\x07;evil\u202e" + "y" * 500, {"TERM_PROGRAM": "WezTerm"})
    body = written.removeprefix("\x1b]9;Agenyx: ").removesuffix("\x1b\\\a")
    assert body.startswith("mcp__x\\evil") and len(body) == 120
    assert not set(body) & {"\x1b", "\x07", ";", "\u202e"}
