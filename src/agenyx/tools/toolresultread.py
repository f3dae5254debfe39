"""ToolResultRead: pages a result that was too long for the model, from the file where the whole of it lies."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.messages import Entry, Step
from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.text import printable

_NOTES = 200  # characters kept free for the note below the text


class ToolResultReadArgs(Struct, frozen=True, forbid_unknown_fields=True):
    tool_use_id: str
    offset: Annotated[int, Meta(ge=0, description="in bytes")] = 0
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 30_000


class ToolResultRead:
    name: ClassVar[str] = "ToolResultRead"
    aliases: ClassVar[tuple[str, ...]] = ("tool_result_read",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[ToolResultReadArgs]] = ToolResultReadArgs

    async def project(self, args: ToolResultReadArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: ToolResultReadArgs, ctx: Context) -> Outcome:
        path = ctx.spilled(args.tool_use_id)
        if path is None:
            return Outcome.error(
                f"No result of the call {args.tool_use_id!r} was put aside. Give the tool_use_id of a note that says "
                "so; results without such a note were shown whole."
            )
        limit = min(args.limit, max(1, ctx.result_chars - _NOTES))
        try:
            return await asyncio.to_thread(_page, path, args.offset, limit)
        except OSError as error:
            return Outcome.error(f"The result cannot be read any more: {error.strerror}. Make the call again.")


def _page(path: str, offset: int, limit: int) -> Outcome:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        total = os.fstat(file.fileno()).st_size
        file.seek(offset)
        data = file.read(limit)
    if not data:
        return Outcome.error(f"The result has {total:,} bytes; offset {offset} lies behind its end.")
    start = offset
    if offset:  # an offset that the model made up may stand within a character
        lead = next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
        data, start = data[lead:], offset + lead
    end = start + len(data)
    if end < total:
        data = data[: len(data) - _torn(data)]
        end = start + len(data)
    rest = f"continue with offset={end}" if end < total else "end of the result"
    return Outcome.ok(f"{printable(data.decode('utf-8', 'surrogateescape'))}\n[bytes {start}-{end} of {total}; {rest}]")


def _torn(data: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character; never all of them."""
    for size in range(1, min(4, len(data))):
        lead = data[-size]
        if lead >= 0xC0:
            needed = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return size if size < needed else 0
        if lead < 0x80:
            return 0
    return 0


def spill_of(entries: Sequence[Entry], call: str) -> str | None:
    """The file that holds the whole result of a call, found by our id or the server's, the latest one first."""
    for entry in reversed(entries):
        if not isinstance(entry, Step):
            continue
        for made, result in zip(entry.assistant.calls, entry.results, strict=True):
            if call in (made.id, made.wire_id) and result.spill is not None:
                return result.spill
    return None
