"""/mcp: the MCP servers of this conversation and where each is; reading the configuration anew, connecting anew."""

from __future__ import annotations

from typing import cast

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import UsageError

NONE = "There are no MCP servers. agenyx mcp add NAME -- COMMAND adds one; see agenyx mcp --help."


async def run(desk: Desk, args: str) -> Reply:
    """`args` is "", "status", "reload" or "reconnect NAME". Raises AgenyxError."""
    mcp = desk.conversation.mcp
    match args.split():
        case [] | ["status"]:
            if mcp is not None:
                await mcp.settle()
        case ["reload"]:
            if mcp is None:
                raise UsageError("this conversation began without MCP servers", "Begin anew: /clear, or start again.")
            await mcp.reload()
        case ["reconnect", *name] if name:
            if mcp is None:
                raise UsageError("this conversation has no MCP servers", NONE)
            await mcp.servers.reconnect(" ".join(name))
        case _:
            raise UsageError(f"/mcp does not understand {args}", "/mcp, /mcp reload or /mcp reconnect NAME.")
    rows = mcp.rows() if mcp is not None else []
    return Reply("\n".join(map(_line, rows)) or NONE, {"servers": rows})


def _line(row: dict[str, object]) -> str:
    tools = f", {row['tools']} tools" if row["state"] == "ready" else ""
    why = f": {row['why']}" if row["why"] else ""
    more = "".join(f"\n  note: {problem}" for problem in cast("list[str]", row["problems"]))
    return f"{row['name']}  {row['state']}{tools}{why}  (mcp__{row['slug']}, {row['scope']}){more}"
