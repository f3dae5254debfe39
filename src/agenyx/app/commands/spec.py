"""What a slash command is, to every surface: a name, a line of help, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agenyx.core.errors import UsageError
from agenyx.core.messages import User

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation


class Desk(Struct, frozen=True):
    """What a command may use. `home` is the application home, `env` our own environment.

    `once`: the run ends with the command, unless a turn follows at once.
    """

    conversation: Conversation
    home: str
    env: Mapping[str, str]
    once: bool = False

    def lasting(self, what: str, instead: str) -> None:
        """Raises UsageError where a choice for the turns to come would be lost at once."""
        if self.once:
            raise UsageError(f"{what} is for the turns to come, and this run ends here", instead)


class Reply(Struct, frozen=True):
    """`text` is for people, plain lines; `diff` a unified diff to show below it; `data` says the same to programs, in
    JSON values.

    With `prompt` a turn follows: these words go to the model, and `text` is only shown.
    """

    text: str = ""
    data: Any = None
    prompt: User | None = None
    diff: str = ""


class Command(Struct, frozen=True):
    """`args` is the placeholder of what may follow the name, "" for nothing. `instant`: also while a turn runs.

    `choices` are values to complete. `run` gets what follows the name, trimmed; it raises AgenyxError. `origin` says
    where a command comes from that is not ours: a path, or the name of a server.
    """

    name: str
    text: str
    run: Callable[[Desk, str], Coroutine[None, None, Reply]]
    args: str = ""
    aliases: tuple[str, ...] = ()
    instant: bool = False
    choices: tuple[str, ...] = ()
    origin: str = ""
