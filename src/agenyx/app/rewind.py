"""Puts the files of a workspace back to what they were at a point of a session: first the plan, then the deed.

Nothing that the session did not leave as it is now is touched, nothing that it did not make is removed, and the rewind
goes on record like a call, so that it can be undone itself. Knows no surface.
"""

from __future__ import annotations

import os
import stat

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core.errors import UsageError
from agenyx.session.checkpoints import (
    ABSENT,
    FOLDER,
    KEPT_FILE,
    LINK,
    UNKNOWN,
    Blobs,
    History,
    Point,
    Span,
    history,
    since,
)
from agenyx.session.records import REWIND, Checkpoint
from agenyx.session.session import Session
from agenyx.workspace.diff import unified
from agenyx.workspace.files import FileProblem
from agenyx.workspace.guards import within
from agenyx.workspace.names import parse, show
from agenyx.workspace.restore import Found, Place
from agenyx.workspace.root import Root

_DIFF_LINES = 80


class Step(Struct, frozen=True):
    """One path: `remove` (it was not there at the point), `restore`, `mode`, or `leave` with the reason in `why`.

    `shown` is relative to the workspace; `now` is what is there, `target` and `perms` what was.
    """

    shown: str
    action: str
    real: bytes
    now: Found
    target: str
    perms: int
    why: str = ""
    data: bytes | None = None

    @property
    def diff(self) -> str:
        """What would change in the file, "" where that is not text of one."""
        if self.action not in ("restore", "remove") or FOLDER in (self.now.state, self.target):
            return ""
        if LINK in (self.now.state[:5], self.target[:5]) or (self.now.state and self.now.data is None):
            return ""
        before = self.now.data if self.now.state else None
        return unified(before, self.data or b"", self.shown, _DIFF_LINES)


class Plan(Struct, frozen=True):
    point: Point
    steps: tuple[Step, ...]

    @property
    def acting(self) -> list[Step]:
        return [step for step in self.steps if step.action != "leave"]


def point_of(found: History, text: str) -> Point:
    """The point that a person means by its name or id. Raises UsageError."""
    for point in found.points:
        if text in (point.name, point.id):
            return point
    raise UsageError(f"there is no point {text} in this session", "The list of points names those that there are.")


def counts(found: History) -> dict[str, int]:
    """By the name of each point how many paths changed between it and the next."""
    starts = [point.seq for point in found.points]
    paths: list[set[str]] = [set() for _ in found.points]
    at = 0
    for change in found.changes:
        while at < len(starts) and starts[at] <= change.seq:
            at += 1
        if at:
            paths[at - 1].add(change.body.path)
    return {point.name: len(names) for point, names in zip(found.points, paths, strict=True)}


def plan(root: Root, directory: str, found: History, point: Point) -> Plan:
    """What going back to `point` would do. Looks only."""
    place, blobs = Place(root, KEPT_FILE), Blobs(directory)
    steps = [step for span in since(found, point.seq) if (step := _step(place, blobs, span)) is not None]
    going = {step.real for step in steps if step.action == "remove"}
    checked = [_emptied(step, going) for step in sorted(steps, key=lambda step: step.real, reverse=True)]
    return Plan(point, tuple(sorted(checked, key=lambda step: step.real)))


def _step(place: Place, blobs: Blobs, span: Span) -> Step | None:
    """None where nothing is to be done."""
    real, root = parse(span.path), place.root
    now = place.look(real)
    shown = os.path.relpath(os.fsdecode(real), root.path) if within(real, root.real) else span.path
    shown = show(os.fsencode(shown))
    perms = stat.S_IMODE(span.mode)
    step = Step(shown, "restore" if span.target else "remove", real, now, span.target, perms)
    moded = bool(now.state) and stat.S_IMODE(now.mode) != perms and not now.state.startswith(LINK)
    ours = span.last.after is None or stat.S_IMODE(now.mode) == stat.S_IMODE(span.last.mode_after)
    if now.state == span.target and span.target != UNKNOWN:
        if not (moded and ours and span.target) or root.hides(real) or root.holder(real) is None:
            return None
        return replace(step, action="mode")
    data = blobs.get(span.target.removeprefix(LINK)) if span.target not in (ABSENT, FOLDER, UNKNOWN) else None
    if why := _refusal(root, real, now, span, data):
        return replace(step, action="leave", why=why)
    if now.state not in (ABSENT, FOLDER) and not ours:
        perms = stat.S_IMODE(now.mode)  # somebody set it since
    return replace(step, data=data, perms=perms)


