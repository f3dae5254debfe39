"""Processes that have left their group, by `setsid` or as a daemon: found by a mark in their environment.

A mark is handed on from parent to child, so it outlives the parent. Not found is what starts with an emptied
environment (`env -i`), overwrites it for a title of its own, or belongs to another user; and outside Linux, everything.
Only a process namespace would hold those too.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable

_MOST = 8 << 20  # bytes of one environment that are looked at


class Strays:
    """Everything that bears a mark and is in none of `groups`; to be ended as a Group is.

    `name` is the variable; `mark` its whole value or, with a dot at its end, what several marks begin with.
    """

    def __init__(self, name: str, mark: str, groups: Callable[[], Iterable[int]]) -> None:
        end = "" if mark.endswith(".") else "\0"
        self._needle = f"\0{name}={mark}{end}".encode()
        self._groups = groups

    def signal(self, number: int) -> None:
        """Send a signal to each of them. None is no error."""
        for pid in self.members():
            try:
                fd = os.pidfd_open(pid)
            except (OSError, AttributeError):
                continue  # it has just ended
            try:
                # The number may have been given away since the listing; of the descriptor that is not so.
                if self._marked(pid):
                    signal.pidfd_send_signal(fd, number)
            except OSError:
                pass
            finally:
                os.close(fd)

    def alive(self) -> bool:
        return bool(self.members())

    def members(self) -> tuple[int, ...]:
        """Their pids, zombies left out. A process that forks and exits meanwhile is found by the next listing."""
        try:
            names = os.listdir("/proc")
        except OSError:
            return ()
        return tuple(pid for pid in map(int, filter(str.isdigit, names)) if self._marked(pid) and not self._held(pid))

    def _marked(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
                return self._needle in b"\0" + (file.read(_MOST) or b"") + b"\0"
        except OSError:
            return False

    def _held(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) in self._groups()
        except OSError:
            return True
