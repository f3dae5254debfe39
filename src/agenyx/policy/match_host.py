"""Patterns of hosts: `domain:example.com` is that host, `domain:*.example.com` what lies below it. Pure.

Compared label by label from the right, in lower-case IDNA form, without a port or a trailing dot; never by text.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from agenyx.core.errors import UsageError

_MOST = 253  # a name in the DNS; also keeps the IDNA codec from taking quadratic time


def checked(pattern: str) -> str:
    """`domain:` with the host in its plain form, "" for `domain:*`. Raises UsageError."""
    kind, colon, host = pattern.partition(":")
    if kind.strip().casefold() != "domain" or not colon:
        raise UsageError(f"{pattern[:80]!r} is not a domain", "Write WebFetch(domain:example.com).")
    host = host.strip()
    if host == "*":
        return ""
    below = host.startswith("*.")
    name = plain(host[2:] if below else host)
    if not name or len(name) > _MOST or not set(name).isdisjoint("*/@ \t\n?#%\\") or ".." in name:
        raise UsageError(
            f"{host[:80]!r} is not a host",
            "Write example.com, or *.example.com for the hosts below it.",
        )
    return f"domain:{'*.' if below else ''}{name}"


@lru_cache(maxsize=4096)
def plain(host: str) -> str:
    """A host in the form in which hosts are compared."""
    host = host.strip().rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    host = host.rstrip(".")
    if not host.isascii() and len(host) <= _MOST:
        with suppress(UnicodeError):  # no such name can be resolved; it is compared as it is
            host = host.encode("idna").decode("ascii")
    return host.lower()


def matches(pattern: str, host: str) -> bool:
    """Whether a checked pattern, not "", speaks about the host."""
    wanted, given = pattern.removeprefix("domain:"), plain(host)
    if wanted.startswith("*."):
        return given.endswith(wanted[1:]) and len(given) > len(wanted) - 1
    return given == wanted
