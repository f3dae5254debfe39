"""Prompts that wait for their turn: by priority, within one in the order in which they came. Bounded; knows no turn."""

from __future__ import annotations

from collections import deque

from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.inbound import Said

MOST: dict[Dialect, tuple[int, int]] = {"agentx": (128, 16 << 20), "sdk": (4096, 64 << 20)}
"""Records, and their bytes as `Said.size` counts them (reference: AgentX §4.4; the Agent SDKs set no limit)."""


class Refused(Exception):
    """A prompt does not get in; the text says why."""


class Queue:
    def __init__(self) -> None:
        self._waiting: dict[str, deque[Said]] = {"now": deque(), "next": deque(), "later": deque()}
        self._size = 0

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def admit(self, said: Said, dialect: Dialect) -> None:
        """Take a prompt in. Raises Refused, and takes nothing then."""
        records, size = MOST[dialect]
        if said.uuid and any(one.uuid == said.uuid for line in self._waiting.values() for one in line):
            raise Refused(f"the prompt {said.uuid} waits already")
        if len(self) >= records or self._size + said.size > size:
            raise Refused(f"the queue is full: {records} prompts or {size >> 20} MiB wait already")
        self._waiting[said.priority if said.priority in self._waiting else "next"].append(said)
        self._size += said.size

    def take(self) -> Said | None:
        """The next one, None when none waits."""
        for line in self._waiting.values():
            if line:
                said = line.popleft()
                self._size -= said.size
                return said
        return None

    def ids(self) -> list[str]:
        """The uuids of those that wait, in the order in which they will be taken."""
        return [said.uuid for line in self._waiting.values() for said in line if said.uuid]

    def drop(self) -> list[Said]:
        """Empty it; what waited."""
        gone = [said for line in self._waiting.values() for said in line]
        for line in self._waiting.values():
            line.clear()
        self._size = 0
        return gone
