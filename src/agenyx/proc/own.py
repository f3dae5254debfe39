"""A process group of our own, for a host that ends all of it at once."""

from __future__ import annotations

import os
from contextlib import suppress


def lead() -> None:
    """Become the leader of a process group, where we are none yet."""
    with suppress(PermissionError):  # the leader of a session leads its group already
        os.setpgid(0, 0)
