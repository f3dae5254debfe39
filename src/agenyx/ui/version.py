"""What the program calls itself: baked in when it was built, so that nobody starts git for it."""

from __future__ import annotations


def version_text() -> str:
    """The line that `agenyx --version` prints."""
    try:
        from agenyx._version import DESCRIBE
    except ImportError:  # a source tree that was never built
        return "agenyx unknown\n"
    return f"agenyx {DESCRIBE}\n"
