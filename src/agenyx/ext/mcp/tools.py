"""A tool of an MCP server as one of ours: judged, run and shown like every other, under the name `mcp__server__tool`.

What it does is not seen, so without a rule for its name it is asked about; nothing that a server says about its tools
grants anything. Arguments are checked by the server's schema and handed on as they are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Media
from agenyx.core.tools import Concern, Effects, ToolSet, ToolSpec
from agenyx.core.tty import safe
from agenyx.ext.mcp import result, validate
from agenyx.ext.mcp.model import McpError, Progress, ToolInfo
from agenyx.ext.mcp.server import Server
from agenyx.tools.spec import Context, Look, Outcome

OPAQUE = "what an MCP server does is not seen"
ALTERED = "what it says about itself or its arguments has changed since it was last used"
_PREVIEW = 4000  # characters of the arguments in a preview
_TELL = 0.2  # seconds between two lines about progress

Known = Callable[[str, str], bool]
"""Whether a definition (full name, hash) is the one that was known, or was accepted since."""


class McpArgs(Struct, frozen=True):
    """The arguments as the server gets them."""

    values: dict[str, Any]


class McpTool:
    """`name` is the full name; `known` tells whether the definition is an accepted one, `accept` makes it one."""

    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[McpArgs]] = McpArgs

    def __init__(
        self,
        name: str,
        server: Server,
        info: ToolInfo,
        known: Known = lambda name, sha256: True,
        accept: Callable[[str, str], None] = lambda name, sha256: None,
    ) -> None:
        self.name, self.server, self.info = name, server, info
        self._known, self._accept = known, accept

    @property
    def spec(self) -> ToolSpec:
        info = self.info
        text = info.description or f"A tool of the MCP server {self.server.name}."
        return ToolSpec(self.name, text, info.schema, origin="mcp", sets=self.sets)

    def parse(self, value: object) -> McpArgs:
        """Raises JsonError with a sentence that says what is wrong."""
        return McpArgs(validate.arguments(value, self.info.schema))

    async def project(self, args: McpArgs, look: Look) -> Effects:
        shown = safe(json.pretty(args.values)) if args.values else "no arguments"
        if len(shown) > _PREVIEW:
            shown = f"{shown[:_PREVIEW]}\n… {len(shown) - _PREVIEW:,} characters more"
        concerns: tuple[Concern, ...] = ()
        if not self._known(self.name, self.info.sha256):
            concerns = (Concern("always", ALTERED, self.name),)
            shown = f"{shown}\n\nIts description now:\n{self.info.description or 'none'}"
        preview = f"{self.info.name} of the MCP server {self.server.name}\n{shown}"
        return Effects(opaque=OPAQUE, preview=preview, concerns=concerns)

    async def run(self, args: McpArgs, ctx: Context) -> Outcome:
        now = self.server.tool(self.info.name)
        if now is not None and now.sha256 != self.info.sha256:
            return Outcome.error(f"{self.name} changed while it was waiting; look at it anew and call it again.")
        self._accept(self.name, self.info.sha256)  # a changed definition gets here only by a person's yes
        try:
            answer = await self.server.call(self.info.name, args.values, _Teller(ctx.output))
        except McpError as error:
            return Outcome.error(_words(error), "timed_out" if error.timed_out else "error")

        def kept(data: bytes, _mime: str) -> Media | None:  # what it is, the bytes say
            return found if isinstance(found := ctx.keep(data, ""), Media) else None

        status, content = await asyncio.to_thread(result.outcome, answer, kept)
        return Outcome(status, content)


class _Teller:
    """Shows progress as lines of live output, a few a second."""

    def __init__(self, output: Callable[[bytes], None]) -> None:
        self._output, self._last = output, 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= _TELL:
            self._last = now
            of = f" of {progress.total:g}" if progress.total else ""
            self._output(f"{progress.done:g}{of} {progress.message}".rstrip().encode() + b"\n")


def _words(error: McpError) -> str:
    unsure = " Whether the call took effect is not known: look before you repeat it." if error.unsure else ""
    return f"{error.message.rstrip('.')}.{unsure}{f' {error.fix}' if error.fix else ''}"
