"""Picker: the project's files as numbered pages, from which paths are picked. Stateless: a page's token says it all."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged, left_out, visible
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.files import FileProblem
from agenyx.workspace.names import show
from agenyx.workspace.near import near
from agenyx.workspace.root import Root
from agenyx.workspace.search import Searcher

_LISTED = 16 << 20  # bytes of file names; well above 100,000 files
_PAGE = 200
_NOTES = 500  # characters kept free for the notes below the list
_TOKEN = re.compile(r"([1-9][0-9]{0,8})-([0-9a-f]{8})")


class PickerArgs(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="directory")] = "."
    query: Annotated[str, Meta(description="words that the paths contain")] = ""
    depth: Annotated[int, Meta(ge=0, le=100, description="levels shown, deeper ones as folders; 0: all")] = 0
    page: Annotated[str, Meta(description="token of a page")] = ""
    pick: Annotated[tuple[int, ...], Meta(max_length=_PAGE, description="numbers")] = ()


class Entry(Struct, frozen=True):
    """A file, or a folder that stands for `files` files below it. `path` is seen from the listed folder."""

    path: bytes
    files: int = 0


class Picker:
    """`seconds` is how long the file tree may be walked."""

    name: ClassVar[str] = "Picker"
    aliases: ClassVar[tuple[str, ...]] = ("picker",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[PickerArgs]] = PickerArgs

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds

    async def project(self, args: PickerArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.path or "."),), parallel=True)

    async def run(self, args: PickerArgs, ctx: Context) -> Outcome:
        try:
            ref = judged(ctx, "read")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        kind = ctx.root.kind(ref)
        if kind != "folder":
            hint = near(ctx.root, ref) if kind == "missing" else ""
            what = "does not exist" if kind == "missing" else "is not a directory"
            return Outcome.error(f"{ref.shown} {what}. {hint or 'Give a directory as path.'}")
        token = _TOKEN.fullmatch(args.page) if args.page else None
        if args.page and token is None:
            return Outcome.error(f"{args.page!r} is no page. Pass the token that the list gave, or leave page out.")
        try:
            searcher = Searcher(ctx.processes, ctx.shell.env, ctx.root.path, self._seconds)
            with ctx.root.standing(ref) as folder:
                paths, answer = await searcher.files(folder, _LISTED)
        except AgenyxError as problem:
            return Outcome.error(f"{problem.message}. {problem.fix}")
        listing = await asyncio.to_thread(_listing, args, ref, ctx.root, paths, answer.partial)
        if token is not None and token[2] != listing.digest:
            return Outcome.error("The files have changed since this list was made, so its numbers are void. List anew.")
        start = int(token[1]) if token is not None else 1
        return listing.picked(args.pick, ctx.root) if args.pick else listing.page(start, ctx.root, ctx.result_chars)


def _listing(args: PickerArgs, ref: PathRef, root: Root, paths: list[bytes], partial: str) -> _Listing:
    kept, hidden = visible(root, ref, (os.path.join(ref.real, path) for path in paths))
    notes = [left_out(hidden)] if hidden else []
    if partial:
        notes.append(f"{partial}: there may be more files; give a narrower path")
    inside = [path[len(os.path.join(ref.real, b"")) :] for path in kept]
    return _Listing(ref, entries(inside, args.query, args.depth), notes)


def entries(paths: list[bytes], query: str, depth: int) -> list[Entry]:
    """The files whose path holds every word of the query, in the order of the tree; below `depth` only folders."""
    words = query.casefold().split()
    found: dict[bytes, int] = {}
    for path in paths:
        if words:
            text = show(path).casefold()
            if not all(word in text for word in words):
                continue
        names = path.split(b"/")
        if depth and len(names) > depth:
            folder = b"/".join(names[:depth]) + b"/"
            found[folder] = found.get(folder, 0) + 1
        else:
            found[path] = 0
    return [Entry(path, count) for path, count in sorted(found.items(), key=lambda item: item[0].split(b"/"))]


class _Listing:
    """All entries of one list, numbered from 1; `digest` tells it from every other one."""

    def __init__(self, ref: PathRef, found: list[Entry], notes: list[str]) -> None:
        self._ref, self._found, self._notes = ref, found, notes
        self.digest = hashlib.sha256(b"\0".join(entry.path for entry in found)).hexdigest()[:8]

    def page(self, start: int, root: Root, room: int) -> Outcome:
        if not self._found:
            nothing = f"No file in {self._ref.shown} fits; ignored files and .git are left out."
            return Outcome.ok("\n".join([nothing, *(f"[{note}]" for note in self._notes)]))
        lines: list[str] = []
        room -= _NOTES
        for number, entry in enumerate(self._found[start - 1 : start - 1 + _PAGE], start):
            files = f" ({entry.files:,} file{'s' * (entry.files != 1)})" if entry.files else ""
            lines.append(f"{number} {self._shown(entry, root)}{files}")
            room -= len(lines[-1]) + 1
            if room < 0 and len(lines) > 1:
                lines.pop()
                break
        if not lines:
            return Outcome.error(f"There are only {len(self._found)} entries. Use a smaller page.")
        last = start - 1 + len(lines)
        more = f'next page="{last + 1}-{self.digest}"' if last < len(self._found) else "end of the list"
        notes = [f'{start}-{last} of {len(self._found):,}; this page="{start}-{self.digest}"; {more}', *self._notes]
        return Outcome.ok("\n".join([*lines, *(f"[{note}]" for note in notes)]))

    def picked(self, numbers: tuple[int, ...], root: Root) -> Outcome:
        if wrong := [number for number in numbers if not 1 <= number <= len(self._found)]:
            return Outcome.error(f"There is no number {wrong[0]}; the list goes from 1 to {len(self._found):,}.")
        return Outcome.ok("\n".join(self._shown(self._found[number - 1], root) for number in numbers))

    def _shown(self, entry: Entry, root: Root) -> str:
        """The path from the workspace root, as every other tool takes it; folders end in a slash."""
        shown = root.found(os.path.join(self._ref.real, entry.path.rstrip(b"/"))).shown
        return f"{shown}/" if entry.files else shown
