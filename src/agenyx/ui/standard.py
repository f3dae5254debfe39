"""The three standard descriptors at the start and the end of the process. Light: `--version` uses it."""

from __future__ import annotations

import os
import sys


def prepare() -> None:
    """Open closed ones on /dev/null, lest a file of ours takes their number; no character may crash a stream."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
    for name, errors in (("stdout", "replace"), ("stderr", "backslashreplace")):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when the interpreter started
            fd = 1 if name == "stdout" else 2
            setattr(sys, name, open(fd, "w", encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115
        else:
            stream.reconfigure(errors=errors)


def show(text: str) -> None:
    """Write to standard output and flush. Raises OSError when nobody reads it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def flush() -> None:
    """Flush what other modules wrote. Raises OSError when nobody reads it."""
    sys.stdout.flush()
    sys.stderr.flush()
