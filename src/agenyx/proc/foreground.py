"""A program that a person starts for themselves and works with, such as their editor: it has the terminal meanwhile."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run it on our standard streams, in our process group, until it ends; returns its exit code. Blocks.

    No shell is between. Raises OSError where it cannot be started.
    """
    return subprocess.run(argv, env=dict(env), check=False).returncode
