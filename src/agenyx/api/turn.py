"""A turn whose answer has to be one value: the model is told so, and told again when its answer does not fit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from agenyx.api.output import Form
from agenyx.app.runtime import Conversation
from agenyx.app.structured import MOST_REPAIRS, Schema, Unfit, repair, together, told
from agenyx.core.events import Outcome, TurnFinished
from agenyx.core.messages import Text, User

Turn = Callable[[], Awaitable[TurnFinished]]


def structured(user: User, schema: Schema) -> User:
    """The prompt with what has to be said about the answer behind it; people are shown the words alone."""
    return replace(user, blocks=(*user.blocks, Text(f"\n\n{told(schema)}")), shown=user.text)


async def formed(conversation: Conversation, turn: Turn, form: Form[Any]) -> tuple[TurnFinished, Any]:
    """The end of a turn with the value that its answer is; UNSET where it came to none."""
    finished = await turn()
    for left in range(MOST_REPAIRS, -1, -1):
        if finished.outcome.kind != "done":
            return finished, UNSET
        try:
            return finished, form.read(finished.text)
        except Unfit as wrong:
            if not left:
                return replace(finished, outcome=Outcome("failed", f"the answer does not fit: {wrong}")), UNSET
            again = await conversation.prompt(User((Text(repair(str(wrong))),)))
            finished = together(finished, again)
    raise AssertionError("the loop ends by returning")
