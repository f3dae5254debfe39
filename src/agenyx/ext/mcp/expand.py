"""Puts variables of the environment into a server's configuration: `$VAR`, `${VAR}`, `${VAR:-default}`, `$$`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_FORM = re.compile(r"\$(?:(?P<escaped>\$)|(?P<plain>[A-Za-z_]\w*)|\{(?P<inner>[^}]*)\}|(?P<open>\{))", re.ASCII)
_INNER = re.compile(r"(?P<name>[A-Za-z_]\w*)(?::-(?P<default>.*))?", re.ASCII | re.DOTALL)


class Unset(Exception):
    """A variable is not set, may not be used, or is not spelled right. `fix` says what to do."""

    def __init__(self, text: str, fix: str) -> None:
        super().__init__(text)
        self.fix = fix


class Expander:
    """Expands texts from `env`; names in `refused` are never put in. `used` collects the names that were."""

    def __init__(self, env: Mapping[str, str], refused: Collection[str] = ()) -> None:
        self._env, self._refused = env, refused
        self.used: dict[str, None] = {}

    def __call__(self, text: str) -> str:
        """Raises Unset. What is put in is not expanded again."""
        return _FORM.sub(self._one, text)

    def _one(self, match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        if match["open"]:
            raise Unset("it holds ${ without }", "Close it, or write $$ for a dollar sign.")
        default = None
        name = match["plain"]
        if name is None:
            inner = _INNER.fullmatch(match["inner"])
            if inner is None:
                raise Unset(f"{match[0]} is no variable", "Write ${NAME} or ${NAME:-default}.")
            name, default = inner["name"], inner["default"]
        if name in self._refused:
            raise Unset(f"it uses {name}, which is a model provider's key", "Give the server a key of its own.")
        value = self._env.get(name)
        if value:
            self.used[name] = None
            return value
        if default is not None:
            return default
        if value is None:
            raise Unset(f"the variable {name} is not set", f"Set {name}, or write ${{{name}:-default}}.")
        return value
