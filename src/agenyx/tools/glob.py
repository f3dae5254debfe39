"""Glob: files whose path matches a pattern, newest first."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged, left_out, visible
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.files import FileProblem
from agenyx.workspace.globs import Glob as Pattern
from agenyx.workspace.globs import GlobError, split
from agenyx.workspace.names import show
from agenyx.workspace.near import near
from agenyx.workspace.root import Root
from agenyx.workspace.search import Searcher

_LISTED = 16 << 20  # bytes of file names; well above 100,000 files


class GlobArgs(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    path: Annotated[str, Meta(description="directory")] = "."
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class Glob:
    """`seconds` is how long the file tree may be walked."""

    name: ClassVar[str] = "Glob"
    aliases: ClassVar[tuple[str, ...]] = ("glob",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core")
    args: ClassVar[type[GlobArgs]] = GlobArgs

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds

    async def project(self, args: GlobArgs, look: Look) -> Effects:
        return Effects(reads=(_base(args, look.root),), parallel=True)

    async def run(self, args: GlobArgs, ctx: Context) -> Outcome:
        rest = split(args.pattern)[1]
        try:
            ref = judged(ctx, "read")
            if (kind := ctx.root.kind(ref)) != "folder":
                return Outcome.error(_no_folder(ctx.root, ref, kind))
            exact, deep = Pattern(rest), None if "/" in rest else Pattern(f"**/{rest}")
            searcher = Searcher(ctx.processes, ctx.shell.env, ctx.root.path, self._seconds)
            with ctx.root.standing(ref) as folder:
                paths, answer = await searcher.files(folder, _LISTED)
        except (GlobError, FileProblem) as problem:
            return Outcome.error(str(problem))
        except AgenyxError as problem:
            return Outcome.error(f"{problem.message}. {problem.fix}")
        return await asyncio.to_thread(_answer, args, ctx, ref, (exact, deep), paths, answer.partial)


def _base(args: GlobArgs, root: Root) -> PathRef:
    """The folder to walk, with the leading plain part of the pattern."""
    return root.ref(os.path.join(args.path or ".", split(args.pattern)[0]))


def _no_folder(root: Root, ref: PathRef, kind: str) -> str:
    if kind == "missing":
        return f"The directory {ref.shown} does not exist. {near(root, ref) or 'Check the path with LS.'}"
    return f"{ref.shown} is not a directory. Give a directory as path."


def _answer(
    args: GlobArgs,
    ctx: Context,
    ref: PathRef,
    patterns: tuple[Pattern, Pattern | None],
    paths: list[bytes],
    partial: str,
) -> Outcome:
    exact, deep = patterns
    named = [(show(path), path) for path in paths]
    found = [path for shown, path in named if exact.matches(shown)]
    notes: list[str] = []
    if not found and deep is not None:
        found = [path for shown, path in named if deep.matches(shown)]
        if found:
            notes.append(f"no {args.pattern} directly in {ref.shown}; these lie deeper")
    if partial:
        notes.append(f"{partial}: there may be more files; give a narrower path")
    kept, hidden = visible(ctx.root, ref, (os.path.join(ref.real, path) for path in found))
    if hidden:
        notes.append(left_out(hidden))
    ordered = sorted(kept, key=lambda path: (-_changed(path), path))
    lines: list[str] = []
    room = ctx.result_chars - 300
    for path in ordered[: args.limit]:
        shown = ctx.root.found(path).shown
        room -= len(shown) + 1
        if room < 0:
            break
        lines.append(shown)
    if len(lines) < len(ordered):
        notes.append(f"the newest {len(lines)} of {len(ordered):,} files; narrow the pattern or raise limit")
    if not lines:
        lines = [f"No file matches {args.pattern} in {ref.shown}; ignored files and .git are left out."]
    return Outcome.ok("\n".join([*lines, *(f"[{note}]" for note in notes)]))


def _changed(path: bytes) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
