"""Searching with ripgrep: how it is called, what its output means, what its errors mean.

Owns the command line and the parsing; knows no policy: callers filter what was found. Ignore files are respected,
hidden files are seen, `.git` is not, links are not followed. Paths come back as bytes relative to the folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.proc import programs
from agenyx.proc.spawn import Processes, Spawn

LINE = 500  # bytes of a matched line
_PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME")
_ALWAYS = ("--no-config", "--no-require-git", "--hidden", "--no-follow", "--color=never", "--null")
_NOT_GIT = "--glob=!.git"
_MATCHES = ("--no-heading", "--with-filename", "--line-number", f"--max-columns={LINE}", "--max-columns-preview")
_MODES: dict[str, tuple[str, ...]] = {
    "content": _MATCHES,
    "files": ("--files-with-matches",),
    "count": ("--count", "--with-filename"),
}

# Compiled at their first use: a session may never search.
_RECORD = rb"(?P<path>[^\0]*)\0(?P<line>\d+)(?P<sort>[:-])(?P<text>[^\n]*)\n"
_BINARY = (
    rb"(?P<path>\./[^\0]*?): (?:binary file matches|WARNING: stopped searching binary file after match) "
    rb'\(found "[^\n]{1,8}" byte around offset \d+\)\r?\n'
)
_COUNT = rb"(?P<path>[^\0]*)\0(?P<count>\d+)\r?\n"
_CUT = rb" \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]\Z"


class SearchError(AgenyxError):
    """The search could not be done as asked."""

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else f"{self.message}."


class Hit(Struct, frozen=True):
    """One printed line. `match` is False for context; `cut` says that the line goes on."""

    path: bytes
    line: int
    text: bytes
    match: bool
    cut: bool


class Answer(Struct, frozen=True):
    """What was printed; `partial` says in words why it is not all, `skipped` that something could not be read."""

    output: bytes
    partial: str
    skipped: bool


class Query(Struct, frozen=True):
    """What to search for. `only` is a pattern of file names, `kind` a file type of ripgrep, `but` an exclusion."""

    pattern: str
    mode: str = "content"
    only: str = ""
    kind: str = ""
    but: str = ""
    context: int = 0
    ignore_case: bool = False
    multiline: bool = False

    def options(self) -> list[str]:
        found = [*_MODES[self.mode], "--crlf", f"--regexp={self.pattern}"]
        if self.only:  # a type, as --glob would also search ignored folders that it matches
            found += [f"--type-add=asked:{self.only}", "--type=asked"]
        if self.kind:
            found.append(f"--type={self.kind}")
        if self.but:
            found.append(f"--glob={self.but}")
        if self.context and self.mode == "content":
            found += [f"--context={self.context}", "--no-context-separator"]
        if self.ignore_case:
            found.append("--ignore-case")
        if self.multiline:
            found += ["--multiline", "--multiline-dotall"]
        return found


class Searcher:
    """Runs ripgrep, for at most `seconds`. `env` is a child environment; a program in `workspace` is never taken."""

    def __init__(self, processes: Processes, env: Mapping[str, str], workspace: str, seconds: float) -> None:
        self._processes = processes
        self._env = env
        self._workspace = workspace
        self._seconds = seconds

    async def files(
        self, folder: bytes, cap: int, on_output: Callable[[bytes], None] | None = None
    ) -> tuple[list[bytes], Answer]:
        """All files below a folder. `on_output` gets them as they come: `./path` and a NUL each. Raises SearchError."""
        answer = await self._run(folder, ["--files"], (b"./",), cap, on_output)
        paths = answer.output.split(b"\0")
        paths.pop()  # what follows the last NUL: nothing, or a torn path
        return [path.removeprefix(b"./") for path in paths], answer

    async def grep(self, folder: bytes, targets: Sequence[bytes], query: Query, cap: int) -> Answer:
        """Search files or folders, named relative to a folder. Raises SearchError."""
        return await self._run(folder, query.options(), tuple(b"./" + name for name in targets), cap)

    async def _run(
        self,
        folder: bytes,
        options: list[str],
        targets: tuple[bytes, ...],
        cap: int,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Answer:
        program = programs.find("rg", self._env, self._workspace)
        if program is None:
            raise SearchError("The search program rg is not installed", "Ask the user to run: pip install ripgrep")
        ended = await self._processes.run(
            Spawn(
                argv=(program, *_ALWAYS, *options, _NOT_GIT, "--", *targets),
                cwd=folder,
                env={name: self._env[name] for name in _PASSED if name in self._env},
                stderr="separate",
                timeout=self._seconds,
                head=cap,
                tail=0,
                stop_after=cap,
            ),
            on_output,
        )
        output = ended.output.head[:cap]
        if ended.timed_out:
            return Answer(output, f"stopped after {self._seconds:g} seconds", False)
        if ended.capped:
            return Answer(output, f"stopped after {cap >> 20} MiB of results", False)
        if ended.code not in (0, 1) and not output:
            _fail(ended.errors.decode("utf-8", "replace"), ended.code)
        return Answer(output, "", ended.code == 2)


def _fail(errors: str, code: int) -> None:
    """Raise what ripgrep's message means, unless it only could not read something."""
    lines = [line.removeprefix("rg: ").strip() for line in errors.strip().splitlines()]
    if reason := next((line.removeprefix("error: ") for line in reversed(lines) if line.startswith("error: ")), ""):
        raise SearchError(
            f"The pattern is not a valid regular expression: {reason}", "Escape literal characters with \\."
        )
    first = lines[0] if lines else f"rg ended with {code}"
    if "not allowed in a regex" in first:
        raise SearchError("The pattern holds a line end", "Set multiline to search across lines.")
    if first.startswith("unrecognized file type"):
        raise SearchError(f"There is no file type {first.rpartition(': ')[2]!r}", "Use glob instead, such as *.py.")
    if "regex" in first:
        raise SearchError(f"The pattern cannot be used: {first}", "Make it simpler.")
    if "os error" in first:
        return
    raise SearchError(f"The search failed: {first}", "Check pattern, glob and type.")


def hits(output: bytes) -> tuple[list[Hit], list[bytes]]:
    """The printed lines by path and line, and the binary files that match. A torn last record is left out."""
    record_of, note_of, mark_of = re.compile(_RECORD), re.compile(_BINARY), re.compile(_CUT)
    found, binary, at = list[Hit](), list[bytes](), 0
    while at < len(output):
        if note := note_of.match(output, at):
            binary.append(note["path"][2:])
            at = note.end()
        elif record := record_of.match(output, at):
            printed = record["text"].removesuffix(b"\r")  # of the file, or of rg, which ends its own lines so
            text = mark_of.sub(b"", printed)
            cut = text != printed
            path = record["path"].removeprefix(b"./")
            found.append(Hit(path, int(record["line"]), text, record["sort"] == b":", cut))
            at = record.end()
        else:
            break
    found.sort(key=lambda hit: (hit.path, hit.line))
    return found, binary


def counts(output: bytes) -> list[tuple[bytes, int]]:
    """Paths with how many of their lines match."""
    return sorted((match["path"].removeprefix(b"./"), int(match["count"])) for match in re.finditer(_COUNT, output))
