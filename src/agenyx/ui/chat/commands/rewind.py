"""/rewind: go on from before an earlier turn, with its prompt to write anew; or put files back, or do both."""

from __future__ import annotations

from agenyx.app.commands.tree import shown
from agenyx.core.errors import AgenyxError
from agenyx.session.tree import Tree, Turn
from agenyx.ui.chat.commands.context import Context


async def rewind(ctx: Context, args: str) -> None:
    what, _, rest = args.partition(" ")
    if what not in ("files", "both"):
        _conversation(ctx, args, f"Files are as they are: /rewind files {args or 'N'} shows what could be put back. ")
        return
    from agenyx.ui.chat.commands.files import rewind_files

    if what == "both":
        words = rest.split()
        rest = " ".join([str(chosen(ctx.talk.tree(), words[0] if words else "").number), *words[1:]])
    if await rewind_files(ctx, rest) and what == "both":
        _conversation(ctx, rest.split()[0], "")


def _conversation(ctx: Context, args: str, files: str) -> None:
    turn = chosen(ctx.talk.tree(), args)
    ctx.talk.rewind(turn.before)
    ctx.host.moved()
    ctx.out.say(
        f"the conversation goes on before turn {turn.number}: {shown(turn)}\n"
        f"{files}/tree {turn.number} comes back to what was there."
    )
    ctx.host.take_back(turn.text)


def chosen(tree: Tree, args: str) -> Turn:
    """The turn of this number; without one the last turn on the branch. Raises AgenyxError."""
    if not args:
        if not tree.active:
            raise AgenyxError("there is no turn to go back before", "Say something first.")
        return tree.active[-1]
    turn = tree.turn(int(args)) if args.isascii() and args.isdecimal() and len(args) < 10 else None
    if turn is None:
        raise AgenyxError(f"there is no turn {args}", "/tree lists them with their numbers.")
    return turn
