"""The values that a command may be given, to choose from. Looked up when they are asked for; may read files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from agenyx.app.commands.spec import Command
from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context

Values = Sequence[tuple[str, str]]
"""Each with a few words about it."""
MOST = 200


async def values_of(ctx: Context, command: Command, words: Sequence[str] = ()) -> Values:
    """What may stand next behind this command, where `words` stand there already; () where nobody can tell."""
    find = _KNOWN.get(command.name) if not command.origin and not words else None
    if find is not None:
        try:
            return (await find(ctx))[:MOST]
        except (AgenyxError, OSError):  # it is a help; what is wrong is told when the command is used
            return ()
    return [(choice, "") for choice in command.choices] if not words else ()


async def _help(ctx: Context) -> Values:
    from agenyx.app.commands.table import BUILTIN

    return [(command.name, command.text) for command in BUILTIN]


async def _effort(ctx: Context) -> Values:
    from agenyx.app.facts import efforts_of
    from agenyx.config.effort import EFFORTS

    model = ctx.desk.conversation.parts.source.model
    known = await asyncio.to_thread(efforts_of, model.profile, model.name, ctx.home)
    return [(level, "in use" if level == ctx.talk.status().effort else "") for level in known or EFFORTS]


async def _model(ctx: Context) -> Values:
    from agenyx.llm.catalogue import Host, read

    source = ctx.desk.conversation.parts.source.model
    catalogue = await asyncio.to_thread(read, ctx.home)
    names = [*source.windows, *catalogue.hosts.get(source.profile.host, Host()).models]
    return [(name, "in use" if name == source.name else "") for name in dict.fromkeys([source.name, *names])]


async def _resume(ctx: Context) -> Values:
    def read() -> Values:
        from agenyx.app.sessions import row_of
        from agenyx.session.inventory import sessions

        found = [one for one in sessions(ctx.home, ctx.workspace) if one.id != here][:50]
        return [
            (one.id, f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(one.updated_at))}  {row_of(one).title}")
            for one in found
        ]

    here = ctx.talk.session_id
    return await asyncio.to_thread(read)


async def _turns(ctx: Context) -> Values:
    from agenyx.app.commands.tree import shown

    return [(str(turn.number), shown(turn)) for turn in reversed(ctx.talk.tree().active)]


async def _styles(ctx: Context) -> Values:
    guidance = ctx.desk.conversation.guidance
    return [(style.name, style.description) for style in guidance.styles().values()]


async def _theme(ctx: Context) -> Values:
    from agenyx.ui.themes import THEMES

    return [(name, "") for name in THEMES]


_KNOWN: dict[str, Callable[[Context], Awaitable[Values]]] = {
    "help": _help,
    "effort": _effort,
    "model": _model,
    "resume": _resume,
    "rewind": _turns,
    "tree": _turns,
    "output-style": _styles,
    "theme": _theme,
}
