"""Notices that a process has exited, without SIGCHLD: by pidfd, or by a waiter thread where there is none.

It reaps the process and knows its exit code; it knows nothing of pipes or groups.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from typing import Literal

Way = Literal["pidfd", "thread"]


def best_way() -> Way:
    """pidfd where the system has it (Linux 5.3 and later), else a thread."""
    if hasattr(os, "pidfd_open"):
        try:
            os.close(os.pidfd_open(os.getpid()))
        except OSError:
            return "thread"
        return "pidfd"
    return "thread"


def watch(process: subprocess.Popen[bytes], way: Way) -> asyncio.Future[int]:
    """A future of the exit code (negative signal number); it must not be cancelled.

    The process is reaped in the moment that the future is done, so until then its number cannot be given away.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[int] = loop.create_future()
    if way == "pidfd":
        try:
            fd = os.pidfd_open(process.pid)
        except OSError:
            way = "thread"  # no descriptor left, or a sandbox forbids the call
        else:
            _by_pidfd(loop, process, fd, done)
    if way == "thread":
        _by_thread(loop, process, done)
    return done


def _settle(process: subprocess.Popen[bytes], done: asyncio.Future[int]) -> None:
    code = process.wait()  # it has exited already: this reaps it and does not block
    if not done.done():
        done.set_result(code)


def _by_pidfd(
    loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes], fd: int, done: asyncio.Future[int]
) -> None:
    def ready() -> None:
        loop.remove_reader(fd)
        os.close(fd)
        _settle(process, done)

    loop.add_reader(fd, ready)


def _by_thread(loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes], done: asyncio.Future[int]) -> None:
    import threading

    def wait() -> None:
        if hasattr(os, "waitid"):
            # Leaves the zombie in place, so that its number stays ours until the loop has reaped it.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        try:
            loop.call_soon_threadsafe(_settle, process, done)
        except RuntimeError:
            process.wait()  # the loop has closed; nobody waits any more

    threading.Thread(target=wait, name=f"agenyx-wait-{process.pid}", daemon=True).start()
