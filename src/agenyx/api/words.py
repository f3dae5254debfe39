"""Errors of the layers below in the words of a program: they speak of flags, which are parameters here."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from agenyx.core.errors import AgenyxError

_PARAMETERS = {
    "--cwd": "workspace=",
    "--provider": "provider=",
    "--model": "model=",
    "--base-url": "base_url=",
    "--reasoning-effort": "effort=",
    "--permission-mode": "mode=",
    "--allowed-tools": "allow=",
    "--disallowed-tools": "deny=",
    "--dangerously-skip-permissions": "allow_bypass=True",
    "--max-steps": "max_steps=",
    "--max-budget-usd": "max_usd=",
    "--max-tokens": "max_tokens=",
    "--mcp-config": "mcp_servers=",
    "--agents": "agents=",
    "--add-dir": "add_dirs=",
    "--continue": "continue_=True",
    "--resume": "resume=",
    "--fork-session": "fork=True",
    "--rebind": "rebind=True",
    "--trust-workspace": "trust=True",
    "--bare": "sources=()",
}
_FLAG = re.compile(r"--[a-z][a-z-]*[a-z]")


def in_words(text: str) -> str:
    """The text with parameters in the place of flags. What a command of Agenyx takes (`agenyx …`) stays as it is."""
    parts = re.split(r"(agenyx [^.;,]*)", text)
    return "".join(part if part.startswith("agenyx ") else _FLAG.sub(_parameter, part) for part in parts)


@contextmanager
def worded() -> Generator[None]:
    """Errors that are raised within speak of parameters."""
    try:
        yield
    except AgenyxError as error:
        error.message, error.fix = in_words(error.message), in_words(error.fix)
        error.args = (error.message,)
        raise


def _parameter(match: re.Match[str]) -> str:
    return _PARAMETERS.get(match[0], match[0])
