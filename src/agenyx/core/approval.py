"""A call that needs a human, as a value that survives the process, and the human's answer."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict


class Approval(Struct, frozen=True):
    """A question to a human. `files` holds (path, sha256) of what the call would change, as it was when asked.

    `args` are the arguments that are asked about, where the user edited them before; else None: those of the call.
    """

    id: str
    call: ToolCall
    verdict: Verdict
    effects: Effects
    files: tuple[tuple[str, str], ...] = ()
    agent: str = ""
    asked_at: float = 0.0
    args: str | None = None


class Decision(Struct, frozen=True):
    """The answer. `args` replaces the call's arguments (judged again); `stop` ends the turn. `at` in Unix seconds.

    With scope `session` or `saved` the rules that the verdict offered hold from now on, in this session or for good.
    """

    approval: str
    choice: Literal["allow", "deny"]
    scope: Literal["once", "session", "saved"] = "once"
    args: str | None = None
    message: str = ""
    stop: bool = False
    by: str = ""
    at: float = 0.0
