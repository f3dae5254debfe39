"""Commands that are not ours: what a person or a trusted workspace brings. A function of the conversation.

Built-in names win over them all; of two that are left, the later source does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agenyx.app.commands.spec import Command
from agenyx.app.commands.table import BY_NAME

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation

Bringer = Callable[["Conversation"], tuple[Sequence[Command], Sequence[str]]]
"""The commands of one origin, and a sentence for each that cannot be used."""


class Found(Struct, frozen=True):
    """`commands` by name, in small letters, in the order of names; `problems` say what is shadowed or of no use."""

    commands: dict[str, Command]
    problems: tuple[str, ...]


def found(conversation: Conversation) -> Found:
    """All of them, weakest origin first: prompts of MCP servers, Markdown commands, skills."""
    return merged([bring(conversation) for bring in BRINGERS])


def merged(brought: Sequence[tuple[Sequence[Command], Sequence[str]]]) -> Found:
    """One namespace of them. Pure."""
    commands, problems = dict[str, Command](), list[str]()
    for some, told in brought:
        problems += told
        for command in some:
            name = command.name.lower()
            if name in BY_NAME:
                problems.append(f"/{name} of {command.origin} is not used: a built-in command has the name")
                continue
            if before := commands.get(name):
                problems.append(f"/{name} of {before.origin} is not used: {command.origin} has the same name")
            commands[name] = command
    return Found(dict(sorted(commands.items())), tuple(problems))


def _markdown(conversation: Conversation) -> tuple[Sequence[Command], Sequence[str]]:
    extensions = conversation.extensions
    if extensions is None or not extensions.sources("commands"):
        return (), ()
    from agenyx.app.commands import custom

    return custom.bring(extensions.sources("commands"))


def _skills(conversation: Conversation) -> tuple[Sequence[Command], Sequence[str]]:
    return conversation.library.commands() if conversation.library else ((), ())


def _servers(conversation: Conversation) -> tuple[Sequence[Command], Sequence[str]]:
    return conversation.mcp.commands() if conversation.mcp else ((), ())


BRINGERS: tuple[Bringer, ...] = (_servers, _markdown, _skills)
