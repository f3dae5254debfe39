"""The rows of the panel at the side. Pure; text of others is made safe here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agenyx.core.tty import safe
from agenyx.ui.spans import Glyphs, Line
from agenyx.ui.tui.figures import clipped

_BOXES = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
_STYLES = {"completed": "dim", "in_progress": "bold", "pending": ""}


class Job(Struct, frozen=True):
    """Something in the background."""

    id: str
    running: bool
    status: str
    what: str


def side_lines(
    tasks: Sequence[tuple[str, str]],
    jobs: Sequence[Job],
    children: Mapping[str, str],
    files: Mapping[str, int],
    width: int,
    glyphs: Glyphs,
) -> list[Line]:
    """`tasks` are (standing, subject); `children` what each subagent does; `files` how many calls changed each."""
    done = sum(standing == "completed" for standing, _ in tasks)
    beside = [(f"{job.id} {job.status}: {job.what}", "" if job.running else "dim") for job in jobs]
    groups = [
        (f"Tasks {done}/{len(tasks)}", [_row(f"{_BOXES[at]} {text}", _STYLES[at], width) for at, text in tasks]),
        ("Subagents", [_row(text, "", width) for text in children.values()]),
        ("Background", [_row(text, style, width) for text, style in beside]),
        (f"Files {len(files)}", [_file(path, count, width) for path, count in reversed(list(files.items()))]),
    ]
    rows: list[Line] = []
    for title, body in groups:
        if body:
            rows += [*([()] if rows else []), (("title", clipped(title, width)),), *body]
    return rows or [(("dim", clipped("Nothing here yet:", width)),), (("dim", clipped("tasks, jobs, files", width)),)]


def _row(text: str, style: str, width: int) -> Line:
    return ((style, clipped(safe(" ".join(text.split())), width)),)


def _file(path: str, count: int, width: int) -> Line:
    """The end of a path says more than its begin."""
    text, tail = safe(" ".join(path.split())), f" x{count}" if count > 1 else ""
    room = max(width - len(tail), 1)
    while len(text) > 1 and len(clipped(text, room)) < len(text):
        text = text[1:]
    cut = text != safe(" ".join(path.split()))
    return (("", f"…{text[1:]}" if cut else text), ("dim", tail))
