"""What telemetry comes to, as values: spans that begin and end, marks within them, measures."""

from __future__ import annotations

from msgspec import Struct

Value = str | int | float | bool | tuple[str, ...]
Attributes = dict[str, Value]


class Begin(Struct, frozen=True):
    """A span begins. `key` names it in this module; `parent` is the key of another one, "" for none."""

    key: str
    parent: str
    name: str
    attributes: Attributes
    client: bool = False


class Mark(Struct, frozen=True):
    """Something happened within a span."""

    key: str
    name: str
    attributes: Attributes


class End(Struct, frozen=True):
    """A span ends. `error` is the kind of what went wrong, "" for nothing."""

    key: str
    attributes: Attributes
    error: str = ""


class Forget(Struct, frozen=True):
    """Nothing will stand below this span any more."""

    key: str


class Measure(Struct, frozen=True):
    name: str
    value: float
    attributes: Attributes


Operation = Begin | Mark | End | Forget | Measure


class Facts(Struct, frozen=True):
    """Of a session: the provider as the conventions call it, and where its server is. `version` is ours."""

    provider: str = ""
    host: str = ""
    port: int = 0
    version: str = ""
