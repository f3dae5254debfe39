"""What the lists hold: asked of the conversation, of its server or of the store, as entries. Changes nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence

from agenyx.app.commands.mode import MEANING
from agenyx.app.commands.table import MODES
from agenyx.config.profiles import EFFORTS
from agenyx.core.tty import safe
from agenyx.session.tree import Tree
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.spans import Line, line, wrap
from agenyx.ui.themes import THEMES
from agenyx.ui.tui.overlays.picker import Entry

MOST = 3_000  # sessions in a list
_DESCRIBED = 300  # models that the catalogue is asked about
_LONG = 6  # rows of one prompt in a preview
_COLOURS = {
    "default": "for a dark background",
    "light": "for a light background",
    "contrast": "easiest to tell apart",
    "ansi": "the sixteen colours of the terminal",
    "mono": "no colours",
}
_EFFORT = {
    "minimal": "hardly thinks",
    "low": "quick",
    "medium": "in between",
    "high": "thorough, slower and dearer",
    "xhigh": "as much as it can",
    "max": "as much as it can",
    "none": "does not think first",
}
Rows = Callable[[int], Sequence[Line]]


async def models(ctx: Context) -> list[Entry]:
    """Raises AgenyxError."""
    from agenyx.app.commands.model import described, offered

    desk, now = ctx.desk, ctx.talk.status().model
    names = await offered(desk)
    if now not in names:
        names.insert(0, now)

    def known() -> list[str]:
        return [described(desk, name) for name in names[:_DESCRIBED]]

    facts = await asyncio.to_thread(known)
    facts += [""] * (len(names) - len(facts))
    return [Entry(name, name, fact, name == now) for name, fact in zip(names, facts, strict=True)]


def efforts(ctx: Context) -> tuple[list[Entry], str]:
    """The levels, and a sentence about them. Raises ConfigError."""
    from agenyx.app.facts import efforts_of

    desk, now = ctx.desk, ctx.talk.status()
    known = efforts_of(desk.conversation.parts.source.model.profile, now.model, desk.home)
    note = "" if known else f"It is not known which of them {now.model} takes: the server has the last word."
    return [Entry(one, one, _EFFORT.get(one, ""), one == now.effort) for one in known or EFFORTS], note


def modes(ctx: Context) -> list[Entry]:
    now = ctx.talk.status().mode
    return [Entry(mode, mode, MEANING[mode], mode == now) for mode in MODES]


def themes(now: str) -> list[Entry]:
    return [Entry(name, name, _COLOURS.get(name, ""), name == now) for name in THEMES]


async def sessions(ctx: Context) -> list[Entry]:
    """Those of this workspace, the latest first. Raises AgenyxError."""
    home, workspace, open_ = ctx.home, ctx.workspace, ctx.talk.session_id

    def found() -> list[Entry]:
        from agenyx.app.sessions import row_of
        from agenyx.session.inventory import sessions as all_of
        from agenyx.session.records import Reader

        reader = Reader()
        return [
            Entry(
                one.directory,
                row_of(one, reader).title or one.id,
                time.strftime("%Y-%m-%d %H:%M", time.localtime(one.updated_at)),
                one.id == open_,
                "This session is open already." if one.id == open_ else "",
            )
            for one in all_of(home, workspace)[:MOST]
        ]

    return await asyncio.to_thread(found)


async def session_preview(entry: Entry) -> Rows:
    """Raises OSError."""
    from agenyx.app.session_peek import peek

    seen = await asyncio.to_thread(peek, entry.value)
    facts = f"{os.path.basename(entry.value)}   {seen.prompts} prompts, {seen.steps} steps   {seen.model}"
    parts = [("First", seen.first), ("Last", seen.last if seen.last != seen.first else ""), ("Answer", seen.said)]

    def rows(width: int) -> list[Line]:
        made: list[Line] = [line(safe(facts), "dim")] if width >= len(facts) else wrap(line(safe(facts), "dim"), width)
        for label, text in parts:
            if text.strip():
                shown = safe(text.strip()).split("\n")
                body = [piece for row in shown[:_LONG] for piece in wrap(line(row), max(width - 2, 8))]
                made += [line(label, "bold"), *((("", "  "), *row) for row in body[:_LONG])]
                made += [line("  …", "dim")] if len(body) > _LONG or len(shown) > _LONG else []
        return made

    return rows


def turns(tree: Tree) -> list[Entry]:
    """All turns as they follow each other; the one after which the conversation stands is the current one."""
    from agenyx.app.commands.tree import laid, place

    return [
        Entry(
            str(turn.number),
            f"{turn.text}",
            place(tree, turn).strip(),
            turn.number == tree.head,
            lead=f"{'  ' * min(depth, 10)}{turn.number:>2} {'*' if turn.active else ' '} ",
        )
        for turn, depth in laid(tree)
    ]
