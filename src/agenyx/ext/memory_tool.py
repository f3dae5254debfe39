"""Memory: lets the model keep and read notes of the project. A note is a change like any other: a person is asked."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from agenyx.core.redact import Masker
from agenyx.core.tools import Concern, Effects, PathRef, ToolSet
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.names import show

if TYPE_CHECKING:
    from agenyx.ext.memory import Memory as Store
    from agenyx.ext.memory import Recalled

_DIFF_LINES = 200
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class MemoryArgs(Struct, frozen=True, forbid_unknown_fields=True):
    action: Literal["remember", "recall", "list", "forget"]
    name: str = ""
    content: str = ""
    query: str = ""


class Memory:
    """`home` is the application home, `workspace` a real path."""

    name: ClassVar[str] = "Memory"
    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[MemoryArgs]] = MemoryArgs

    def __init__(self, home: str, workspace: str) -> None:
        self._home, self._workspace = home, workspace

    async def project(self, args: MemoryArgs, look: Look) -> Effects:
        if args.action in ("recall", "list"):
            return Effects(parallel=True)
        if not _NAME.fullmatch(args.name):
            return Effects(parallel=True)  # nothing is done: the run says so
        from agenyx.workspace.diff import unified

        memory = self._memory()
        real = os.fsencode(memory.path(args.name))
        note = memory.get(args.name)
        try:
            facts = os.lstat(real)
            identity = (facts.st_dev, facts.st_ino)
        except OSError:
            identity = None
        ref = PathRef(show(real), real, None, identity)
        before = (note.text + "\n").encode() if note else b""
        if args.action == "forget":
            return Effects(removes=(ref,), preview=unified(before, b"", f"{args.name}.md", _DIFF_LINES))
        after = (args.content.strip() + "\n").encode("utf-8", "replace")
        why = memory.wrong(args.name, args.content, Masker())
        concerns = (Concern("refuse", f"the note is not kept: {why}", args.name),) if why else ()
        return Effects(writes=(ref,), preview=unified(before, after, f"{args.name}.md", _DIFF_LINES), concerns=concerns)

    async def run(self, args: MemoryArgs, ctx: Context) -> Outcome:
        from agenyx.ext.memory import listed

        memory = self._memory()
        match args.action:
            case "list":
                notes = memory.all()
                return Outcome.ok(listed(notes) if notes else "There are no notes yet.")
            case "recall":
                return Outcome.ok(_told(memory.recall(args.query), args.query))
            case _ if not _NAME.fullmatch(args.name):
                return Outcome.error("A note needs a name of 1 to 64 letters, digits, - and _.")
            case "forget":
                gone = memory.forget(args.name)
                return Outcome.ok(f"{args.name} is forgotten.") if gone else Outcome.error(f"There is no {args.name}.")
            case "remember":
                memory.remember(args.name, args.content, Masker())
                return Outcome.ok(f"Kept as {args.name}; sessions that begin from now on are told.")

    def _memory(self) -> Store:
        from agenyx.ext.memory import open_memory  # not needed before the first call

        return open_memory(self._home, self._workspace)


def _told(found: Recalled, query: str) -> str:
    if not found.notes:
        return f"No note speaks of {query[:200]}." if query.strip() else "There are no notes yet."
    more = f"\n\nMore that fit, by name: {', '.join(found.more)}" if found.more else ""
    return "\n\n".join(note.block for note in found.notes) + more
