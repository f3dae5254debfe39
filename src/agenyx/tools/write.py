"""Write: a whole file in one step. Owns when a file may be overwritten and which form its new content takes."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.limits import FILE_BYTES
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged
from agenyx.tools.spec import Context, Look, Observed, Outcome
from agenyx.workspace.diff import unified
from agenyx.workspace.edit import MASKED, masked_line
from agenyx.workspace.files import FileContent, FileProblem, Missing
from agenyx.workspace.root import Root
from agenyx.workspace.text import Document, decode, encode, lacks, line_ends, viewed

_ENDS = {"crlf": "\r\n", "cr": "\r"}


class WriteArgs(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: str
    content: str
    dry_run: Annotated[bool, Meta(description="only show the diff")] = False


class _Plan(Struct, frozen=True):
    """What would be written. `before` is None for a new file; `note` says what the content's form was changed to."""

    ref: PathRef
    data: bytes
    before: FileContent | None
    note: str = ""


class Write:
    name: ClassVar[str] = "Write"
    aliases: ClassVar[tuple[str, ...]] = ("write", "write_file")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[WriteArgs]] = WriteArgs

    async def project(self, args: WriteArgs, look: Look) -> Effects:
        ref = look.root.ref(args.file_path, writing=not args.dry_run)
        if args.dry_run:
            return Effects(reads=(ref,), parallel=True)
        return Effects(writes=(ref,), preview=await asyncio.to_thread(_preview, args, ref, look.root))

    async def run(self, args: WriteArgs, ctx: Context) -> Outcome:
        try:
            ref = judged(ctx, "read" if args.dry_run else "write")
            plan = await asyncio.to_thread(_plan, args, ref, ctx.root)
            if args.dry_run:
                return Outcome.ok(_diff(plan) + "\n[dry run: nothing was changed]")
            key = ctx.root.key(plan.ref)
            if refusal := _unknown(plan, ctx.seen.get(key)):
                return Outcome.error(refusal)
            # Not in a thread: a cancelled call must not go on writing.
            digest = ctx.root.replace(plan.ref, plan.data, plan.before.sha256 if plan.before else "")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        return Outcome.ok(_told(plan, args.content), Observed(key, digest))


def _plan(args: WriteArgs, ref: PathRef, root: Root) -> _Plan:
    if args.file_path.endswith("/"):
        raise FileProblem(f"{ref.shown}/ names a directory", "Name the file to write.")
    try:
        before = root.read_bytes(ref)
    except Missing:
        before = None
    if before is None or not before.data:
        if foreign := lacks(args.content, "utf-8"):
            raise FileProblem(f"The content holds {foreign!r}, which is no character", "Leave it out.")
        return _sized(_Plan(ref, args.content.encode(), before))
    document = decode(before.data)
    if document is None:
        raise FileProblem(f"{ref.shown} is a binary file", "Remove it first if it should become text.")
    if document.encoding == "utf-8 with invalid bytes":
        raise FileProblem(f"{ref.shown} holds bytes that are not text, which would be lost", "Change it with Edit.")
    if foreign := lacks(args.content, document.encoding):
        raise FileProblem(
            f"{ref.shown} is {document.encoding} and cannot hold {foreign!r}",
            "Use other characters, or convert it first.",
        )
    if masked_line(document.text, args.content):
        raise FileProblem(MASKED.rstrip("."))
    text, note = _formed(args.content, document)
    return _sized(_Plan(ref, document.bom + encode(text, document.encoding), before, note))


def _sized(plan: _Plan) -> _Plan:
    if len(plan.data) > FILE_BYTES:
        raise FileProblem(f"The content is larger than {FILE_BYTES:,} bytes", "Write it in parts, or with the shell.")
    return plan


def _formed(content: str, old: Document) -> tuple[str, str]:
    """The content with the line ends of a file that has one kind throughout, and what to say about its form."""
    content = content.removeprefix("\ufeff") if old.bom else content
    notes = [f"kept {old.encoding}" if old.encoding != "utf-8" else "kept the byte order mark" if old.bom else ""]
    before, after = old.ends, line_ends(content)
    if after == "lf" and before in _ENDS:
        content = content.replace("\n", _ENDS[before])
        notes.append(f"written with the file's {before.upper()} line ends")
    elif "none" not in (before, after) and before != after:
        notes.append(f"line ends changed from {_ends_word(before)} to {_ends_word(after)}")
    return content, ", ".join(filter(None, notes))


def _ends_word(ends: str) -> str:
    return ends if ends == "mixed" else ends.upper()


def _unknown(plan: _Plan, seen: str | None) -> str:
    """Why the file must be read first, or ""."""
    if plan.before is None or plan.before.sha256 == seen:
        return ""
    if seen is None:
        return f"{plan.ref.shown} exists and has not been read yet. Read it first, or change it with Edit."
    return f"{plan.ref.shown} has changed since it was last read. Read it again, then write."


def _preview(args: WriteArgs, ref: PathRef, root: Root) -> str:
    try:
        return _diff(_plan(args, ref, root))
    except FileProblem as problem:
        return f"This would fail: {problem}"


def _diff(plan: _Plan) -> str:
    before = plan.before.data if plan.before else None
    return unified(before, plan.data, plan.ref.shown) or f"{plan.ref.shown} would not change."


def _told(plan: _Plan, content: str) -> str:
    view = viewed(content)
    lines = view.count("\n") + (not view.endswith("\n") and bool(view))
    done = "Overwrote" if plan.before else "Created"
    told = f"{done} {plan.ref.shown} ({lines} line{'s' * (lines != 1)}, {len(plan.data):,} bytes)."
    if plan.note:
        told += f" Note: {plan.note}."
    if plan.before and plan.before.links > 1:
        told += " It had other hard links; those keep the old content."
    return told
