"""Functions of a program that hang on events: how they are given, and the callbacks that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from msgspec import Struct

from agenyx.api.threads import called
from agenyx.core.errors import UsageError
from agenyx.core.hooks import Event
from agenyx.ext.hooks.callback import Callback, Function
from agenyx.ext.hooks.model import MOST_SECONDS, SECONDS, OnError

EVENTS: tuple[str, ...] = get_args(Event)


class Hook(Struct, frozen=True):
    """A function for an event. `matcher` is held against the subject of the event, a tool for those about calls: "" for
    all, `A|B` for just these, else a regular expression. `timeout` in seconds. A hook that fails blocks what it could
    have held back, or is told, as `on_error` says.
    """

    function: Function
    matcher: str = ""
    timeout: float = SECONDS
    on_error: OnError = "block"


Hooks = Mapping[Event, Sequence[Hook | Function]]


def callbacks(hooks: Hooks) -> tuple[Callback, ...]:
    """Raises UsageError for an event that there is none of, or for what is no function."""
    found = list[Callback]()
    for event, given in hooks.items():
        if event not in EVENTS:
            raise UsageError(f"there is no event {event!r} for hooks", f"The events: {', '.join(EVENTS)}.")
        for one in cast("Sequence[object]", given):
            hook = one if isinstance(one, Hook) else Hook(cast("Function", one))
            if not callable(hook.function):
                raise UsageError(f"{hook.function!r} is no function, so it cannot be a hook", "Give a function.")
            if not 0 < hook.timeout <= MOST_SECONDS:
                raise UsageError(f"the timeout {hook.timeout:g} of a hook is not up to {MOST_SECONDS:g} seconds", "")
            function = _off_loop(hook.function)
            found.append(Callback(event, function, hook.matcher, hook.timeout, hook.on_error))
    return tuple(found)


def _off_loop(function: Function) -> Function:
    """The same, so that one that hangs keeps nothing up."""

    async def asked(payload: dict[str, Any]) -> Mapping[str, Any] | None:
        return await called(function, payload)

    asked.__name__ = getattr(function, "__name__", type(function).__name__)
    return asked
