"""Identities and time, injected everywhere so that a test can replay them."""

from __future__ import annotations

import os
import time
from typing import Protocol


class Ids(Protocol):
    """Makes identities; `kind` is a short prefix such as `call`."""

    def new(self, kind: str) -> str: ...


class Clock(Protocol):
    """Unix seconds, UTC."""

    def __call__(self) -> float: ...


_TELLING = 8  # characters of a call's id that tell children apart


class RandomIds:
    """Random, and ordered by time of creation to the millisecond: `call_0192f3a4b5c6d7e8f9a0b1c2`."""

    def new(self, kind: str) -> str:
        return f"{kind}_{int(time.time() * 1000):012x}{os.urandom(6).hex()}"


def session_id() -> str:
    """A version 7 UUID (RFC 9562): sortable by time, random otherwise."""
    value = bytearray(int(time.time() * 1000).to_bytes(6, "big") + os.urandom(10))
    value[6] = value[6] & 0x0F | 0x70
    value[8] = value[8] & 0x3F | 0x80
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def child_id(call: str) -> str:
    """How the subagent is called that does this call: the end of the call's id behind an `a`."""
    return f"a{call.rpartition('_')[2][-_TELLING:]}"


wall_clock: Clock = time.time
