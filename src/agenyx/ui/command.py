"""A slash command in a run without a conversation: it is done before any model is asked, and may be all there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agenyx.app.commands import dispatch
from agenyx.app.commands.grammar import Mistake, Words
from agenyx.app.commands.spec import Desk, Reply
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation


async def command(conversation: Conversation, env: Mapping[str, str], text: str, *, once: bool = True) -> str | Reply:
    """What the input comes to: its own words, or the answer of a command; `once` as in Desk.

    Raises UsageError, AgenyxError.
    """
    if conversation.mcp is not None and text.lstrip().startswith("/mcp__"):
        await conversation.mcp.settle()  # the prompts of servers are commands once these are there
    match await dispatch.answer(Desk(conversation, home_path(env), env, once=once), text):
        case Words(words):
            return words
        case Mistake(message, fix):
            raise UsageError(message, fix)
        case reply:
            return reply


def shown(reply: Reply) -> str:
    """The whole answer as plain text."""
    return "\n".join(part for part in (reply.text.rstrip("\n"), reply.diff.rstrip("\n")) if part)
