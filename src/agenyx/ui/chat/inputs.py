"""What was typed and waits for its turn: words with images beside them, or a command of the person's own."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from agenyx.core.messages import User
from agenyx.ui.chat.commands.context import Context


class Input(Struct, frozen=True):
    """`images` are paths of what the model is to be shown. `keyed`: it came from a keyboard, not from a pipe."""

    text: str
    images: tuple[str, ...] = ()
    keyed: bool = True

    @property
    def own(self) -> str:
        """The command for the shell behind a `!`, "" for other inputs."""
        return self.text[1:].strip() if self.keyed and self.text.startswith("!") else ""


async def run_own(ctx: Context, command: str) -> None:
    """Run a command of the shell that the person typed, and show what it printed."""
    from agenyx.app import own  # most conversations run none

    said = await own.run(ctx.desk.conversation, command)
    if said.ran:
        ctx.out.say(said.result.text)
    else:
        ctx.out.complain("the command was not run", said.result.text)


async def shown(ctx: Context, words: str | User, given: Input) -> User:
    """The words with the images beside them. Raises AgenyxError, naming the first that cannot be shown."""
    from agenyx.app.sight import attached  # most inputs show nothing

    return await asyncio.to_thread(attached, ctx.desk.conversation, words, given.images)
