"""The files part of /rewind: the points, what going back to one would do, and doing it."""

from __future__ import annotations

from agenyx.core.errors import UsageError
from agenyx.ui.chat.commands.context import Context


async def rewind_files(ctx: Context, args: str) -> bool:
    """`args`: nothing lists the points, a name shows the plan, a name and `yes` does it. Says whether it was done.

    Raises AgenyxError.
    """
    from agenyx.ui import rewind  # most conversations never go back

    files = ctx.talk.files()
    match args.split():
        case []:
            ctx.out.say(rewind.points(files.history(), "/rewind files").rstrip())
        case [to]:
            chosen = files.plan(to)
            ctx.out.say(rewind.paths(chosen).rstrip())
            for step in chosen.acting:
                if step.diff:
                    ctx.out.diff(step.diff)
            ctx.out.say("Nothing was changed; with yes behind it, it is done.")
        case [to, "yes"]:
            ctx.out.say(rewind.listing(files.apply(files.plan(to)), "").rstrip())
            return True
        case _:
            raise UsageError("/rewind files takes a point, and yes to do it", "/rewind files alone lists the points.")
    return False
