"""What a tool is to the model (ToolSpec) and what a call would do to the world (Effects)."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

ToolSet = Literal["full", "core", "small"]


class ToolSpec(Struct, frozen=True):
    """A tool as the model and the rules see it. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    aliases: tuple[str, ...] = ()
    origin: Literal["builtin", "mcp", "host"] = "builtin"
    sets: tuple[ToolSet, ...] = ("full",)


class PathRef(Struct, frozen=True):
    """One path that a call touches.

    `shown` is scrubbed text for people and rules; `real` the resolved absolute path, bytes as the system has them;
    `root` the workspace root that holds it, None when it lies outside every root; `identity` (device, inode) where it
    exists; `protected` says why it is protected, `problem` why it must not be used at all; both may be empty.
    """

    shown: str
    real: bytes
    root: str | None
    identity: tuple[int, int] | None = None
    protected: str = ""
    problem: str = ""


class Observed(Struct, frozen=True):
    """The content of a file as a tool saw or left it: absolute real path and SHA-256 in hex."""

    path: str
    sha256: str


class Redirect(Struct, frozen=True):
    """One redirection of a command; `target` is None where it is not static."""

    op: str
    target: str | None


class Command(Struct, frozen=True):
    """One simple command of a script; a word that is not static is None."""

    argv: tuple[str | None, ...]
    assigns: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Effects(Struct, frozen=True):
    """What a call would do. Everything that judges, shows or schedules a call derives from this value.

    A non-empty `opaque` says why not everything is seen: such a call is never allowed unasked. `parallel` calls only
    look, so they may run together and again after a crash. `preview` is a diff or command for people.
    """

    reads: tuple[PathRef, ...] = ()
    writes: tuple[PathRef, ...] = ()
    removes: tuple[PathRef, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    interact: bool = False
    opaque: str = ""
    parallel: bool = False
    preview: str = ""

    @property
    def acts(self) -> bool:
        """Whether anything outside the agent may change."""
        return bool(self.writes or self.removes or self.hosts or self.commands or self.opaque)
