"""What stands in a conversation, from top to bottom. Values that change only through the scene.

`key` never changes and is never used twice; `version` grows with every change, so that who draws a block may keep what
it drew by (key, version). Texts of others are as they came: whoever shows them makes them safe.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agenyx.core.events import TurnFinished
from agenyx.core.messages import Status, ToolCall, ToolResult
from agenyx.core.tools import Effects

Stage = Literal["draft", "accepted", "asked", "running", "over"]
"""Of a call: it streams, it was taken on, a person is asked, it runs, it has its result."""


class Block(Struct, kw_only=True, tag=True):
    """`over`: it does not change any more."""

    key: int
    version: int = 0
    over: bool = True


class Typed(Block):
    """What the person sent; `how` it was taken."""

    text: str
    how: Literal["prompt", "steer"] = "prompt"


class Said(Block):
    """Words of the program, such as the reply of a command. `style` is a name of `ui.spans.SGR`, or ""."""

    text: str
    style: str = ""


class Complaint(Block):
    """Something did not work; `fix` says what to do."""

    message: str
    fix: str = ""


class Change(Block):
    """A difference, in the unified format."""

    text: str


class Answer(Block):
    """What the model says: Markdown, in the pieces it came in. Pieces are added; once it is over they are one."""

    pieces: list[str]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Thought(Block):
    """What the model thinks, where the provider shows it. `seconds` it took, once it is over."""

    pieces: list[str]
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Card(Block):
    """A call of a tool, from the first piece of it to its result.

    `draft` are the pieces of its arguments while it streams; `call` and `effects` stand from `accepted` on. `output` is
    the end of what it printed so far, `printed` the bytes in all. `began` is the scene's clock. `inner` are the blocks
    of the subagent that does the call. `status` and `seconds` stand once it is over.
    """

    name: str
    draft: list[str]
    inner: list[AnyBlock]
    stage: Stage = "draft"
    call: ToolCall | None = None
    effects: Effects | None = None
    output: bytes = b""
    printed: int = 0
    began: float = 0.0
    seconds: float = 0.0
    status: Status | None = None
    result: ToolResult | None = None


class Note(Block):
    """Something happened that a person should know: a retry, another mode, a summary."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    fix: str = ""


class Mark(Block):
    """Everything above stands in the requests as a summary only."""

    summary: str


class End(Block):
    """A turn is over. The text of `finished` stands in the Answer above and is left out here."""

    finished: TurnFinished


AnyBlock = Typed | Said | Complaint | Change | Answer | Thought | Card | Note | Mark | End
"""Every kind of block."""
