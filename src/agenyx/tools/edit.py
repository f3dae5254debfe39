"""Edit: replace exact text in a file. Owns when a file may be edited unread; matching lies in workspace.edit."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged
from agenyx.tools.spec import Context, Look, Observed, Outcome
from agenyx.workspace.diff import unified
from agenyx.workspace.edit import Edited, replace
from agenyx.workspace.files import FileContent, FileProblem, Missing
from agenyx.workspace.near import near
from agenyx.workspace.root import Root

_DIFF_LINES = 40
_DIFF_CHARS = 4000
_PLACES = 10


class EditArgs(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: str
    old_string: Annotated[str, Meta(description="exact text, without line numbers")]
    new_string: str
    replace_all: bool = False
    dry_run: Annotated[bool, Meta(description="only show the diff")] = False


class _Plan(Struct, frozen=True):
    """What would be written; `before` is None for a new file."""

    ref: PathRef
    edited: Edited
    before: FileContent | None


class Edit:
    name: ClassVar[str] = "Edit"
    aliases: ClassVar[tuple[str, ...]] = ("edit", "edit_file")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[EditArgs]] = EditArgs

    async def project(self, args: EditArgs, look: Look) -> Effects:
        ref = look.root.ref(args.file_path, writing=not args.dry_run)
        if args.dry_run:
            return Effects(reads=(ref,), parallel=True)
        return Effects(writes=(ref,), preview=await asyncio.to_thread(_preview, args, ref, look.root))

    async def run(self, args: EditArgs, ctx: Context) -> Outcome:
        try:
            ref = judged(ctx, "read" if args.dry_run else "write")
            plan = await asyncio.to_thread(_plan, args, ref, ctx.root)
            key = ctx.root.key(plan.ref)
            if args.dry_run:
                return Outcome.ok(f"{_diff(plan, 200)}\n[dry run: nothing was changed]")
            if refusal := _unknown(plan, ctx.seen.get(key)):
                return Outcome.error(refusal)
            # Not in a thread: a cancelled call must not go on writing.
            digest = ctx.root.replace(plan.ref, plan.edited.data, plan.before.sha256 if plan.before else "")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        return Outcome.ok(_told(plan), Observed(key, digest))


def _plan(args: EditArgs, ref: PathRef, root: Root) -> _Plan:
    try:
        before = root.read_bytes(ref)
    except Missing as problem:
        if not args.old_string and not args.file_path.endswith("/"):
            return _created(args, ref, None)
        hint = near(root, ref) or "To create the file, use Write."
        raise FileProblem(problem.message, hint) from None
    if not args.old_string:
        if before.data:
            raise FileProblem(f"old_string is empty, but {ref.shown} is not", "Give the text to replace.")
        return _created(args, ref, before)
    match replace(before.data, args.old_string, args.new_string, args.replace_all):
        case Edited() as edited:
            return _Plan(ref, edited, before)
        case unmatched:
            raise FileProblem(f"{ref.shown} was not changed: {unmatched.text}".removesuffix("."))


def _created(args: EditArgs, ref: PathRef, before: FileContent | None) -> _Plan:
    if not args.new_string:
        raise FileProblem("old_string and new_string are both empty", "Give the text that the file shall have.")
    return _Plan(ref, Edited(args.new_string.encode("utf-8", "replace"), 1, (1,)), before)


def _unknown(plan: _Plan, seen: str | None) -> str:
    """Why the file must be read first, or "". One exact place is as good as a fresh read; several are not."""
    if plan.before is None or plan.before.sha256 == seen or plan.edited.count == 1:
        return ""
    why = "has not been read yet" if seen is None else "has changed since it was last read"
    lines = ", ".join(map(str, plan.edited.lines[:_PLACES])) + (", …" if len(plan.edited.lines) > _PLACES else "")
    places = f"old_string occurs {plan.edited.count} times in it, at lines {lines}"
    return f"{plan.ref.shown} {why}, and {places}. Read it before replacing them all."


def _preview(args: EditArgs, ref: PathRef, root: Root) -> str:
    try:
        return _diff(_plan(args, ref, root), 200)
    except FileProblem as problem:
        return f"This would fail: {problem}"


def _diff(plan: _Plan, most: int) -> str:
    return unified(plan.before.data if plan.before else None, plan.edited.data, plan.ref.shown, most)


def _told(plan: _Plan) -> str:
    count, shown = plan.edited.count, plan.ref.shown
    if plan.before is None or not plan.before.data:
        return f"Created {shown} ({len(plan.edited.data):,} bytes)."
    told = f"Edited {shown}: {count} replacement{'s' * (count != 1)}."
    if plan.before.links > 1:
        told += " It had other hard links; those keep the old content."
    diff = _diff(plan, _DIFF_LINES)
    body = diff.split("\n", 2)[-1]  # the two header lines say nothing new
    return f"{told}\n{body[:_DIFF_CHARS]}{'…' if len(body) > _DIFF_CHARS else ''}"
