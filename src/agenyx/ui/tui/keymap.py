"""Every key of the full screen, in one table: what it does, where it counts, and whether a person may change it.

Knows no toolkit; key names are those of Textual. Help, hints, docs/keys.md and the settings under [keys] are read from
here. Letters that answer a question (`ui.choices`) and the editing keys of the prompt stand below the table, as fixed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

Place = Literal["global", "prompt", "transcript", "ask", "picker"]
PLACES: tuple[Place, ...] = get_args(Place)
HEADS: Mapping[Place, str] = {
    "global": "Everywhere",
    "prompt": "In the prompt",
    "transcript": "In the transcript",
    "ask": "When you are asked",
    "picker": "In lists",
}


class Action(Struct, frozen=True):
    """`keys` are the usual ones. One that is `fixed` cannot be changed: it is the way out, or a yes."""

    name: str
    keys: tuple[str, ...]
    help: str
    place: Place
    fixed: bool = False


def _rows(place: Place, *rows: tuple[str, str, str], fixed: tuple[str, ...] = ()) -> tuple[Action, ...]:
    return tuple(Action(name, tuple(keys.split()), help_, place, name in fixed) for name, keys, help_ in rows)


ACTIONS: tuple[Action, ...] = (
    *_rows(
        "global",
        ("cancel", "escape", "close what is open, else clear the input, else stop the turn"),
        ("interrupt", "ctrl+c", "clear the input, else stop the turn; twice within a second leaves"),
        ("leave", "ctrl+d", "leave, when nothing is typed"),
        ("suspend", "ctrl+z", "stop the program as a job of your shell; fg comes back"),
        ("redraw", "ctrl+l", "draw the whole screen anew"),
        ("help", "f1", "all keys and commands"),
        ("model", "f2", "choose the model"),
        ("effort", "f3", "choose how much the model thinks"),
        ("mode", "f4", "choose the permission mode"),
        ("mode-next", "shift+tab", "the next permission mode"),
        ("sessions", "f5", "earlier sessions"),
        ("rewind", "f6", "go back before a turn: the conversation, its files, or both"),
        ("tree", "f7", "the turns on all branches"),
        ("tasks", "f8", "tasks, subagents and what runs in the background"),
        ("theme", "f9", "choose the colours"),
        ("side", "ctrl+t", "show or hide the panel at the side"),
        ("focus-next", "ctrl+o", "go from the prompt to the transcript, and back"),
        ("page-up", "pageup", "scroll the transcript up by a page"),
        ("page-down", "pagedown", "scroll the transcript down by a page"),
        fixed=("interrupt", "cancel"),
    ),
    *_rows(
        "prompt",
        ("send", "enter", "send; while a turn runs: send when it is over"),
        ("newline", "ctrl+j alt+enter shift+enter", "a new line"),
        ("steer", "ctrl+s", "while a turn runs: give it what you typed, at its next step"),
        ("history-previous", "up", "the earlier input, on the first line"),
        ("history-next", "down", "the later input, on the last line"),
        ("history-search", "ctrl+r", "search in earlier inputs"),
        ("complete", "tab", "complete a file, a command or its argument"),
        ("editor", "ctrl+g", "write in $EDITOR"),
        ("expand-paste", "ctrl+e", "at a mark for a paste: show the text in its place"),
        ("edit-queued", "alt+up", "take the last queued input back, to edit it"),
        fixed=("send",),
    ),
    *_rows(
        "transcript",
        ("previous", "up k", "to the card or message above"),
        ("next", "down j", "to the card or message below"),
        ("up", "shift+up", "one row up"),
        ("down", "shift+down", "one row down"),
        ("top", "home g", "to the begin"),
        ("bottom", "end G", "to the end, and stay there"),
        ("toggle", "enter space", "show more or less of it"),
        ("toggle-all", "e", "show more or less of all"),
        ("copy", "y c", "copy it, or what is selected"),
        ("open", "o", "open it in $EDITOR"),
        ("find", "slash ctrl+f", "search in the transcript"),
        ("find-next", "n", "the next place where it was found"),
        ("find-previous", "N", "the place before"),
    ),
    *_rows(
        "ask",
        ("ask-up", "up", "one row up"),
        ("ask-down", "down", "one row down"),
        ("ask-page-up", "pageup", "a page up"),
        ("ask-page-down", "pagedown space", "a page down"),
        ("ask-top", "home", "to the begin"),
        ("ask-bottom", "end", "to the end"),
        ("ask-accept", "alt+enter ctrl+s", "while you edit a call: allow what stands there"),
    ),
    *_rows(
        "picker",
        ("pick-up", "up ctrl+p", "the entry above"),
        ("pick-down", "down ctrl+n", "the entry below"),
        ("pick-page-up", "pageup", "a page up"),
        ("pick-page-down", "pagedown", "a page down"),
        ("pick", "enter", "take it"),
        ("pick-rename", "ctrl+r", "give the session another title"),
        ("pick-delete", "ctrl+x", "delete the session; asked about once more"),
        ("pick-more", "tab", "between the list and what is shown of an entry"),
        fixed=("pick",),
    ),
)
ANSWERS: tuple[tuple[str, str], ...] = (
    ("y", "yes, once; counts only when all of the question was shown"),
    ("s", "yes, for this session"),
    ("a", "yes, always: the rule is shown, and a second a keeps it"),
    ("e", "edit it, then allow it"),
    ("n", "no; so do Enter and Esc"),
    ("m", "no, with a message to the model"),
    ("q", "no, and stop the turn"),
    ("1-9", "choose an answer to a question of the model"),
)
"""What answers a question. These cannot be changed."""

_BY_NAME = {action.name: action for action in ACTIONS}
_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)*(?:\w+|[^\s\w])", re.IGNORECASE | re.ASCII)
_SPELT = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "del": "delete",
    "?": "question_mark",
    "/": "slash",
}
_NAMES = {
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "escape": "Esc",
    "question_mark": "?",
    "slash": "/",
    "backspace": "Backspace",
}


class Keymap:
    """Which key does what. `problems` tells what of the settings could not be taken over, a sentence each."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        """`settings` maps names of actions to keys, separated by blanks or commas; "" takes the keys away."""
        self.problems: list[str] = []
        self._keys = {action.name: action.keys for action in ACTIONS}
        for name, text in (settings or {}).items():
            self._set(name, text)
        self._by_place: dict[Place, dict[str, str]] = {place: {} for place in PLACES}
        for action in ACTIONS:
            for key in self._keys[action.name]:
                self._by_place[action.place].setdefault(key, action.name)

    def action(self, place: Place, key: str) -> str:
        """The action of a key in this place only, "" for none."""
        return self._by_place[place].get(key, "")

    def keys(self, name: str) -> tuple[str, ...]:
        return self._keys[name]

    def shown(self, name: str) -> str:
        """The first key of an action as people write it, "" where it has none."""
        keys = self._keys[name]
        return spelt(keys[0]) if keys else ""

    def hints(self, *pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Spans such as `F1 help   Esc close` for (action, words); actions without a key are left out."""
        made: list[tuple[str, str]] = []
        for name, words in pairs:
            if key := self.shown(name):
                made += [("", "   " if made else ""), ("key", key), ("", f" {words}")]
        return tuple(made)

    def rows(self, place: Place) -> list[tuple[str, str]]:
        """Keys and what they do, for help; actions without keys are left out."""
        made = [
            (", ".join(map(spelt, self._keys[action.name])), action.help)
            for action in ACTIONS
            if action.place == place and self._keys[action.name]
        ]
        return [*made, *ANSWERS] if place == "ask" else made

    def _set(self, name: str, text: str) -> None:
        action = _BY_NAME.get(name)
        if action is None:
            self.problems.append(f"keys.{name}: there is no such action; docs/keys.md lists them")
            return
        if action.fixed:
            self.problems.append(f"keys.{name}: this key cannot be changed, it stays {spelt(action.keys[0])}")
            return
        keys: list[str] = []
        for word in text.replace(",", " ").split():
            key = _read(word)
            if not key:
                self.problems.append(f"keys.{name}: {word!r} is no key; write keys as ctrl+x, alt+enter or f2")
            elif why := self._taken(action, key):
                self.problems.append(f"keys.{name}: {spelt(key)} {why}")
            elif key not in keys:
                keys.append(key)
        if keys or not text.strip():
            self._keys[name] = tuple(keys)

    def _taken(self, action: Action, key: str) -> str:
        """Why a key cannot be used for an action, "" when it can."""
        if action.place == "ask" and len(key) == 1:
            return "would be an answer"
        if action.place in ("prompt", "global", "picker") and len(key) == 1:
            return "is a character that is typed"
        for other in ACTIONS:
            meets = other.place == action.place or "global" in (other.place, action.place)
            if other.name != action.name and meets and key in self._keys[other.name]:
                if other.place != action.place and key in action.keys:
                    continue  # the table itself uses it in both places
                return f"is the key of {other.name}"
        return ""


