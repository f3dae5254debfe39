"""The sources of the input, from the parts of a conversation at the keyboard."""

from __future__ import annotations

from functools import partial

from agenyx.config.secrets import masker
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.files import Files
from agenyx.ui.chat.history import HistoryFile
from agenyx.ui.chat.loop import Chat
from agenyx.ui.chat.resources import resources_of
from agenyx.ui.chat.values import values_of
from agenyx.ui.tui.preferences import preferences
from agenyx.ui.tui.prompt.sources import Sources


def wired(chat: Chat, ctx: Context) -> Sources:
    """`ctx` as the commands of `chat` have it. Nothing is started here."""

    def complain(message: str, fix: str) -> None:
        chat.board.complain(message, fix)
        chat.drawn()

    return Sources(
        chat,
        HistoryFile(ctx.home, masker(ctx.env)),
        chat.commands,
        Files(ctx.processes, ctx.env, ctx.workspace),
        partial(values_of, ctx),
        partial(resources_of, ctx),
        complain,
        ctx.env,
        ctx.workspace,
        preferences(ctx.home).editor_mode == "vim",
    )
