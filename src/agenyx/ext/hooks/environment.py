"""What hooks see of our environment: a closed list, the variables that their entry names, and where the project lies.

Reference: AgentX §5.6, hook profile. No credential passes, whoever asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from agenyx.config.secrets import SECRET_NAME
from agenyx.proc.environment import search_path

PROJECT = ("AGENYX_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
_NAMES = frozenset(("HOME", "TMPDIR", "TMP", "TEMP", "TEMPDIR", "LANG", "LANGUAGE", "NO_COLOR"))
_MOST_VALUE = 100_000
_CONTAINED = 8  # a shorter secret would be found inside ordinary words
_PLACEHOLDER = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<plain>[A-Za-z_][A-Za-z0-9_]*))")


def hook_env(
    env: Mapping[str, str], project: str, allowed: Iterable[str], secrets: Iterable[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The whole environment of a hook, and the names in `allowed` that it does not get as they hold credentials."""
    hidden, refused = tuple(secret for secret in secrets if secret), list[str]()
    child: dict[str, str] = {}
    for name in (*env, *allowed):
        value, asked = env.get(name), name in tuple(allowed)
        if value is None or not (asked or name in _NAMES or name.startswith("LC_")) or len(value) > _MOST_VALUE:
            continue
        if SECRET_NAME.search(name) or reveals(value, hidden) or value.startswith("() {"):
            refused += [name] * (asked and name not in refused)
            continue
        child[name] = value
    child |= {"PATH": ":".join(search_path(env.get("PATH", ""))), "TERM": "dumb"}
    return child | dict.fromkeys(PROJECT, project), tuple(refused)


def reveals(value: str, secrets: Iterable[str]) -> bool:
    """Whether a value is a secret or holds one."""
    return any(value == secret or (len(secret) >= _CONTAINED and secret in value) for secret in secrets)


def filled(text: str, value: Callable[[str], str | None]) -> str:
    """The text with `$NAME` and `${NAME}` replaced, where `value` knows the name; the rest stays as it is."""

    def one(match: re.Match[str]) -> str:
        known = value(match["braced"] or match["plain"])
        return match[0] if known is None else known

    return _PLACEHOLDER.sub(one, text)