def spelt(key: str) -> str:
    """A key as people write it: `Ctrl+C`, `Shift+Tab`, `F1`."""
    *held, last = key.split("+")
    if last in _NAMES:
        last = _NAMES[last]
    elif len(last) > 1 or held:
        last = last.capitalize()
    return "+".join([*(part.capitalize() for part in held), last])


def _read(word: str) -> str:
    """The name of a key as it is written in settings, "" where it is none."""
    if not _KEY.fullmatch(word):
        return ""
    *held, last = word.split("+") if len(word) > 1 else [word]
    last = _SPELT.get(last.lower(), last if len(last) == 1 else last.lower())
    held = [part.lower() for part in held]
    if len(last) > 1 and not (last in _NAMED or re.fullmatch(r"f([1-9]|1\d|2[0-4])", last)):
        return ""
    return "+".join([*sorted(held, key=_HELD.index), last])


_HELD = ("super", "ctrl", "alt", "shift")
_NAMED = (
    *("enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
    *("up", "down", "left", "right", "question_mark", "slash"),
)


def markdown() -> str:
    """docs/keys.md."""
    usual = Keymap()
    parts = [
        "# Keys of the full screen\n\n"
        "Made from the table in `src/agenyx/ui/tui/keymap.py`; `python docs/keys.py` writes it anew.\n"
    ]
    for place in PLACES:
        parts.append(f"\n## {HEADS[place]}\n\n| key | action | what it does |\n|---|---|---|\n")
        for action in ACTIONS:
            if action.place == place:
                keys = ", ".join(map(spelt, action.keys))
                parts.append(f"| {keys} | `{action.name}`{' (fixed)' if action.fixed else ''} | {action.help} |\n")
        if place == "ask":
            parts += [f"| {key} | (fixed) | {text} |\n" for key, text in ANSWERS]
    assert not usual.problems
    parts.append(_CHANGING)
    return "".join(parts)


_CHANGING = """
## Changing them

In `settings.toml` of the home, one line an action; several keys are separated by blanks, `""` takes the keys away:

```toml
[keys]
editor = "ctrl+x f10"
side = ""
```

`agenyx config set keys.editor ctrl+x` does the same. What cannot be taken over is told when the screen opens, and the
usual keys stay: an action that there is not, a key that another action has in the same place, one that is typed, and
the actions marked as fixed. A workspace cannot change keys. Which keys arrive depends on the terminal: over SSH and in
tmux, Alt and function keys work nearly everywhere, Shift+Enter only in terminals that report it.
"""
