"""MultiEdit: several replacements in one file, all or none. Owns their order; matching lies in workspace.edit."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged
from agenyx.tools.spec import Context, Look, Observed, Outcome
from agenyx.workspace.diff import unified
from agenyx.workspace.edit import MASKED, Edited, masked_line, replace
from agenyx.workspace.files import FileContent, FileProblem, Missing
from agenyx.workspace.near import near
from agenyx.workspace.root import Root
from agenyx.workspace.text import decode

_DIFF_LINES = 60
_DIFF_CHARS = 6000


class Replacement(Struct, frozen=True, forbid_unknown_fields=True):
    old_string: str
    new_string: str
    replace_all: bool = False


class MultiEditArgs(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: str
    edits: Annotated[tuple[Replacement, ...], Meta(min_length=1, max_length=1000)]


class _Plan(Struct, frozen=True):
    """What would be written; `before` is None for a new file; `several` are the edits with more than one place."""

    ref: PathRef
    data: bytes
    before: FileContent | None
    places: int
    several: tuple[int, ...]


class MultiEdit:
    name: ClassVar[str] = "MultiEdit"
    aliases: ClassVar[tuple[str, ...]] = ("multi_edit",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[MultiEditArgs]] = MultiEditArgs

    async def project(self, args: MultiEditArgs, look: Look) -> Effects:
        ref = look.root.ref(args.file_path, writing=True)
        return Effects(writes=(ref,), preview=await asyncio.to_thread(_preview, args, ref, look.root))

    async def run(self, args: MultiEditArgs, ctx: Context) -> Outcome:
        try:
            ref = judged(ctx, "write")
            plan = await asyncio.to_thread(_plan, args, ref, ctx.root)
            key = ctx.root.key(plan.ref)
            if refusal := _unknown(plan, ctx.seen.get(key)):
                return Outcome.error(refusal)
            # Not in a thread: a cancelled call must not go on writing.
            digest = ctx.root.replace(plan.ref, plan.data, plan.before.sha256 if plan.before else "")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        return Outcome.ok(_told(plan, len(args.edits)), Observed(key, digest))


def _plan(args: MultiEditArgs, ref: PathRef, root: Root) -> _Plan:
    creates = not args.edits[0].old_string and not args.file_path.endswith("/")
    try:
        before = root.read_bytes(ref)
    except Missing as problem:
        if not creates:
            raise FileProblem(problem.message, near(root, ref) or "To create the file, use Write.") from None
        before = None
    data, places, several = before.data if before else b"", 0, list[int]()
    for number, edit in enumerate(args.edits, 1):
        if number == 1 and creates and edit.new_string and not data:
            data, places = edit.new_string.encode("utf-8", "replace"), 1
            continue
        match replace(data, edit.old_string, edit.new_string, edit.replace_all):
            case Edited() as edited:
                data, places = edited.data, places + edited.count
                if edited.count > 1:
                    several.append(number)
            case unmatched:
                where = f"edit {number} of {len(args.edits)} does not fit"
                after = " (after the edits before it)" if number > 1 else ""
                raise FileProblem(f"{ref.shown} was not changed, {where}{after}: {unmatched.text}".removesuffix("."))
    if before is not None and _masks(before.data, data):
        raise FileProblem(MASKED.removesuffix("."))
    return _Plan(ref, data, before, places, tuple(several))


def _masks(before: bytes, after: bytes) -> bool:
    """Whether a mask now stands where a secret stood, though no single edit put it there."""
    old, new = decode(before), decode(after)
    return bool(old and new and masked_line(old.text, new.text))


def _unknown(plan: _Plan, seen: str | None) -> str:
    """Why the file must be read first, or "". Exact places are as good as a fresh read; replacing all is not."""
    if plan.before is None or plan.before.sha256 == seen or not plan.several:
        return ""
    why = "has not been read yet" if seen is None else "has changed since it was last read"
    numbers = ", ".join(map(str, plan.several[:10]))
    return f"{plan.ref.shown} {why}, and edit {numbers} replaces several places. Read it before replacing them all."


def _preview(args: MultiEditArgs, ref: PathRef, root: Root) -> str:
    try:
        return _diff(_plan(args, ref, root), 200)
    except FileProblem as problem:
        return f"This would fail: {problem}"


def _diff(plan: _Plan, most: int) -> str:
    before = plan.before.data if plan.before else None
    return unified(before, plan.data, plan.ref.shown, most) or f"{plan.ref.shown} would not change."


def _told(plan: _Plan, edits: int) -> str:
    shown = plan.ref.shown
    if plan.before is None or not plan.before.data:
        return f"Created {shown} ({len(plan.data):,} bytes)."
    told = f"Edited {shown}: {edits} edit{'s' * (edits != 1)}, {plan.places} replacement{'s' * (plan.places != 1)}."
    if plan.before.links > 1:
        told += " It had other hard links; those keep the old content."
    body = _diff(plan, _DIFF_LINES).split("\n", 2)[-1]  # the two header lines say nothing new
    return f"{told}\n{body[:_DIFF_CHARS]}{'…' if len(body) > _DIFF_CHARS else ''}"
