"""Hooks that a host names with `initialize`, as functions that ask it: `hook_callback` out, the hook's answer in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast, get_args

from agenyx.core.hooks import Event
from agenyx.ext.hooks.callback import Callback
from agenyx.ext.hooks.model import MOST_SECONDS, SECONDS
from agenyx.ui.wire.asks import Asks
from agenyx.ui.wire.outbound import JsonObject

EVENTS: tuple[str, ...] = get_args(Event)


def callbacks(given: object, asks: Asks, tell: Callable[[str], None]) -> tuple[Callback, ...]:
    """`given` maps an event to [{matcher, hookCallbackIds, timeout, onFailure}]. What cannot be used is told."""
    found = list[Callback]()
    for name, entries in cast("JsonObject", given).items() if isinstance(given, dict) else ():
        if name not in EVENTS:
            tell(f"hooks of the event {name[:40]!r} are never called: there is no such event here")
            continue
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else []:
            members = cast("JsonObject", entry) if isinstance(entry, dict) else {}
            matcher, timeout = members.get("matcher"), members.get("timeout")
            seconds = float(timeout) if isinstance(timeout, int | float) and 0 < timeout <= MOST_SECONDS else SECONDS
            on_error = "block" if members.get("onFailure") == "block" else "warn"
            idents = members.get("hookCallbackIds")
            for ident in cast("list[Any]", idents) if isinstance(idents, list) else []:
                function = _function(str(ident), asks)
                pattern = matcher if isinstance(matcher, str) else ""
                found.append(Callback(cast("Event", name), function, pattern, seconds, on_error))
    return tuple(found)


def _function(ident: str, asks: Asks) -> Callable[[dict[str, Any]], Awaitable[Mapping[str, Any] | None]]:
    async def callback(payload: dict[str, Any]) -> Mapping[str, Any] | None:
        request: JsonObject = {"subtype": "hook_callback", "callback_id": ident, "input": payload}
        request["tool_use_id"] = payload.get("tool_use_id")
        return await asks.ask(request)

    callback.__name__ = ident
    return callback
