"""Tells a person who looks elsewhere that they are wanted: the bell, and a notification where the terminal shows one.

Pure: it makes the bytes. What terminals take is known by what they put into the environment; others get the bell.
"""

from __future__ import annotations

from collections.abc import Mapping

BELL = "\a"
_MOST = 120  # characters
_OSC9 = ("iTerm.app", "WezTerm", "ghostty")
_OSC9_MARKS = ("WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID")
_OSC99_MARKS = ("KITTY_WINDOW_ID",)
_OSC777_MARKS = ("VTE_VERSION",)


def alert(text: str, env: Mapping[str, str], setting: str = "auto") -> str:
    """What to write. `setting` is that of settings.toml: auto, bell or off."""
    if setting == "off":
        return ""
    sequence = notification(text, env) if setting == "auto" else ""
    if sequence and env.get("TMUX"):
        inner = sequence.replace("\x1b", "\x1b\x1b")
        sequence = f"\x1bPtmux;{inner}\x1b\\"  # passed on to the terminal where tmux allows it
    return sequence + BELL


def notification(text: str, env: Mapping[str, str]) -> str:
    """The sequence for a desktop notification, "" where the terminal is not known to take one."""
    words = "".join(char for char in " ".join(text.split()) if char.isprintable() and char != ";")[:_MOST]
    if any(env.get(name) for name in _OSC99_MARKS):
        return f"\x1b]99;;Agenyx: {words}\x1b\\"
    if env.get("TERM_PROGRAM") in _OSC9 or any(env.get(name) for name in _OSC9_MARKS):
        return f"\x1b]9;Agenyx: {words}\x1b\\"
    if any(env.get(name) for name in _OSC777_MARKS) or env.get("TERM", "").startswith(("foot", "rxvt")):
        return f"\x1b]777;notify;Agenyx;{words}\x1b\\"
    return ""
