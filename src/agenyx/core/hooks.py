"""What hooks are told and what they answer, as values. Knows neither programs nor files.

Events and their fields follow the hooks of other agents, so that theirs can be used as they are.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Event = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
]


class Fired(Struct, frozen=True):
    """One event. `subject` is what matchers are held against (a tool, a source, a trigger), `also` its other names.

    `data` are the event's own fields, in JSON values; whoever fires it knows no session and no mode.
    """

    event: Event
    subject: str = ""
    data: dict[str, Any] = {}
    also: tuple[str, ...] = ()


class Said(Struct, frozen=True):
    """What all hooks of an event said together: deny wins over ask, ask over allow, "" where none decided.

    `args` are changed arguments as JSON text, None where they stay. `context` is for the model, one text a hook.
    `messages` of hooks and `problems` with hooks are for the person. `stop` ends the turn, for `reason`. `ran` counts
    the hooks that the event was for.
    """

    decision: Literal["", "allow", "ask", "deny"] = ""
    reason: str = ""
    args: str | None = None
    context: tuple[str, ...] = ()
    stop: bool = False
    messages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    ran: int = 0


NOTHING = Said()
