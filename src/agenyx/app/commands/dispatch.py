"""The one way from an input to a command, for every surface: before any model is asked.

Surfaces import it only for an input that begins with a slash: ordinary prompts pay for nothing here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agenyx.app.commands import grammar
from agenyx.app.commands.found import found
from agenyx.app.commands.grammar import Mistake, Words
from agenyx.app.commands.spec import Command, Desk, Reply
from agenyx.app.commands.table import BY_NAME
from agenyx.core.errors import UsageError

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation


class Called(Struct, frozen=True):
    """A command that is there, what follows its name, and the whole of what was typed."""

    command: Command
    args: str
    typed: str


def find(conversation: Conversation | None, text: str) -> Words | Called | Mistake:
    """What an input is. Without a conversation only the built-in commands are known."""
    match grammar.read(text, BY_NAME, os.path.exists):
        case grammar.Call(name, args):
            return Called(BY_NAME[name], args, text.strip())
        case Words() as words:
            return words
        case Mistake() as mistake:
            if conversation is None:
                return mistake
    others = found(conversation).commands
    match grammar.read(text, {**BY_NAME, **others}, os.path.exists):
        case grammar.Call(name, args):
            return Called(others[name], args, text.strip())
        case other:
            return other


async def answer(desk: Desk, text: str) -> Words | Reply | Mistake:
    """Run the command that an input is. Raises AgenyxError, as the command does."""
    match find(desk.conversation, text):
        case Called() as called:
            return await call(desk, called)
        case other:
            return other


async def call(desk: Desk, called: Called) -> Reply:
    """Run a command. Where a turn follows, people will be shown what was typed. Raises AgenyxError."""
    check(called)
    reply = await called.command.run(desk, called.args)
    return reply if reply.prompt is None else replace(reply, prompt=replace(reply.prompt, shown=called.typed))


def check(called: Called) -> None:
    """Raises UsageError where a command that takes nothing was given something."""
    name = called.command.name
    if called.args and not called.command.args:
        raise UsageError(f"/{name} takes nothing behind its name", f"Type just /{name}.")
