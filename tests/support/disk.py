"""Which kind of full disk this machine can give a test."""

from __future__ import annotations

import functools
import shutil
import subprocess


@functools.cache
def namespaces() -> bool:
    """Whether this machine lets us mount a small disk of our own; else a limit on file sizes stands in for it."""
    if not shutil.which("unshare"):
        return False
    probe = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0
