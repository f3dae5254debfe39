"""One hook as it was configured, what running it comes to, and the port that all kinds of hooks are.

Knows no event by name and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from agenyx.core.hooks import Event

SECONDS = 60.0  # that a hook has, unless it says otherwise
MOST_SECONDS = 600.0
END_SECONDS = 1.5  # for all hooks of SessionEnd together
OUTPUT_BYTES = 256 << 10

OnError = Literal["block", "warn"]
Origin = Literal["user", "workspace", "host"]


class Entry(Struct, frozen=True):
    """One configured hook. `kind` command: with `args` a program and its arguments, without them a line for the shell.

    `timeout` in seconds. `condition` is a rule that the call has to match. `allowed` names variables of our environment
    that it may see. `source` is the file it stands in, as it is shown; `imported`: it is another agent's.
    `number` counts within the file, so that two that are alike are told apart.
    """

    event: Event
    kind: Literal["command", "http", "callback"]
    matcher: str = ""
    command: str = ""
    args: tuple[str, ...] | None = None
    shell: Literal["", "bash", "sh"] = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    allowed: tuple[str, ...] = ()
    timeout: float = SECONDS
    condition: str = ""
    once: bool = False
    on_error: OnError = "warn"
    source: str = ""
    origin: Origin = "user"
    imported: bool = False
    number: int = 0

    @property
    def name(self) -> str:
        """What it does, in one line, for people."""
        match self.kind:
            case "command":
                return " ".join((self.command, *(self.args or ())))
            case "http":
                return f"POST {self.url.partition('?')[0]}"
            case "callback":
                return f"callback {self.command}"


class HookResult(Struct, frozen=True):
    """What one run came to. `failure` says why there is no answer, "" where there is one.

    `code` is an exit code as hooks use it: 0 is an answer, 2 blocks, others are errors. `seconds` it took.
    """

    code: int = 0
    output: str = ""
    errors: str = ""
    failure: str = ""
    seconds: float = 0.0


class Hook(Protocol):
    """One way to run hooks. `payload` is one line of JSON with its newline. Does not raise but for cancellation."""

    async def run(self, payload: bytes) -> HookResult: ...


class Problem(Struct, frozen=True):
    """Something of a file that does not count, in a phrase; `source` is the file."""

    source: str
    text: str
