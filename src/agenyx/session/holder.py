"""Who holds the lock of a session, in words, as far as the system tells. Looks, and changes nothing."""

from __future__ import annotations

import os
import time

_WIDTH = 60


def holder(pid: str) -> str:
    """`process 12 (agenyx chat, since 2026-01-31 09:30)`; `pid` is what the lock file says."""
    if not (pid.isascii() and pid.isdigit()) or len(pid) > 10:
        return "another process"
    facts = [fact for fact in (_command(pid), _since(pid)) if fact]
    if not facts:
        if not _alive(int(pid)):
            return f"process {pid}, which has ended, or a child of it"
        return f"process {pid}"
    return f"process {pid} ({', '.join(facts)})"


def _command(pid: str) -> str:
    words = _read(f"/proc/{pid}/cmdline").decode("utf-8", "replace").split("\0")
    flat = " ".join(" ".join(words).split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 3] + "..."


def _since(pid: str) -> str:
    """When the process started: clock ticks after boot, the 22nd field of proc(5) stat."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    boot = next((line.split()[1] for line in _read("/proc/stat").splitlines() if line.startswith(b"btime ")), b"")
    if len(fields) < 20 or not boot:
        return ""
    started = int(boot) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return f"since {time.strftime('%Y-%m-%d %H:%M', time.localtime(started))}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""
