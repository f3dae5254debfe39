"""What the text before the caret asks for: a file or resource by `@`, a command by `/`, or its argument. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from agenyx.app.commands.spec import Command
from agenyx.ui.chat.fuzzy import closeness

# As in `ext/imports`: behind a blank or an opening sign, a blank in a name is escaped.
_MENTION = re.compile(r"""(?:(?<=\s)|(?<=[(\[>*_"'])|\A)@((?:\\[ ]|[^\s\\`<>|"'])*)\Z""")
_COMMAND = re.compile(r"/([A-Za-z0-9_:?-]*)\Z")
_VALUE = re.compile(r"/([A-Za-z0-9_:?-]+)[ ]+(?:.*[ ])?(\S*)\Z")


class Ask(Struct, frozen=True):
    """`query` stands from `begin` to the caret, without the sign before it. `command` is whose value it is."""

    kind: Literal["mention", "command", "value"]
    begin: int
    query: str
    command: str = ""


def ask_of(text: str, at: int) -> Ask | None:
    """What is being typed at the caret, where there may be something to choose from."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    if len(line) <= 2_048 and (found := _MENTION.search(line)):
        return Ask("mention", at - len(found[1]), found[1].replace("\\ ", " "))
    if not text.startswith("/") or "\n" in text:
        return None
    if (found := _COMMAND.match(text[:at])) and not text[at:].strip():
        return Ask("command", 1, found[1])
    if at == len(text) and (found := _VALUE.match(text)):
        return Ask("value", found.start(2), found[2], found[1].lower())
    return None


def mention(name: str) -> str:
    """A name as it has to stand behind `@`."""
    return name.replace(" ", "\\ ")


def commands(query: str, known: Iterable[Command]) -> list[Command]:
    """The commands that may be meant, the closest first; in the order of the table where they are as close."""
    found: list[tuple[int, int, Command]] = []
    for number, command in enumerate(known):
        scores = [closeness(query, name) for name in (command.name, *command.aliases)]
        near = [score for score in scores if score is not None]
        if near:
            found.append((min(min(near), 9), number, command))
    return [command for _, _, command in sorted(found, key=lambda row: row[:2])]


def named(name: str, known: Iterable[Command]) -> Command | None:
    """The command of this name or alias."""
    return next((command for command in known if name in (command.name, *command.aliases)), None)


def values(query: str, known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The values that may be meant, with their texts, in their order where they are as close."""
    found: list[tuple[int, int]] = []
    for number, (value, text) in enumerate(known):
        score = closeness(query, value)
        if score is None and query and query.lower() in text.lower():
            score = 50
        if score is not None:
            found.append((min(score, 9) if score < 50 else score, number))
    return [known[number] for _, number in sorted(found)]
