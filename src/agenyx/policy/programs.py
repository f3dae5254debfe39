"""Programs that are never run for a model. Data; the judgement of all others comes from rules and modes."""

from __future__ import annotations

from agenyx.core.tools import Command

_REFUSED = frozenset({"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "mkfs"})


def refused(command: Command) -> str:
    """The name of the program if it must never run, else "". Looks at the parsed word, never at text."""
    word = command.argv[0] if command.argv else None
    if word is None:
        return ""
    name = word.rpartition("/")[2]
    return name if name in _REFUSED or name.startswith("mkfs.") else ""
