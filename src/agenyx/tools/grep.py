"""Grep: lines, files or counts that match a regular expression. Owns what of the hits may be shown, and how."""

from __future__ import annotations

import os
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged, left_out
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace import text
from agenyx.workspace.files import FileProblem
from agenyx.workspace.globs import Glob, split
from agenyx.workspace.names import show
from agenyx.workspace.near import near
from agenyx.workspace.root import Root
from agenyx.workspace.search import Answer, Query, Searcher, counts, hits

_OUTPUT = 4 << 20  # bytes of ripgrep's output that are looked at
_MOST = 10_000
_NAMED = 5


class GrepArgs(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="regular expression (Rust syntax)")]
    path: Annotated[str, Meta(description="file or directory")] = "."
    glob: Annotated[str, Meta(description="only files such as *.py")] = ""
    type: Annotated[str, Meta(description="file type such as py")] = ""
    output_mode: Literal["content", "files_with_matches", "files", "count"] = "content"
    context: Annotated[int, Meta(ge=0, le=50, description="lines around")] = 0
    case_insensitive: bool = False
    multiline: bool = False
    head_limit: Annotated[int, Meta(ge=0, le=_MOST)] = 250
    offset: Annotated[int, Meta(ge=0, description="results to skip")] = 0


class Grep:
    """`seconds` is how long a search may take; what was found until then is shown."""

    name: ClassVar[str] = "Grep"
    aliases: ClassVar[tuple[str, ...]] = ("grep",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[GrepArgs]] = GrepArgs

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds

    async def project(self, args: GrepArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.path or "."),), parallel=True)

    async def run(self, args: GrepArgs, ctx: Context) -> Outcome:
        try:
            ref = judged(ctx, "read")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        if refusal := _unusable(args, ctx.root, ref):
            return Outcome.error(refusal)
        mode = "files" if args.output_mode == "files_with_matches" else args.output_mode
        try:
            scope = _scope(args, ctx.root, ref)
            query = Query(
                args.pattern,
                mode,
                scope.only,
                args.type,
                scope.but,
                args.context,
                args.case_insensitive,
                args.multiline,
            )
            searcher = Searcher(ctx.processes, ctx.shell.env, ctx.root.path, self._seconds)
            answer = await _searched(searcher, ctx.root, ref, scope, query)
        except AgenyxError as problem:
            return Outcome.error(f"{problem.message}. {problem.fix}")
        shown = _Shown(ctx.root, ref, scope)
        lines = shown.lines(answer.output, mode, args.context > 0)
        notes = shown.notes()
        if answer.partial:
            notes.append(f"{answer.partial}: there may be more; narrow the search")
        if answer.skipped:
            notes.append("some files or directories could not be read")
        return _page(args, lines, notes, ctx.result_chars)


class _Scope(Struct, frozen=True):
    """Where ripgrep runs, what it is given to search, and how its hits are narrowed. Paths are seen from `base`."""

    place: PathRef
    target: bytes
    base: bytes
    only: str = ""
    but: str = ""
    exact: Glob | None = None


class _Shown:
    """Turns ripgrep's output into lines, leaving out what lies outside the asked scope or is protected."""

    def __init__(self, root: Root, asked: PathRef, scope: _Scope) -> None:
        self._root = root
        # The user was asked for this very file, or for a folder that holds secrets.
        self._open = bool(root.found(asked.real).protected)
        self._scope = scope
        self._names: dict[bytes, str] = {}
        self._protected: list[str] = []
        self._binary: list[str] = []

    def lines(self, output: bytes, mode: str, grouped: bool) -> list[str]:
        if mode == "files":
            paths = output.split(b"\0")[:-1]
            return [name for path in sorted(paths) if (name := self._name(path.removeprefix(b"./")))]
        if mode == "count":
            return [f"{name}:{count}" for path, count in counts(output) if (name := self._name(path))]
        found, binary = hits(output)
        self._binary = [name for path in binary if (name := self._name(path))]
        lines: list[str] = []
        last: tuple[bytes, int] | None = None
        for hit in found:
            if not (name := self._name(hit.path)):
                continue
            if grouped and last is not None and last != (hit.path, hit.line - 1):
                lines.append("--")
            last = (hit.path, hit.line)
            mark = ":" if hit.match else "-"
            lines.append(
                f"{name}{mark}{hit.line}{mark}{text.line(hit.text, hit.cut)}{' … [line cut]' if hit.cut else ''}"
            )
        return lines

    def notes(self) -> list[str]:
        notes: list[str] = []
        if self._protected:
            notes.append(left_out(self._protected))
        if self._binary:
            names = ", ".join(self._binary[:_NAMED]) + (", …" if len(self._binary) > _NAMED else "")
            notes.append(f"binary files match: {names}")
        return notes

    def _name(self, path: bytes) -> str:
        """The shown path, or "" for a file that is not to be shown."""
        if path not in self._names:
            ref = self._root.found(os.path.join(self._scope.place.real, path))
            hidden = bool(ref.protected) and not self._open
            wanted = not ref.problem and self._inside(ref.real)
            if hidden and wanted:
                self._protected.append(ref.shown)
            self._names[path] = ref.shown if wanted and not hidden else ""
        return self._names[path]

    def _inside(self, real: bytes) -> bool:
        exact = self._scope.exact
        return exact is None or exact.matches(show(os.path.relpath(real, self._scope.base)))


