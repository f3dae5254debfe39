"""What MCP servers have to offer and answer, as plain values that were checked and bounded. No I/O.

All text in them comes from a server: it was cut and made visible, and is data all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from agenyx.core.errors import AgenyxError

State = Literal["idle", "starting", "ready", "down", "failed", "closed"]
"""idle: never started; down: it ended and is started again with the next use; failed: only a person starts it again."""


class McpError(AgenyxError):
    """A server could not be reached, refused, or answered what makes no sense. `code` is the JSON-RPC code, or 0.

    `unsure` tells that the request may have taken effect all the same; `timed_out` that the time was up.
    """

    def __init__(
        self, message: str, fix: str = "", *, code: int = 0, unsure: bool = False, timed_out: bool = False
    ) -> None:
        super().__init__(message, fix)
        self.code, self.unsure, self.timed_out = code, unsure, timed_out


class ToolInfo(Struct, frozen=True):
    """One tool. `schema` is the JSON schema of its arguments, an object, within limits and without references.

    `relaxed` tells that parts of the server's own schema were left out: the server checks those itself. `sha256` is
    over name, description and schema as the server sent them: a change of it is a change of what was approved.
    """

    name: str
    description: str
    schema: dict[str, Any]
    relaxed: bool
    sha256: str


class Resource(Struct, frozen=True):
    """`template` tells that `uri` has {placeholders} to be filled in. `size` in bytes, None where not told."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""
    size: int | None = None
    template: bool = False


class Contents(Struct, frozen=True):
    """One content of a resource: `text`, or `data` where it is binary."""

    uri: str
    mime: str
    text: str = ""
    data: bytes | None = None


class PromptArgument(Struct, frozen=True):
    name: str
    description: str = ""
    required: bool = False


class PromptInfo(Struct, frozen=True):
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class PromptMessage(Struct, frozen=True):
    """`block` is one content block of MCP, as a decoded JSON object; `result.texts` turns it into text."""

    role: Literal["user", "assistant"]
    block: dict[str, Any]


class CallAnswer(Struct, frozen=True):
    """What a tool answered: content blocks of MCP as decoded JSON objects, and the structured content if any."""

    blocks: tuple[dict[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False


class Progress(Struct, frozen=True):
    """How far a call is; `total` is None where it is not known."""

    done: float
    total: float | None = None
    message: str = ""


class Field(Struct, frozen=True):
    """One question of a form. `choices` are (value, label); `many` that several may be taken. `default` may be None."""

    name: str
    kind: Literal["string", "number", "integer", "boolean", "choice"]
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    choices: tuple[tuple[str, str], ...] = ()
    many: bool = False
    schema: dict[str, Any] = {}


class Ask(Struct, frozen=True):
    """A server asks the person to fill in a form. Name the server when showing it; fill in nothing by yourself."""

    server: str
    message: str
    fields: tuple[Field, ...]


class Reply(Struct, frozen=True):
    """The person's answer. `content` counts only with accept; defaults are put in where it lacks a field."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = {}


Elicit = Callable[[Ask], Awaitable[Reply]]
OnProgress = Callable[[Progress], None]


class Standing(Struct, frozen=True):
    """Where one server is. `why` is a sentence when it is not ready; `revision` the protocol's, "" before it is."""

    name: str
    slug: str
    state: State
    why: str = ""
    tools: int = 0
    title: str = ""
    revision: str = ""
    problems: tuple[str, ...] = ()


class Change(Struct, frozen=True):
    """The tools of a server are not what they were. Full names; `altered` those whose text or schema changed."""

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    state: State = "ready"
