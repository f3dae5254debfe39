"""What a tool is to the harness: typed arguments, what a call would do (`project`), and doing it (`run`).

`project` may look at the world and never changes it. `run` knows no policy and no surface: what it does has already
been judged from the Effects. Errors are data: both return them; a raised exception is caught by the boundary and told
to the model as a failure of the tool.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType

from agenyx.core import json
from agenyx.core.limits import RESULT_CHARS
from agenyx.core.messages import Media, Status, Text
from agenyx.core.tasks import WorkTask
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.core.tools import Observed as Observed
from agenyx.core.verdict import Scope
from agenyx.proc.spawn import Processes
from agenyx.shell.jobs import Jobs
from agenyx.shell.system import Shell
from agenyx.workspace.root import Root

A = TypeVar("A", bound=Struct)
A_contra = TypeVar("A_contra", bound=Struct, contravariant=True)


class Outcome(Struct, frozen=True):
    """What a run came to. `spill` is a file that holds the whole output when `content` holds only part of it.

    `scope` is what the rest of the turn is kept to from here on, `tasks` are those of the work graph that changed.
    """

    status: Status
    content: tuple[Text | Media, ...]
    observed: tuple[Observed, ...] = ()
    spill: str | None = None
    scope: Scope | UnsetType = UNSET
    tasks: tuple[WorkTask, ...] | UnsetType = UNSET

    @classmethod
    def ok(cls, text: str, *observed: Observed) -> Outcome:
        return cls("ok", (Text(text),), observed)

    @classmethod
    def error(cls, text: str, status: Status = "error") -> Outcome:
        return cls(status, (Text(text),))


class Look(Struct):
    """What `project` may use. `seen` maps real paths to the SHA-256 that a tool of this session last observed."""

    root: Root
    seen: Mapping[str, str]
    shell: Shell


def _no_spill(_call: str) -> str | None:
    return None


def _blind(_data: bytes, _name: str) -> Media | str | None:
    return "This model cannot see images."


class Context(Look):
    """What `run` gets. `output` takes bytes for live display; `spill` is a path for oversized output, or None.

    `result_chars` is how much text the model will see; a tool that can cut better than by head and tail does so.
    `effects` is what was judged: a tool uses its paths and resolves none again. `call` is the id by which the model can
    page what was spilled, "" where it has no tool for that. `jobs` holds the commands in the background, None where
    there can be none; `spilled` finds the file of an earlier spilled result. `answer` holds the arguments that a person
    gave with their yes to this call, as JSON text, None where they gave none; `tasks` is the work graph by id.
    `keep` takes the bytes and the name of a file and keeps them for the model to see: see Session.keep. `id` is that of
    the call.
    """

    processes: Processes
    output: Callable[[bytes], None]
    spill: str | None = None
    result_chars: int = RESULT_CHARS
    effects: Effects = Effects()
    call: str = ""
    jobs: Jobs | None = None
    spilled: Callable[[str], str | None] = _no_spill
    keep: Callable[[bytes, str], Media | str | None] = _blind
    answer: str | None = None
    tasks: Mapping[str, WorkTask] = MappingProxyType({})
    id: str = ""


class Tool(Protocol, Generic[A_contra]):
    """One tool. `name`, `aliases` and `sets` describe it; the text for the model is `NAME.md` beside its module."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    sets: ClassVar[tuple[ToolSet, ...]]
    args: ClassVar[type[Any]]

    async def project(self, args: A_contra, look: Look) -> Effects: ...

    async def run(self, args: A_contra, ctx: Context) -> Outcome: ...


class Foreign(Tool[A], Protocol[A]):
    """A tool that is not ours: its `spec` comes ready, `parse` checks arguments by a schema that others wrote."""

    @property
    def spec(self) -> ToolSpec: ...

    def parse(self, value: object) -> A:
        """`value` is decoded JSON. Raises JsonError with a sentence that says what is wrong."""
        ...


class Subjected(Protocol):
    """A tool whose calls name something of ours that rules may speak about, as in `Task(explore)`."""

    def subject(self, args: Any) -> str: ...


def subject_of(tool: Tool[Any], args: Struct) -> str:
    """What a call names for the rules, "" for a tool whose calls name nothing."""
    return cast("Subjected", tool).subject(args) if hasattr(tool, "subject") else ""


class Dispatcher(Protocol):
    """A tool that stands for others, which are not in the head of the request: its call is theirs."""

    def unwrap(self, args: str) -> tuple[str, str]:
        """The name and the arguments (JSON text) of the call that is meant. Raises JsonError."""
        ...


def describe(tool: Tool[Any], size: ToolSet = "full") -> ToolSpec:
    """The spec of a tool. The small set gets the first paragraph of the text and only the required parameters.

    A parameter that makes sense only beside other tools names its sets in its schema as `sets`; other sets lack it.
    """
    ready: ToolSpec | None = getattr(tool, "spec", None)
    if ready is not None:
        return ready
    beside = os.path.dirname(sys.modules[type(tool).__module__].__file__ or __file__)
    with open(os.path.join(beside, f"{tool.name.lower()}.md"), encoding="utf-8") as file:
        text = file.read().strip()
    schema = json.schema(tool.args)
    schema.pop("description", None)
    properties: dict[str, Any] = schema["properties"]
    schema["properties"] = {name: value for name, value in properties.items() if size in value.pop("sets", (size,))}
    if size == "small":
        text = text.partition("\n\n")[0]
        required = schema.get("required", [])
        schema["properties"] = {name: schema["properties"][name] for name in required}
    return ToolSpec(tool.name, text, schema, tool.aliases, "builtin", tool.sets)
