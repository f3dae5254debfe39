"""The lines of a transcript. Append-only; unknown kinds and fields are kept on disk and passed over in memory."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import Outcome, Usage, snake
from agenyx.core.messages import Ability, Assistant, ToolResult, User
from agenyx.core.tasks import WorkTask
from agenyx.core.tools import Observed, ToolSpec
from agenyx.core.verdict import Mode, Rule, Scope
from agenyx.llm.request import Options

VERSION = 1
REWIND = "rewind_"  # what the `call` of a Checkpoint begins with that a rewind of files wrote


class _Body(Struct, frozen=True, tag_field="kind", tag=snake):
    pass


class Opened(_Body, frozen=True):
    """The first record; another one follows where the workspace moved. `workspace` is the real path.

    `agenyx` is the version that wrote it, `origin` the session that this one was copied from. `place` is how the
    workspace is known again elsewhere.
    """

    session: str
    workspace: str
    agenyx: str
    origin: str = ""
    place: str = ""


class Binding(_Body, frozen=True):
    """Which model server answers from here on. `fingerprint` excludes the key.

    `rebound`: the person chose to go on with another server, so provider state from before it counts no more.
    `sees` is what the model can be shown beside text. `instead` names the model that this one stands in for, while
    that does not answer; whoever opens the session goes on with it.
    """

    profile: str
    fingerprint: str
    model: str
    rebound: bool = False
    sees: tuple[Ability, ...] = ()
    instead: str = ""


class Prefix(_Body, frozen=True):
    """The head of every request, replayed on resume. `cause` says why it differs from the one before, "" at first."""

    hash: str
    options: Options
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    cause: str = ""


class Terms(_Body, frozen=True):
    """How calls are judged from here on: the permission mode, and the rules that flags set. Without one: by default.

    Whoever goes on with a turn that was left open does so on these terms.
    """

    mode: Mode = "default"
    rules: tuple[Rule, ...] = ()


class Prompt(_Body, frozen=True):
    """Something said to the model. A typed prompt opens a turn; a notice or steering text joins the one that runs."""

    user: User


class Response(_Body, frozen=True):
    """One whole response. `usage` is None when the server did not say."""

    assistant: Assistant
    usage: Usage | None = None
    response_id: str = ""


class Accepted(_Body, frozen=True):
    """The call with this id was taken on; it will get exactly one result."""

    call: str


class Asked(_Body, frozen=True):
    approval: Approval


class Decided(_Body, frozen=True):
    decision: Decision


class Hooked(_Body, frozen=True):
    """What hooks said at `event`, about the call with this id or, with "", about the turn.

    It stands before what follows from it, so that no hook is asked twice about one call. `args` are the arguments of
    the call as hooks changed them; `context` is for the model, at the tail of the next request; `stop` ends the turn.
    """

    event: str
    call: str = ""
    decision: Literal["", "allow", "ask", "deny"] = ""
    reason: str = ""
    args: str | None = None
    context: tuple[str, ...] = ()
    stop: bool = False


class EffectsBegun(_Body, frozen=True):
    """From here on the calls may have changed the world. Where `acts` is false they only look, and may run again."""

    calls: tuple[str, ...]
    acts: bool
    args: dict[str, str] | UnsetType = UNSET
    """Effective arguments by call id, where they differ from what the model sent."""


class Result(_Body, frozen=True):
    """What a call came to. `scope` holds for the rest of the turn, in place of the one before; `tasks` are as they are
    from here on."""

    result: ToolResult
    observed: tuple[Observed, ...] = ()
    scope: Scope | UnsetType = UNSET
    tasks: tuple[WorkTask, ...] | UnsetType = UNSET


class Finished(_Body, frozen=True):
    outcome: Outcome


class Title(_Body, frozen=True):
    """What the person calls the session. The last one in the file counts, on whatever branch."""

    text: str


class Head(_Body, frozen=True):
    """Moves the head: what is appended next follows the record `to`. The records of other branches stay.

    `reason` is "rewind" or "switch", or "branch" where the head stays and `title` names what follows. `restored` are
    paths that were put back before the head moved, and of which the model has not been told yet.
    """

    to: str
    reason: Literal["rewind", "switch", "branch"]
    title: str = ""
    restored: tuple[str, ...] = ()


class Pruned(_Body, frozen=True):
    """Old results were taken out of the requests. `results` stand in their place and name where the whole lies.

    `tokens` is about what the next request takes then, 0 when nobody knows.
    """

    results: tuple[ToolResult, ...]
    tokens: int = 0


class Compacted(_Body, frozen=True):
    """`summary` stands for everything up to the record `upto`, but for the prompts in `kept`, which follow it verbatim.

    `before` and `tokens` are about what the requests before and after take; `usage` is what the summary itself took.
    """

    summary: str
    upto: str
    kept: tuple[str, ...] = ()
    by: Literal["auto", "overflow", "user"] = "auto"
    written: bool = True
    """By the model; else it is an excerpt."""
    before: int = 0
    tokens: int = 0
    usage: Usage | None = None


class Trimmed(_Body, frozen=True):
    """From here on the requests hold, of what was before, only what was said: no calls and no results."""


class Sent(_Body, frozen=True):
    """A subagent was sent into the background by this call. With `told` the model knows how it ended."""

    call: str
    agent: str = ""
    task: str = ""
    told: bool = False


class Spent(_Body, frozen=True):
    """What the subagent of this call has used in all; the last one about a call counts."""

    call: str
    usage: Usage


class Checkpoint(_Body, frozen=True):
    """One path that a call changes: its state before and after; see session.checkpoints for what a state says.

    Written before the effect with `after` None, and whole after it. `path` is absolute, as text; `mode` and
    `mode_after` are st_mode, 0 where it is absent. `call` is that of a tool, or `rewind_…`.
    """

    call: str
    path: str
    before: str
    after: str | None
    mode: int
    mode_after: int = 0


class Unseen(_Body, frozen=True):
    """The server refused what it was shown: these images and documents, by SHA-256, are named in words from here on.

    `why` is what the server said.
    """

    media: tuple[str, ...]
    why: str


class Folders(_Body, frozen=True):
    """The folders that stand beside the workspace from here on, all of them, by their real paths."""

    paths: tuple[str, ...]


class Unknown(_Body, frozen=True):
    """A record of a kind that this version does not know; its line stays in the file as it is."""


Body = (
    Opened
    | Binding
    | Prefix
    | Terms
    | Prompt
    | Response
    | Accepted
    | Asked
    | Decided
    | Hooked
    | EffectsBegun
    | Result
    | Finished
    | Title
    | Head
    | Pruned
    | Compacted
    | Trimmed
    | Sent
    | Spent
    | Checkpoint
    | Unseen
    | Folders
    | Unknown
)


class Record(Struct, frozen=True):
    """One line. `seq` counts from 1; `parent` is the record before it on its branch; `at` in Unix seconds."""

    v: int
    id: str
    seq: int
    parent: str
    at: float
    turn: str
    body: Body
    agent: str = ""


class _Tag(Struct, frozen=True):
    kind: str


class _Head(Struct, frozen=True):
    v: int
    id: str
    seq: int
    parent: str
    at: float
    turn: str
    body: _Tag
    agent: str = ""


_KINDS = frozenset(snake(kind.__name__) for kind in Body.__args__)


def encode(record: Record) -> bytes:
    """One line with its newline."""
    return json.encode(record) + b"\n"


class Reader:
    """Decodes lines. Build one per file; building the decoder costs more than a line."""

    def __init__(self) -> None:
        self._record = json.Decoder(Record)
        self._head = json.Decoder(_Head)

    def decode(self, line: bytes) -> Record:
        """Raises JsonError when the line is no record. A kind of a later version comes back as Unknown."""
        try:
            return self._record.decode(line)
        except json.JsonError:
            head = self._head.decode(line)
            if head.body.kind in _KINDS and head.v <= VERSION:
                raise
            return Record(head.v, head.id, head.seq, head.parent, head.at, head.turn, Unknown(), head.agent)
