"""`@tool`: a typed function becomes a tool, with name, text and schema from its signature and docstring."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from agenyx.api.context import ToolContext
from agenyx.api.declared import Declaration, Declared, Names, declared
from agenyx.api.signature import Signature, signature_of
from agenyx.core.errors import UsageError
from agenyx.core.limits import TOOL_NAME_CHARS
from agenyx.core.tools import ToolSpec

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
R = TypeVar("R")
D = TypeVar("D")
T = TypeVar("T", bound="Tool[..., Any, Any]")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Tool(Generic[P, R_co, D_contra]):
    """A function as a tool. Calling it calls the function, with nothing in between; only an agent's calls are judged.

    `D_contra` is what the function wants of the agent as `deps`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        signature: Signature,
        spec: Declared,
        description: str,
        timeout: float | None,
    ) -> None:
        self.name, self.description, self.timeout = name, description, timeout
        self.function, self.signature, self.declared = function, signature, spec
        self.__name__, self.__doc__ = name, description
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        return cast("R_co", self.function(*args, **kwargs))

    def __repr__(self) -> str:
        return f"<tool {self.name}{', needs approval' * self.declared.always}>"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as the model sees it."""
        return self.signature.schema

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model and the rules see it."""
        return ToolSpec(self.name, self.description, self.schema, (), "host", ("full", "core", "small"))


class _Decorator:
    """What `@tool(...)` with options gives."""

    def __init__(self, make: Callable[[Callable[..., Any]], Tool[..., Any, Any]]) -> None:
        self._make = make

    @overload
    def __call__(self, function: Callable[Concatenate[ToolContext[D], P], R], /) -> Tool[P, R, D]: ...

    @overload
    def __call__(self, function: Callable[P, R], /) -> Tool[P, R, object]: ...

    def __call__(self, function: Callable[..., Any], /) -> Tool[..., Any, Any]:
        return self._make(function)


@overload
def tool(function: Callable[Concatenate[ToolContext[D], P], R], /) -> Tool[P, R, D]: ...


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R, object]: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    effects: Declaration | None = None,
    reads: Names = (),
    writes: Names = (),
    removes: Names = (),
    hosts: Names = (),
    timeout: float | None = None,
) -> _Decorator: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    effects: Declaration | None = None,
    reads: Names = (),
    writes: Names = (),
    removes: Names = (),
    hosts: Names = (),
    timeout: float | None = None,
) -> Tool[..., Any, Any] | _Decorator:
    """Make a tool of a function with annotated parameters, coroutine or not; one that is not runs in a thread.

    `effects` says what a call does: "none", a Touches, or a function that takes the arguments and gives one of the two.
    `reads`, `writes`, `removes` and `hosts` name parameters that hold paths or hosts instead; the function then gets
    the absolute path that was judged. Without any of it the tool is opaque, and each call is asked about unless a rule
    allows the tool by its name. `timeout` in seconds. Raises UsageError.
    """

    def make(function: Callable[..., Any]) -> Tool[..., Any, Any]:
        called = name or getattr(function, "__name__", "")
        check_name(called)
        signature = signature_of(function, called)
        names = {"reads": reads, "writes": writes, "removes": removes, "hosts": hosts}
        properties = signature.schema.get("properties", {})
        spec = declared(called, effects, names, properties, always=False)
        text = description or signature.text
        if not text:
            raise UsageError(
                f"the tool {called} has no description, so no model can know what it is for",
                "Write a docstring, or give description=.",
            )
        if timeout is not None and timeout <= 0:
            raise UsageError(f"the timeout of the tool {called} is {timeout:g}", "Give seconds above 0, or None.")
        return Tool(function, called, signature, spec, text, timeout)

    return _Decorator(make) if function is None else make(function)


def approvable(tool: T) -> T:
    """The same tool under the same name and schema, whose every call needs an approval: in all modes, also where a rule
    allows it or it says that it does nothing. The first tool stays what it was."""
    from msgspec.structs import replace

    made: Tool[..., Awaitable[Any] | Any, Any] = Tool(
        tool.function,
        tool.name,
        tool.signature,
        replace(tool.declared, always=True),
        tool.description,
        tool.timeout,
    )
    return cast("T", made)


def check_name(name: str) -> None:
    """Raises UsageError for what servers or rules would not take as the name of a tool."""
    if not _NAME.fullmatch(name) or len(name) > TOOL_NAME_CHARS:
        raise UsageError(
            f"{name[:80]!r} cannot be the name of a tool",
            f"Use letters, digits, _ and -, at most {TOOL_NAME_CHARS}; another one is given with @tool(name=...).",
        )
    if name.casefold().startswith("mcp__"):
        raise UsageError(f"the name {name} belongs to tools of MCP servers", "Choose one that does not begin so.")
