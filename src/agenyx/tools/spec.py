"""What a tool is to the harness: typed arguments, what a call would do (`project`), and doing it (`run`).

`project` may look at the world and never changes it. `run` knows no policy and no surface: what it does has already
been judged from the Effects. Errors are data: both return them; a raised exception is caught by the boundary and told
to the model as a failure of the tool.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct

from agenyx.core import json
from agenyx.core.limits import RESULT_CHARS
from agenyx.core.messages import Media, Status, Text
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.core.tools import Observed as Observed
from agenyx.proc.spawn import Processes
from agenyx.shell.jobs import Jobs
from agenyx.shell.system import Shell
from agenyx.workspace.root import Root

A = TypeVar("A", bound=Struct)
A_contra = TypeVar("A_contra", bound=Struct, contravariant=True)


class Outcome(Struct, frozen=True):
    """What a run came to. `spill` is a file that holds the whole output when `content` holds only part of it."""

    status: Status
    content: tuple[Text | Media, ...]
    observed: tuple[Observed, ...] = ()
    spill: str | None = None

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


class Context(Look):
    """What `run` gets. `output` takes bytes for live display; `spill` is a path for oversized output, or None.

    `result_chars` is how much text the model will see; a tool that can cut better than by head and tail does so.
    `effects` is what was judged: a tool uses its paths and resolves none again. `call` is the id by which the model can
    page what was spilled, "" where it has no tool for that. `jobs` holds the commands in the background, None where
    there can be none; `spilled` finds the file of an earlier spilled result.
    """

    processes: Processes
    output: Callable[[bytes], None]
    spill: str | None = None
    result_chars: int = RESULT_CHARS
    effects: Effects = Effects()
    call: str = ""
    jobs: Jobs | None = None
    spilled: Callable[[str], str | None] = _no_spill


class Tool(Protocol, Generic[A_contra]):
    """One tool. `name`, `aliases` and `sets` describe it; the text for the model is `NAME.md` beside its module."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    sets: ClassVar[tuple[ToolSet, ...]]
    args: ClassVar[type[Any]]

    async def project(self, args: A_contra, look: Look) -> Effects: ...

    async def run(self, args: A_contra, ctx: Context) -> Outcome: ...


def describe(tool: Tool[Any], size: ToolSet = "full") -> ToolSpec:
    """The spec of a tool. The small set gets the first paragraph of the text and only the required parameters.

    A parameter that makes sense only beside other tools names its sets in its schema as `sets`; other sets lack it.
    """
    with open(os.path.join(os.path.dirname(__file__), f"{tool.name.lower()}.md"), encoding="utf-8") as file:
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
