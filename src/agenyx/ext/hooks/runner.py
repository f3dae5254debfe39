"""The hooks of one session: which of them an event is for, all of them run together, and what they say as one.

Owns matching, `once`, the masking of what goes in and comes out, and the time of SessionEnd. How a hook runs is its
kind's; what its result means is `answer`'s.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from msgspec import Struct

from agenyx.core import json
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.json import scrub
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects
from agenyx.ext.hooks.answer import masked, said, together
from agenyx.ext.hooks.config import matches
from agenyx.ext.hooks.model import END_SECONDS, Entry, Hook, HookResult

AT_ONCE = 8
Condition = Callable[[str, str, Effects], bool]
"""Whether a rule, by its text, matches a call of this tool with these effects."""


class Run(Struct, frozen=True):
    """One hook that ran, what came of it, and what that means."""

    entry: Entry
    result: HookResult
    said: Said


Heard = Callable[[int, Entry, "HookResult | None"], None]
"""Told of each run: its number, the hook, and what it came to, None when it begins. Must not raise."""


def _unheard(_number: int, _entry: Entry, _result: HookResult | None) -> None:
    pass


class Runner:
    """`common` gives what every payload holds. `claims` is a folder that keeps which hooks with `once` have run.
    `heard` may be set to be told of each run."""

    def __init__(
        self,
        hooks: Sequence[tuple[Entry, Hook]],
        common: Callable[[], Mapping[str, Any]],
        masker: Masker,
        condition: Condition,
        claims: str,
    ) -> None:
        self._hooks = _unlike(hooks)
        self._events = frozenset(entry.event for entry, _ in hooks)
        self._common, self._masker, self._condition, self._claims = common, masker, condition, claims
        self._claimed: set[str] = set()
        self.heard: Heard = _unheard
        self._numbers = count(1)

    def wants(self, event: Event) -> bool:
        return event in self._events

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        if fired.event not in self._events:
            return NOTHING
        runs = await self.run(fired, effects)
        return together(fired.event, [(run.entry, run.said) for run in runs])

    async def run(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> list[Run]:
        """Run every hook that the event is for, in parallel; what they came to, in the order of their entries."""
        chosen = [pair for pair in self._hooks if _is_for(pair[0], fired)]
        if any(entry.condition for entry, _ in chosen):
            seen = await _effects(effects)
            chosen = [pair for pair in chosen if self._holds(pair[0], fired.subject, seen)]
        chosen = [pair for pair in chosen if not pair[0].once or self._claim(pair[0])]
        if not chosen:
            return []
        payload = self._payload(fired)
        room = asyncio.Semaphore(AT_ONCE)
        tasks = [asyncio.ensure_future(self._one(entry, hook, payload, room)) for entry, hook in chosen]
        try:
            await asyncio.wait(tasks, timeout=END_SECONDS if fired.event == "SessionEnd" else None)
            late = [task for task in tasks if not task.done()]
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        over = HookResult(failure=f"the session ended, which hooks have {END_SECONDS:g} seconds for")
        runs: list[Run] = []
        for (entry, _), task in zip(chosen, tasks, strict=True):
            result = over if task.cancelled() else task.result()
            runs.append(Run(entry, result, said(fired.event, entry, result)))
        return runs

    async def _one(self, entry: Entry, hook: Hook, payload: bytes, room: asyncio.Semaphore) -> HookResult:
        number = next(self._numbers)
        async with room:
            self.heard(number, entry, None)
            try:
                result = await hook.run(payload)
            except Exception as error:  # noqa: BLE001 - the rim around a hook: its errors are data
                result = HookResult(failure=f"{type(error).__name__}: {error}")
            except BaseException:
                self._release(entry)
                raise
        if result.failure or result.code not in (0, 2):
            self._release(entry)
        shown = masked(result, (self._masker.wrapped,))
        self.heard(number, entry, shown)
        return shown

    def _payload(self, fired: Fired) -> bytes:
        whole = {**self._common(), "hook_event_name": fired.event, **fired.data}
        return json.encode(self._masker.value(_scrubbed(whole))) + b"\n"

    def _holds(self, entry: Entry, subject: str, effects: Effects | None) -> bool:
        """What cannot be told counts as a match: a hook that guards must not be got round by what nobody can read."""
        if not entry.condition or effects is None:
            return True
        try:
            return self._condition(entry.condition, subject, effects)
        except Exception:  # noqa: BLE001 - see above
            return True

    def _claim(self, entry: Entry) -> bool:
        """Take the one run of a hook in this session; False where it has been taken."""
        key = _key(entry)
        if key in self._claimed:
            return False
        self._claimed.add(key)
        try:
            os.makedirs(self._claims, mode=0o700, exist_ok=True)
            os.close(os.open(os.path.join(self._claims, key), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        except OSError:
            pass  # known in this process only
        return True

    def _release(self, entry: Entry) -> None:
        if entry.once:
            self._claimed.discard(_key(entry))
            with suppress(OSError):
                os.unlink(os.path.join(self._claims, _key(entry)))


def _unlike(hooks: Sequence[tuple[Entry, Hook]]) -> list[tuple[Entry, Hook]]:
    """Each once, where the same stands in two files."""
    from msgspec.structs import replace

    found: dict[bytes | int, tuple[Entry, Hook]] = {}
    for entry, hook in hooks:
        plain = replace(entry, source="", origin="user", number=0)
        found.setdefault(id(hook) if entry.kind == "callback" else json.canonical(plain), (entry, hook))
    return list(found.values())


def _is_for(entry: Entry, fired: Fired) -> bool:
    if entry.event != fired.event:
        return False
    return not fired.subject or matches(entry.matcher, fired.subject, *fired.also)


async def _effects(effects: Callable[[], Awaitable[Effects]] | None) -> Effects | None:
    try:
        return await effects() if effects is not None else None
    except Exception:  # noqa: BLE001 - the rim around a tool that looks: the judge tells what was wrong
        return None


def _key(entry: Entry) -> str:
    return hashlib.sha256(json.canonical(entry)).hexdigest()[:32]


def _scrubbed(value: Any) -> Any:
    match value:
        case str():
            return scrub(value)
        case dict():
            return {_scrubbed(key): _scrubbed(member) for key, member in value.items()}  # pyright: ignore
        case list() | tuple():
            return [_scrubbed(item) for item in value]  # pyright: ignore
        case _:
            return value
