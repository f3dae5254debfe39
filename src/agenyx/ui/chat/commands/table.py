"""The commands that the conversation at the keyboard does itself, as they reach into it. All others are the app's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from agenyx.ui.chat.commands import rewind, sessions, theme, turn
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.commands.help import help_

OWN: dict[str, Callable[[Context, str], Coroutine[None, None, object]]] = {
    "help": help_,
    "clear": sessions.clear,
    "resume": sessions.resume,
    "rewind": rewind.rewind,
    "steer": turn.steer,
    "theme": theme.theme,
    "exit": turn.leave,
}
"""By the name in `app/commands/table.py`, where their texts and aliases stand."""
