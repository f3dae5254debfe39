"""The last words of a program on a pseudo-terminal."""

from __future__ import annotations

import os
import select
import time

_MARK = b"\x1e\x1eend\x1e"


def rest(master: int, slave: int, seconds: float = 30.0) -> bytes:
    """What is still on its way once the program has ended.

    The kernel hands a terminal's output over on its own time, also after the writer is gone. So a mark is sent behind
    it, and what comes before the mark is all there is.
    """
    os.set_blocking(slave, False)
    unsent, data, end = _MARK, b"", time.monotonic() + seconds
    while _MARK not in data and time.monotonic() < end:
        if unsent:
            try:
                unsent = unsent[os.write(slave, unsent) :]
            except BlockingIOError:
                pass
            except OSError:
                break  # hung up: nothing more can come
        if select.select([master], [], [], 0.05)[0]:
            try:
                data += os.read(master, 65536)
            except OSError:
                break
    return data.replace(_MARK, b"")
