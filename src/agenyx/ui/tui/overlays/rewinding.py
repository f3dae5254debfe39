"""Going back: which turn, what of it, and what that would do to each file, before anything is done."""

from __future__ import annotations

from collections.abc import Sequence

from agenyx.app.rewind import Plan, counts
from agenyx.core.tty import safe
from agenyx.session.checkpoints import History
from agenyx.session.tree import Tree
from agenyx.ui.spans import Line, line, wrap
from agenyx.ui.tui.overlays.picker import Entry

FILES, BOTH, CONVERSATION = "files", "both", "conversation"
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}


def points(tree: Tree, found: History) -> list[Entry]:
    """The turns of this branch, the last one first, then what else files can go back to; `value` names the point."""
    changed = counts(found)
    made = [
        Entry(str(turn.number), turn.text, _files(changed.get(str(turn.number), 0)), lead=f"{turn.number:>3}  ")
        for turn in reversed(tree.active)
    ]
    others = [point for point in reversed(found.points) if point.kind == "rewind"]
    for one in others:
        made.append(Entry(one.name, one.text or "a rewind of files", "files only", lead=f"{one.name:>3}  "))
    return made


def ways(entry: Entry, plan: Plan) -> list[Entry]:
    """What may go back. Files that are left alone are told with the plan itself."""
    acting = len(plan.acting)
    left = len(plan.steps) - acting
    detail = f"{_files(acting) or 'no files'} put back" + (f", {left} left as they are" if left else "")
    made = [Entry(FILES, "the files", detail, refused="" if plan.steps else "No file changed since that point.")]
    if not entry.value.isdecimal():
        return made
    both = Entry(BOTH, "the conversation and the files", detail, refused=made[0].refused)
    return [Entry(CONVERSATION, "the conversation", "files stay as they are", current=True), both, made[0]]


def plan_rows(plan: Plan, width: int) -> list[Line]:
    """Each path with what would happen to it; those that are left say why. Then the differences."""
    made: list[Line] = []
    for step in plan.steps:
        left = step.action == "leave"
        spans: Line = (("warn" if left else "key", f"{step.action:<8}"), ("", safe(step.shown)))
        made += wrap((*spans, ("dim", f"  {safe(step.why)}")) if step.why else spans, width, "    ")
    for step in plan.acting:
        if diff := step.diff:
            made += [(), *_diff(diff, width)]
    return made or [line("every file is as it was at that point", "dim")]


def _diff(text: str, width: int) -> Sequence[Line]:
    rows: list[Line] = []
    for row in safe(text).rstrip("\n").split("\n"):
        style = "bold" if row[:3] in ("+++", "---") else _SIGNS.get(row[:1], "")
        rows += wrap(line(row.expandtabs(4), style), width, "  ")
    return rows


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}" if count else ""
