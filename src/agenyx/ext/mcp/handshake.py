"""How client and server agree on a revision of the protocol: 2026-07-28 by `server/discover`, the older ones by
`initialize`. Knows no process; asks through what it is given.

A server that does not know `server/discover` answers with an error, or not at all; then the handshake follows on the
same connection. Source: the versioning and stdio pages of the specification, and how its Python SDK probes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from agenyx.ext.mcp import wire
from agenyx.ext.mcp.clean import clean, one_line
from agenyx.ext.mcp.model import McpError
from agenyx.ext.mcp.wire import Object, RpcError

MODERN = "2026-07-28"
OLDER = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PROBE = 3.0  # seconds for an answer to the probe, before the handshake is tried as well
INSTRUCTIONS_BYTES = 8192
_META = "io.modelcontextprotocol/"

Request = Callable[[str, Object, float], Awaitable[Object]]


class Agreed(Struct, frozen=True):
    """`revision` of the protocol, what the server can do, who it says it is, and its instructions for use."""

    revision: str
    capabilities: Object
    title: str = ""
    instructions: str = ""

    @property
    def modern(self) -> bool:
        return self.revision == MODERN

    def has(self, what: str) -> bool:
        return isinstance(self.capabilities.get(what), dict)

    def tells(self, what: str) -> bool:
        """Whether it says when its list of tools, prompts or resources changes."""
        return wire.members(self.capabilities.get(what)).get("listChanged") is True


def meta(client: Object, capabilities: Object) -> Object:
    """What each request carries since 2026-07-28."""
    return {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": client,
        f"{_META}clientCapabilities": capabilities,
    }


async def agree(
    request: Request,
    notify: Callable[[str], None],
    client: Object,
    capabilities: Object,
    timeout: float,
    probe: bool = True,
) -> Agreed:
    """Raises McpError, also for a server that speaks none of our revisions; `timeout` in seconds is for each step."""
    if probe:
        try:
            found = await _discover(request, client, capabilities, min(PROBE, timeout))
        except McpError as error:
            if not error.timed_out:
                raise
            found = None
        if found is not None:
            return found
    try:
        answer = await request(
            "initialize",
            {"protocolVersion": OLDER[0], "capabilities": capabilities, "clientInfo": client},
            timeout,
        )
    except RpcError as error:
        # It settled on the new revision by the probe, whose answer came too late for us.
        if error.code == wire.UNSUPPORTED_VERSION and MODERN in _supported(error.data):
            found = await _discover(request, client, capabilities, timeout)
            if found is not None:
                return found
        raise McpError(f"it refused to initialize: {one_line(error.message)}") from None
    revision = answer.get("protocolVersion")
    if revision not in OLDER:
        raise McpError(f"it speaks revision {one_line(revision) or '?'} of MCP, which Agenyx does not know")
    notify("notifications/initialized")
    return _agreed(str(revision), answer, answer.get("serverInfo"))


async def _discover(request: Request, client: Object, capabilities: Object, timeout: float) -> Agreed | None:
    """None where the server is to be asked in the older way."""
    try:
        answer = await request("server/discover", {"_meta": meta(client, capabilities)}, timeout)
    except RpcError as error:
        supported = _supported(error.data)
        if error.code == wire.UNSUPPORTED_VERSION and supported and not set(supported) & set(OLDER):
            raise McpError(f"it speaks only {', '.join(supported)} of MCP, which Agenyx does not know") from None
        return None
    if MODERN not in wire.items(answer.get("supportedVersions")):
        return None
    info = wire.members(answer.get("_meta")).get(f"{_META}serverInfo") or answer.get("serverInfo")
    return _agreed(MODERN, answer, info)


def _agreed(revision: str, answer: Object, info: Any) -> Agreed:
    fields = wire.members(info)
    title = " ".join(filter(None, (one_line(fields.get(name), 100) for name in ("name", "version"))))
    told = clean(answer.get("instructions"), INSTRUCTIONS_BYTES)
    return Agreed(revision, wire.members(answer.get("capabilities")), title, told)


def _supported(data: object) -> list[str]:
    versions = wire.items(wire.members(data).get("supported"))
    return [one_line(version, 40) for version in versions[:10] if isinstance(version, str)]
