"""A process group: whether it lives, who is in it, and ending it.

A number is not given away again while a process, a group or a session has it. So once the leader is reaped, a process
with the leader's number is a stranger, and our group is gone: it is never signalled then.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

GRACE = 0.5  # seconds between the polite signal and KILL
REAP = 2.0  # seconds to wait after KILL; only a process stuck in the kernel takes longer
_POLL = 0.005


class Group:
    """The group that one child leads. `reaped` must be set once the leader's exit status has been taken."""

    def __init__(self, pgid: int) -> None:
        self.pgid = pgid
        self.reaped = False
        self._gone = False

    def signal(self, number: int) -> None:
        """Send a signal to every process of the group; an empty group is no error."""
        if self._exists():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pgid, number)

    def members(self) -> tuple[int, ...]:
        """The pids that still run, zombies left out. Outside Linux: the group's own number when something lives."""
        if not self._exists():
            return ()
        if not sys.platform.startswith("linux"):
            return (self.pgid,)
        # Once more when nothing is found: a process that forks and exits can slip through one listing.
        return self._listed() or self._listed()

    def alive(self) -> bool:
        return bool(self.members())

    def _exists(self) -> bool:
        if not self._gone:
            try:
                os.killpg(self.pgid, 0)
            except ProcessLookupError:
                self._gone = self.reaped
                return False
            except PermissionError:
                pass  # something lives that we may not signal, such as a child of sudo
            if self.reaped and _number_taken(self.pgid):
                self._gone = True
        return not self._gone

    def _listed(self) -> tuple[int, ...]:
        return tuple(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._runs(pid))

    def _runs(self, pid: int) -> bool:
        try:
            if os.getpgid(pid) != self.pgid:
                return False
            with open(f"/proc/{pid}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except (OSError, IndexError):
            return False
        return state not in (b"Z", b"X")


def _number_taken(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class Family(Protocol):
    """What can be ended: a group, or processes that have left one."""

    def signal(self, number: int) -> None: ...

    def alive(self) -> bool: ...


async def end(groups: Iterable[Family], interrupt: bool = False) -> None:
    """The kill ladder, for all groups at once: INT where asked, TERM, half a second each, then KILL.

    Returns when nothing of them lives, or REAP seconds after the KILL. If it is cancelled, KILL comes at once.
    """
    left = every = tuple(groups)
    try:
        for number in (signal.SIGINT, signal.SIGTERM) if interrupt else (signal.SIGTERM,):
            for group in left:
                group.signal(number)
            left = await _wait(left, GRACE)
            if not left:
                break
    finally:
        for group in every:
            group.signal(signal.SIGKILL)
    await _wait(left, REAP)


async def _wait(groups: tuple[Family, ...], seconds: float) -> tuple[Family, ...]:
    # No system reports an empty group, so this polls.
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while (groups := tuple(group for group in groups if group.alive())) and loop.time() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(_POLL)
    return groups
