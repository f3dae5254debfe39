"""The command line of a sub-command: words, switches and values, from a small table of its own. Pure."""

from __future__ import annotations

from agenyx.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Arguments:
    """`words` are the positionals; `help` was asked for. A switch or value that was not given is False or ""."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.help = False
        self._given: dict[str, str] = {}

    def on(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str) -> str:
        return self._given.get(name, "")

    def give(self, name: str, value: str) -> None:
        self._given[name] = value


def arguments(
    command: str,
    argv: Sequence[str],
    *,
    switches: Sequence[str] = (),
    values: Sequence[str] = (),
    words: tuple[int, int] = (0, 0),
) -> Arguments:
    """`words` are the least and the most positionals. Raises UsageError, which names the help of the command."""
    found, rest = Arguments(), list(argv)
    see = f"See: agenyx {command} --help"
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            found.help = True
        elif word == "--":
            found.words += rest
            break
        elif not word.startswith("-") or word == "-":
            found.words.append(word)
        elif name in switches:
            if equals:
                raise UsageError(f"{name} does not accept a value", f"Write just {name}.")
            found.give(name, "yes")
        elif name in values:
            if not equals:
                value = rest.pop(0) if rest and not rest[0].startswith("--") else ""
            if not value.strip():
                raise UsageError(f"{name} needs a value", see)
            found.give(name, value)
        else:
            raise UsageError(f"agenyx {command} has no flag {name}", see)
    if not found.help and not words[0] <= len(found.words) <= words[1]:
        many = "too few" if len(found.words) < words[0] else "too many"
        raise UsageError(f"{many} words after agenyx {command}", see)
    return found
