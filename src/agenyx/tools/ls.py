"""LS: the names in one directory."""

from __future__ import annotations

import asyncio
import os
from typing import ClassVar

from msgspec import Struct

from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.paths import judged, left_out, visible
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.files import FileProblem, Missing
from agenyx.workspace.names import show
from agenyx.workspace.near import near

_SHOWN = 1000


class LSArgs(Struct, frozen=True, forbid_unknown_fields=True):
    path: str = "."


class LS:
    name: ClassVar[str] = "LS"
    aliases: ClassVar[tuple[str, ...]] = ("ls", "list_files", "list_dir")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core")
    args: ClassVar[type[LSArgs]] = LSArgs

    async def project(self, args: LSArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.path or "."),), parallel=True)

    async def run(self, args: LSArgs, ctx: Context) -> Outcome:
        return await asyncio.to_thread(_list, ctx)


def _list(ctx: Context) -> Outcome:
    root, room = ctx.root, ctx.result_chars
    try:
        ref = judged(ctx, "read")
        try:
            listed, more = root.entries(ref)
        except Missing as problem:
            return Outcome.error(f"{problem} {near(root, ref)}".rstrip())
    except FileProblem as problem:
        return Outcome.error(str(problem))
    kept, hidden = visible(root, ref, (os.path.join(ref.real, entry.name) for entry in listed))
    names = {os.path.basename(path) for path in kept}
    found = [entry for entry in listed if entry.name in names]
    if not found and not hidden:
        return Outcome.ok(f"{ref.shown} is empty.")
    shown: list[str] = []
    for entry in sorted(found)[:_SHOWN]:
        name = show(entry.name) + ("/" if entry.folder else "")
        room -= len(name) + 1
        if room < 200:
            break
        shown.append(name)
    if len(shown) < len(found):
        left = f"{len(found) - len(shown):,}{' or more' if more else ''}"
        shown.append(f"[{left} more entries; narrow down with Glob]")
    if hidden:
        shown.append(f"[{left_out(hidden, 'name')}]")
    return Outcome.ok("\n".join(shown))
