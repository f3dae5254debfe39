"""Read: numbered lines of a text file. Knows how a file is shown to the model; opening and decoding lie below."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.limits import FILE_BYTES
from agenyx.core.messages import Media, Text
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.tools.paths import judged
from agenyx.tools.spec import Context, Look, Observed, Outcome
from agenyx.workspace.files import FileContent, FileProblem, Missing
from agenyx.workspace.lines import window
from agenyx.workspace.near import near
from agenyx.workspace.root import Root
from agenyx.workspace.text import decode, printable, remark, viewed

LINE_CHARS = 2000
_NOTES = 400  # characters kept free for the notes below the lines
_MAGIC = {
    b"\x89PNG": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"RIFF": "RIFF media file",
    b"%PDF": "PDF document",
    b"PK\x03\x04": "ZIP archive or office document",
    b"\x1f\x8b": "gzip archive",
    b"\x7fELF": "program",
    b"SQLite format 3": "SQLite database",
}
_SEEN = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF")  # what a model may be able to see


class ReadArgs(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: str
    offset: Annotated[int, Meta(ge=1, description="first line")] = 1
    limit: Annotated[int, Meta(ge=1, le=5000, description="number of lines")] = 2000


class Read:
    name: ClassVar[str] = "Read"
    aliases: ClassVar[tuple[str, ...]] = ("read", "read_file")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[ReadArgs]] = ReadArgs

    async def project(self, args: ReadArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.file_path),), parallel=True)

    async def run(self, args: ReadArgs, ctx: Context) -> Outcome:
        return await asyncio.to_thread(_read, args, ctx, max(_NOTES * 2, ctx.result_chars))


def _read(args: ReadArgs, ctx: Context, room: int) -> Outcome:
    try:
        ref = judged(ctx, "read")
        return _opened(args, ctx, ref, room)
    except FileProblem as problem:
        return Outcome.error(str(problem))


def _opened(args: ReadArgs, ctx: Context, ref: PathRef, room: int) -> Outcome:
    root = ctx.root
    try:
        with root.opened(ref) as (descriptor, facts):
            if facts.st_size > FILE_BYTES:
                head = os.pread(descriptor, 16, 0)
                if head.startswith(_SEEN):
                    return Outcome.error(f"{_binary(ref, head)} At most {FILE_BYTES:,} bytes of an image can be shown.")
                return _large(args, ref, descriptor, facts.st_size, room - _NOTES)
        content = root.read_bytes(ref)
    except Missing as problem:
        return Outcome.error(f"{problem} {near(root, ref)}".rstrip())
    if content.data.startswith(_SEEN):
        kept = ctx.keep(content.data, os.path.basename(ref.shown))
        if isinstance(kept, Media):
            shown = f"{ref.shown}: {kept.mime}, {kept.size:,} bytes."
            return Outcome("ok", (Text(shown), kept), (Observed(root.key(ref), content.sha256),))
        if kept is not None and decode(content.data) is None:
            what = next(words for magic, words in _MAGIC.items() if content.data.startswith(magic))
            return Outcome.error(f"{ref.shown} is a {what} and cannot be shown to you. {kept}")
    return _whole(args, root, ref, content, room - _NOTES)


def _whole(args: ReadArgs, root: Root, ref: PathRef, content: FileContent, room: int) -> Outcome:
    document = decode(content.data)
    if document is None:
        return Outcome.error(_binary(ref, content.data[:16]))
    seen = Observed(root.key(ref), content.sha256)
    if not content.data:
        return Outcome.ok(f"{ref.shown} is empty.", seen)
    lines = viewed(document.text).split("\n")
    if lines[-1] == "":
        lines.pop()
    if args.offset > max(1, len(lines)):
        text = f"{ref.shown} has {len(lines)} line{'s' * (len(lines) != 1)}; offset {args.offset} lies beyond its end."
        return Outcome("error", Outcome.ok(text).content, (seen,))
    chosen = lines[args.offset - 1 : args.offset - 1 + args.limit]
    shown, count = _numbered(
        [(printable(line[:LINE_CHARS]), len(line), "characters") for line in chosen], args.offset, room
    )
    notes = [shown]
    last = args.offset - 1 + count
    if last < len(lines) or args.offset > 1:
        more = f"; continue with offset={last + 1}" if last < len(lines) else ""
        notes.append(f"[lines {args.offset}-{last} of {len(lines)}{more}]")
    if form := remark(document):
        notes.append(f"[{form}; Edit keeps this]")
    return Outcome.ok("\n".join(notes), seen)


def _large(args: ReadArgs, ref: PathRef, descriptor: int, size: int, room: int) -> Outcome:
    found = window(descriptor, args.offset, args.limit, 4 * LINE_CHARS)
    if found.binary:
        return Outcome.error(_binary(ref, b""))
    if found.late:
        text = f"{ref.shown} has {size:,} bytes; line {args.offset} was not reached in time. Find the place with Grep."
        return Outcome.error(text)
    if not found.lines:
        return Outcome.error(f"{ref.shown} ends before line {args.offset}. Use a smaller offset.")
    lines = [(line.text[:LINE_CHARS], line.size, "bytes") for line in found.lines]
    shown, count = _numbered(lines, args.offset, room)
    last = args.offset - 1 + count
    more = f"; continue with offset={last + 1}" if found.more or count < len(lines) else "; end of file"
    return Outcome.ok(
        f"{shown}\n[lines {args.offset}-{last} of a file of {size:,} bytes{more}; too large for Edit and Write]"
    )


def _numbered(lines: list[tuple[str, int, str]], first: int, room: int) -> tuple[str, int]:
    """As many lines as fit into `room` characters, at least one, and how many they are."""
    shown: list[str] = []
    for number, (text, size, unit) in enumerate(lines, first):
        if len(text) < size and len(text) >= min(LINE_CHARS, room):
            text = f"{text[:room]} … [cut; the line has {size:,} {unit}]"
        entry = f"{number:6d}→{text}"
        room -= len(entry) + 1
        if room < 0 and shown:
            break
        shown.append(entry)
    return "\n".join(shown), len(shown)


def _binary(ref: PathRef, head: bytes) -> str:
    what = next((words for magic, words in _MAGIC.items() if head.startswith(magic)), "binary file")
    return f"{ref.shown} is a {what}, not text, so it cannot be read here. Use a shell command that knows its format."
