"""What a conversation is made of. A half step is not a value of these types: a call never lacks its result."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from agenyx.core.verdict import Scope

Stop = Literal["end", "calls", "length", "refusal", "filter", "cut"]
"""Why the model stopped. `cut` is ours: the connection broke and the partial text was kept."""

Status = Literal["ok", "error", "denied", "cancelled", "timed_out", "interrupted", "unavailable", "malformed"]
Origin = Literal["typed", "steer", "hook", "command", "notice"]
Ability = Literal["images", "documents"]
"""What a model can be shown beside text."""


class Opaque(Struct, frozen=True):
    """Provider state replayed verbatim: kept, refused or dropped as a whole, never altered.

    `binding` is the fingerprint of the profile that made it; `wire` names the format; `json` is the exact text.
    """

    binding: str
    wire: str
    json: str


class Text(Struct, frozen=True, tag="text", tag_field="type"):
    """Plain text, free of lone surrogates."""

    text: str


class Reasoning(Struct, frozen=True, tag="reasoning", tag_field="type"):
    """The model's thinking, as far as it was shown, with what the provider wants back."""

    text: str
    opaque: Opaque | None = None


class ToolCall(Struct, frozen=True, tag="call", tag_field="type"):
    """One call the model made.

    `id` is ours and unique in the session; `wire_id` is what the server sent and gets back (some servers repeat them).
    `args` is the model's exact text; parsed values are views of it.
    """

    id: str
    wire_id: str
    name: str
    args: str
    opaque: Opaque | None = None


class Media(Struct, frozen=True, tag="media", tag_field="type"):
    """An image or document; its bytes live in the session's store under `sha256`. `size` in bytes."""

    kind: Literal["image", "document"]
    mime: str
    sha256: str
    size: int
    name: str


Block = Text | Reasoning | ToolCall
UserBlock = Text | Media


class ToolResult(Struct, frozen=True):
    """What one call came to. `spill` names the file that holds the whole output when `content` was cut."""

    call: str
    status: Status
    content: tuple[UserBlock, ...]
    spill: str | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, Text))


class User(Struct, frozen=True, tag="user", tag_field="type"):
    """Something said to the model: by the person, or by the harness as a recorded notice.

    `shown` is what the person typed, where a command made other words of it for the model; `scope` is what the command
    keeps the turn to.
    """

    blocks: tuple[UserBlock, ...]
    origin: Origin = "typed"
    prompt_id: str = ""
    shown: str | UnsetType = UNSET
    scope: Scope | UnsetType = UNSET

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def said(self) -> str:
        """What people are shown of it."""
        return self.text if isinstance(self.shown, UnsetType) else self.shown


class Assistant(Struct, frozen=True):
    """One response of the model. `binding` is the fingerprint of the profile that made it."""

    blocks: tuple[Block, ...]
    stop: Stop
    model: str = ""
    phase: str = ""
    binding: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


class Step(Struct, frozen=True, tag="step", tag_field="type"):
    """One response with the results of its calls, in the order of the calls."""

    assistant: Assistant
    results: tuple[ToolResult, ...] = ()

    def __post_init__(self) -> None:
        if [call.id for call in self.assistant.calls] != [result.call for result in self.results]:
            raise ValueError("a step has exactly one result for each of its calls, in their order")


class Summary(Struct, frozen=True, tag="summary", tag_field="type"):
    """What stands for the records up to the id `upto` after compaction; the records in `kept` follow it verbatim."""

    text: str
    upto: str
    kept: tuple[str, ...] = ()


Entry = User | Step | Summary