async def _searched(searcher: Searcher, root: Root, ref: PathRef, scope: _Scope, query: Query) -> Answer:
    """Search the folder that was judged; a named file is the judged one before and after. Raises FileProblem."""
    with root.standing(scope.place) as folder:
        if not scope.target:
            return await searcher.grep(folder, (b"",), query, _OUTPUT)
        with root.opened(ref):
            answer = await searcher.grep(folder, (scope.target,), query, _OUTPUT)
        with root.opened(ref):  # ripgrep follows a link that it is given
            return answer


def _unusable(args: GrepArgs, root: Root, ref: PathRef) -> str:
    kind = root.kind(ref)
    if kind == "missing":
        return f"{ref.shown} does not exist. {near(root, ref) or 'Check the path with LS.'}"
    if kind == "other":
        return f"{ref.shown} is neither a file nor a directory. Use another path."
    if "\0" in args.pattern + args.glob:
        return "The pattern holds a NUL character. Leave it out."
    if args.type and not args.type.isalnum():
        return f"{args.type!r} is not a file type. Use a name such as py, or use glob."
    return ""


def _scope(args: GrepArgs, root: Root, ref: PathRef) -> _Scope:
    """Raises GlobError. A positive glob never goes to ripgrep as one: it would also search ignored folders."""
    if root.kind(ref) == "file":
        folder = os.path.dirname(ref.real)
        return _Scope(root.found(folder), os.path.basename(ref.real), folder)
    glob = args.glob
    if not glob or glob.startswith("!"):
        return _Scope(ref, b"", ref.real, but=glob)
    deep = "/" not in glob
    glob = glob.lstrip("/")
    exact = Glob(f"**/{glob}" if deep else glob)
    prefix, rest = split(glob)
    folder = root.found(os.path.normpath(os.path.join(ref.real, prefix.encode()))) if prefix else ref
    # Only a folder that is reached without a link may stand for the prefix: ripgrep follows what it is given.
    narrowed = folder if not folder.problem and os.path.realpath(folder.real) == folder.real else ref
    if root.kind(narrowed) != "folder":
        narrowed = ref
    last = rest.rpartition("/")[2]
    only = "" if args.type or ":" in last or last == "**" else last
    if "{" in rest or "}" in rest or "," in last:  # braces may reach across folders
        only = glob if deep and not args.type and ":" not in glob else ""
    return _Scope(narrowed, b"", ref.real, only=only, exact=exact)


def _page(args: GrepArgs, lines: list[str], notes: list[str], room: int) -> Outcome:
    limit = args.head_limit or _MOST
    shown: list[str] = []
    room -= 800
    for line in lines[args.offset : args.offset + limit]:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    end = args.offset + len(shown)
    if not lines:
        shown = [f"No matches for {args.pattern!r}; ignored files and .git are not searched."]
    elif not shown:
        shown = [f"There are only {len(lines)} results; offset {args.offset} lies beyond them."]
    elif end < len(lines):
        notes.insert(0, f"results {args.offset + 1}-{end} of {len(lines):,}; continue with offset={end}")
    return Outcome.ok("\n".join([*shown, *(f"[{note}]" for note in notes)]))
