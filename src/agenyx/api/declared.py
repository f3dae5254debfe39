"""What a tool of a program says that its calls do, and the Effects that follow from it.

Names of parameters that hold paths or hosts, a function of the arguments, or nothing at all: what is not said cannot be
seen, so such a call is asked about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tools import Concern, Effects, PathRef
from agenyx.core.tty import safe
from agenyx.tools.spec import Look

_SHOWN = 4000  # characters of the arguments in a preview


class Touches(Struct, frozen=True):
    """What one call does to the world. Paths count from the workspace; `hosts` are names of hosts, or addresses.

    `preview` is shown to who is asked, instead of the arguments. A non-empty `ask` is asked about in every mode, a
    non-empty `refuse` is never done, and a non-empty `unseen` says what of the call cannot be told: the text is the
    reason. Of a call that touches nothing, or only reads, several may run at once, and again after a crash.
    """

    reads: Sequence[str | os.PathLike[str]] = ()
    writes: Sequence[str | os.PathLike[str]] = ()
    removes: Sequence[str | os.PathLike[str]] = ()
    hosts: Sequence[str] = ()
    preview: str = ""
    ask: str = ""
    refuse: str = ""
    unseen: str = ""


Declaration = Literal["none"] | Touches | Callable[..., "Touches | Literal['none']"]
"""`"none"`, what every call does, or a function that takes the arguments of a call and says what that one does."""
Names = str | Sequence[str]


class Declared(Struct, frozen=True):
    """`always`: asked about in every mode, whatever rules say. Without anything else it is opaque."""

    effects: Declaration | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    always: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The parameters that hold paths, in the order in which their paths stand in the Effects."""
        return (*self.reads, *self.writes, *self.removes)


def declared(
    name: str, effects: Declaration | None, names: Mapping[str, Names], parameters: Mapping[str, Any], always: bool
) -> Declared:
    """`names` maps "reads", "writes" and the like to parameters. Raises UsageError for one that is not there."""
    listed = {kind: (given,) if isinstance(given, str) else tuple(given) for kind, given in names.items()}
    for kind, given in listed.items():
        for parameter in given:
            if parameter not in parameters:
                known = ", ".join(parameters) or "it has none"
                raise UsageError(
                    f"{kind} of the tool {name} names {parameter!r}, which is no parameter of it",
                    f"Its parameters: {known}.",
                )
    if effects is not None and any(listed.values()):
        raise UsageError(f"the tool {name} has both effects= and names of parameters", "Leave one of the two out.")
    if isinstance(effects, str) and effects != "none":
        raise UsageError(f"effects of the tool {name} is {effects!r}", 'Give "none", Touches(...) or a function.')
    return Declared(effects, **listed, always=always)


def project(name: str, spec: Declared, args: Mapping[str, Any], look: Look) -> Effects:
    """The Effects of a call with these arguments. What a function of the program raises is its fault and passes."""
    touches = _touches(spec, args)
    shown = safe(json.pretty(_plain(args))) if args else "no arguments"
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}\n… {len(shown) - _SHOWN:,} characters more"
    preview = safe(touches.preview) if touches and touches.preview else f"{name} {shown}"
    concerns: list[Concern] = []
    if spec.always:
        concerns.append(Concern("always", f"{name} needs an approval for every call", name))
    if touches is None:
        return Effects(opaque=f"{name} does not say what it does", preview=preview, concerns=tuple(concerns))
    if touches.ask:
        concerns.append(Concern("always", touches.ask, name))
    if touches.refuse:
        concerns.append(Concern("refuse", touches.refuse, name))
    reads = _refs(look, touches.reads, writing=False)
    writes, removes = _refs(look, touches.writes, writing=True), _refs(look, touches.removes, removing=True)
    looks = not (writes or removes or touches.hosts or touches.unseen or spec.always)
    return Effects(
        reads,
        writes,
        removes,
        tuple(map(_host, touches.hosts)),
        opaque=touches.unseen,
        parallel=looks,
        preview=preview,
        concerns=tuple(concerns),
    )


def _touches(spec: Declared, args: Mapping[str, Any]) -> Touches | None:
    if spec.effects is None and not (spec.paths or spec.hosts):
        return None
    if spec.effects is None:
        reads, writes, removes, hosts = (_values(args, n) for n in (spec.reads, spec.writes, spec.removes, spec.hosts))
        return Touches(reads, writes, removes, hosts)
    said: Any = spec.effects(**args) if callable(spec.effects) else spec.effects
    if said == "none":
        return Touches()
    if not isinstance(said, Touches):
        raise TypeError(f'its effects= gave {type(said).__name__}, not Touches or "none"')
    return said


def _values(args: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """The paths or hosts that these arguments hold, in order."""
    return tuple(text for name in names for text in values_of(args[name]))


def values_of(value: object) -> tuple[str, ...]:
    """What one argument names: nothing, one, or several."""
    if value is None:
        return ()
    if isinstance(value, str | os.PathLike):
        return (os.fspath(cast("str | os.PathLike[str]", value)),)
    return tuple(map(str, cast("Iterable[object]", value)))


def _host(text: str) -> str:
    """The name in an address, or what was said where it is none."""
    from urllib.parse import urlsplit

    try:
        named = urlsplit(text).hostname if "://" in text else None
    except ValueError:
        named = None
    return named or text.strip().casefold()


def _refs(
    look: Look, paths: Sequence[str | os.PathLike[str]], *, writing: bool = False, removing: bool = False
) -> tuple[PathRef, ...]:
    # A program's own tool may work outside the workspace, as a command may: that is asked about.
    return tuple(look.root.word(os.fspath(path), writing=writing, removing=removing) for path in paths)


def _plain(args: Mapping[str, Any]) -> Any:
    from msgspec import to_builtins

    return to_builtins(dict(args), str_keys=True, enc_hook=str)
