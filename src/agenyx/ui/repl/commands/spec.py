"""What a slash command is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from msgspec import Struct

from agenyx.ui.repl.commands.context import Context


class Command(Struct, frozen=True):
    """`args` is the placeholder of what may follow the name, "" for nothing. `instant`: also while a turn runs.

    `choices` are values to complete. `run` gets what follows the name, trimmed; it raises AgenyxError.
    """

    name: str
    text: str
    run: Callable[[Context, str], Coroutine[None, None, object]]
    args: str = ""
    aliases: tuple[str, ...] = ()
    instant: bool = False
    choices: tuple[str, ...] = ()
