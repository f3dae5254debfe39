"""What this build calls itself, for records and for those we talk to."""

from __future__ import annotations


def version() -> str:
    """The version that was baked in, "unknown" in a source tree that was never built."""
    try:
        from agenyx._version import DESCRIBE
    except ImportError:
        return "unknown"
    return DESCRIBE


def number() -> str:
    """The version as three numbers and what follows them; readers of transcripts insist on it."""
    try:
        from agenyx._version import VERSION
    except ImportError:
        return "0.0.0"
    return VERSION
