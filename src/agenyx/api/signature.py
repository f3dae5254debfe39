"""From the signature of a function to the arguments of a tool: a struct that checks them, and its JSON schema."""

from __future__ import annotations

import copy
import inspect
import keyword
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from agenyx.api.context import ToolContext
from agenyx.api.docstring import Described, described
from agenyx.core import json
from agenyx.core.errors import UsageError

_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_FITS = "Use types that JSON can say: str, int, float, bool, Literal, Enum, list, dict, dataclasses, TypedDict, Struct."


class Signature(Struct, frozen=True):
    """`args` are the arguments as a struct, `schema` is the JSON schema of them. `context` names the parameter that
    gets the ToolContext, "" for none; `paths` are the parameters that are annotated as Path."""

    args: type[Struct]
    schema: dict[str, Any]
    text: str
    context: str = ""
    paths: frozenset[str] = frozenset()


def signature_of(function: Callable[..., Any], name: str) -> Signature:
    """Raises UsageError, naming the parameter, for what cannot be an argument of a tool."""
    said = described(function.__doc__)
    hints = _hints(function, name)
    fields: list[Any] = []
    context, paths = "", set[str]()
    for at, (parameter, spec) in enumerate(inspect.signature(function).parameters.items()):
        if parameter not in hints:
            raise _wrong(name, parameter, "has no type", f"Annotate it, as in `{parameter}: str`.")
        if _is_context(hints[parameter]):
            if at:
                raise _wrong(name, parameter, "gets the context and is not the first one", "Put it first.")
            context = parameter
            continue
        if spec.kind not in _KINDS:
            raise _wrong(name, parameter, "cannot be given by name", "Take plain parameters only.")
        if parameter.startswith("_") or keyword.iskeyword(parameter):
            raise _wrong(name, parameter, "begins with _", "Give it another name.")
        type_, is_path = _type_of(hints[parameter], parameter, said)
        if is_path:
            paths.add(parameter)
        fields.append((parameter, type_, *_default(spec)))
    schema, args = _schema(function, name, fields)
    return Signature(args, schema, said.text, context, frozenset(paths))


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except NameError as error:
        raise UsageError(
            f"the types of the tool {name} cannot be resolved: {error}",
            "Define and import them at the top of the module, not within a function or TYPE_CHECKING.",
        ) from None
    except TypeError:
        raise UsageError(f"{name} is no function, so it cannot be a tool", "Write a def that calls it.") from None


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or get_origin(hint) is ToolContext


def _type_of(hint: Any, parameter: str, said: Described) -> tuple[Any, bool]:
    """The type of the field with its text, and whether it is a Path, which JSON says as a string."""
    texts: list[str] = []
    metas: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        texts = [extra for extra in extras if isinstance(extra, str)]
        metas = [extra for extra in extras if isinstance(extra, Meta)]
    is_path = hint is Path
    if is_path:
        hint = str
    elif get_origin(hint) in (Union, UnionType) and set(get_args(hint)) == {Path, type(None)}:
        hint, is_path = str | None, True
    text = texts[0] if texts else said.parameters.get(parameter, "")
    if text and not any(meta.description for meta in metas):
        metas.append(Meta(description=text))
    for meta in metas:
        hint = Annotated[hint, meta]
    return hint, is_path


def _default(spec: inspect.Parameter) -> tuple[Any, ...]:
    given: Any = spec.default
    if given is inspect.Parameter.empty:
        return ()
    if isinstance(given, Path):
        given = str(given)
    if isinstance(given, list | dict | set):
        mutable = cast("list[Any] | dict[Any, Any] | set[Any]", given)
        return (msgspec.field(default_factory=lambda: copy.deepcopy(mutable)),)
    return (given,)


def _schema(function: Callable[..., Any], name: str, fields: list[Any]) -> tuple[dict[str, Any], type[Struct]]:
    try:
        args = msgspec.defstruct(f"{name}_args", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
        schema = json.schema(args)
    except RecursionError:
        raise UsageError(f"a type of the tool {name} contains itself", "Give its inner part as a plain dict.") from None
    except (TypeError, ValueError, NameError) as error:
        raise UsageError(f"the tool {name} has a parameter of a type that is not supported: {error}", _FITS) from None
    schema.pop("description", None)
    return schema, args


def _wrong(name: str, parameter: str, what: str, fix: str) -> UsageError:
    return UsageError(f"the parameter {parameter} of the tool {name} {what}", fix)