def _refusal(root: Root, real: bytes, now: Found, span: Span, data: bytes | None) -> str:
    """Why a path is left as it is, or ""."""
    last = span.last.after
    if root.holder(real) is None:
        return "it lies outside the workspace"
    if b"/.git/" in real + b"/" or (root.hides(real)):
        return "it is protected"
    if span.target == UNKNOWN:
        return "what it held was not kept"
    if now.state == UNKNOWN:
        return f"it cannot be compared: {now.why}"
    if last is None and now.state not in span.known:
        return "Agenyx was stopped while it was changed, and what is there now is not known"
    if last is not None and now.state != last:
        return "it changed since, not by this session" if now.state else "it was removed since, not by this session"
    if span.target not in (ABSENT, FOLDER) and data is None:
        return "the copy of what it held is gone: the space for copies was used up, or it was damaged"
    if now.state not in (ABSENT, FOLDER) and now.data is None:
        return f"what it holds now is larger than {KEPT_FILE >> 20} MiB and could not be kept"
    return ""


def _emptied(step: Step, going: set[bytes]) -> Step:
    """A folder goes only with all that is in it; deepest folders first. Takes those that stay out of `going`."""
    if step.action == "leave" or step.now.state != FOLDER or step.target == FOLDER:
        return step
    try:
        names = os.listdir(step.real)
    except OSError as error:
        going.discard(step.real)
        return replace(step, action="leave", why=f"it cannot be listed: {error.strerror}")
    if all(os.path.join(step.real, name) in going for name in names):
        return step
    going.discard(step.real)
    return replace(step, action="leave", why="it holds what this session did not make")


def apply(chosen: Plan, session: Session, root: Root) -> Plan:
    """Do what the plan says, path by path, and put it on record. Returns what was done; a failure is a `leave`.

    Raises StoreError when the session cannot be written; nothing has been done then.
    """
    call, place, blobs = (
        session.ids.new(REWIND.rstrip("_")),
        Place(root, KEPT_FILE),
        Blobs(session.directory, secret=session.masker.found),
    )
    kept = [step for step in (_kept(blobs, step) for step in chosen.acting) if step is not None]
    first = [Checkpoint(call, show(one.real), one.now.state, None, one.now.mode) for one in kept]
    if first:
        session.append(*first, sync=True)
    done: dict[bytes, Step] = {}
    for step in sorted(kept, key=_order):
        try:
            _do(place, step)
            done[step.real] = step
        except FileProblem as problem:
            done[step.real] = replace(step, action="leave", why=problem.message)
    after: list[Checkpoint] = []
    for record, step in zip(first, kept, strict=True):
        found = place.look(step.real)
        after.append(replace(record, after=found.state, mode_after=found.mode))
    if after:
        session.append(*after, sync=True)
    lost = "what it holds now could not be kept"
    ended = [step if step.action == "leave" else replace(step, action="leave", why=lost) for step in chosen.steps]
    return Plan(chosen.point, tuple(done.get(step.real, step) for step in ended))


def _kept(blobs: Blobs, step: Step) -> Step | None:
    """The step, once what it replaces is kept; None where that cannot be."""
    if step.now.data is not None:
        try:
            blobs.put(step.now.data)
        except OSError:
            return None
    return step


def _order(step: Step) -> tuple[int, int, bytes]:
    """What goes first, deepest first; then folders from above, then files."""
    depth = step.real.count(b"/")
    if step.target == ABSENT:
        return (0 if step.now.state != FOLDER else 1, -depth, step.real)
    return (2 if step.target == FOLDER else 3, depth, step.real)


def _do(place: Place, step: Step) -> None:
    if step.action == "mode":
        place.permit(step.real, step.perms)
    elif step.target == ABSENT:
        place.remove(step.real, step.now)
    elif step.target == FOLDER:
        place.folder(step.real, step.now, step.perms)
    elif step.target.startswith(LINK):
        place.link(step.real, step.data or b"", step.now)
    else:
        place.put(step.real, step.data or b"", step.now, step.perms)


class Files:
    """What the calls of an open session did to files, and the way back. The model is told with the next prompt."""

    def __init__(self, root: Root, session: Session) -> None:
        self._root, self._session = root, session

    def history(self) -> History:
        return history(self._session.records())

    def plan(self, to: str) -> Plan:
        """Going back to a point, by its name or id. Looks only. Raises UsageError."""
        found = self.history()
        return plan(self._root, self._session.directory, found, point_of(found, to))

    def apply(self, chosen: Plan) -> Plan:
        """Do it; see `apply`. Raises StoreError."""
        return apply(chosen, self._session, self._root)
