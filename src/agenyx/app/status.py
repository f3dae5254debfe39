"""The facts of a session that a person may ask for, as a value."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agenyx.agent.context import Levels, Parts
from agenyx.core.events import Usage
from agenyx.core.verdict import Mode


class Status(Struct, frozen=True):
    """What a person may ask of a session. `context`: tokens of the last request and its answer, None before it.

    `cost` in US dollars since this process opened the session, None when a price is unknown; `window` in tokens.
    `levels` say when room is made, None when the window is not known; `breaks` what broke the prompt cache, how often.
    """

    session_id: str
    profile: str
    model: str
    effort: str
    mode: Mode
    workspace: str
    persistent: bool
    usage: Usage | None
    context: int | None
    branch: str
    cost: float | None
    window: int | None
    levels: Levels | None
    parts: Parts
    breaks: Mapping[str, int]
