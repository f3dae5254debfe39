"""Requests of the host while a session runs, and what each is answered. `initialize` and `interrupt` are the run's own.

An unknown request is an error and never silence: the host waits for its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast, get_args

from agenyx.app.runtime import Conversation
from agenyx.core.errors import UsageError
from agenyx.core.verdict import Mode
from agenyx.session.records import Prompt
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.outbound import JsonObject

if TYPE_CHECKING:
    from agenyx.ui.wire.servers import HostServers

MODES: tuple[str, ...] = get_args(Mode)
_STATES = {"ready": "connected", "starting": "pending", "idle": "pending", "down": "pending", "failed": "failed"}
_COLOURS = ("blue", "green", "cyan", "magenta", "yellow", "gray")
_UNAVAILABLE = ("set_model", "set_permission_mode", "set_max_thinking_tokens")
"""What AgentX refuses while it runs; we can do the first two, for the hosts of the Agent SDKs."""


class Desk:
    """What the handlers work with. `running` says whether a turn runs; `model` is the one to go back to."""

    def __init__(
        self,
        conversation: Conversation,
        dialect: Callable[[], Dialect],
        running: Callable[[], bool],
        servers: HostServers | None,
    ) -> None:
        self.conversation, self.dialect, self.running, self.servers = conversation, dialect, running, servers
        self.model = conversation.model


async def answer(desk: Desk, subtype: str, request: JsonObject) -> JsonObject:
    """The payload of the answer. Raises AgenyxError."""
    handler = HANDLERS.get(subtype)
    if handler is None or (desk.dialect() == "agentx" and subtype in _UNAVAILABLE):
        raise UsageError(f"the request {subtype[:80]} is not available here", "")
    return await handler(desk, request)


async def _mode(desk: Desk, request: JsonObject) -> JsonObject:
    set_mode(desk.conversation, str(request.get("mode")))
    return {"mode": desk.conversation.mode}


def set_mode(conversation: Conversation, mode: str) -> None:
    """Raises UsageError."""
    if mode not in MODES:
        raise UsageError(f"there is no permission mode {mode[:40]!r}", f"Choose one of: {', '.join(MODES)}.")
    conversation.set_mode(cast("Mode", mode))


async def _model(desk: Desk, request: JsonObject) -> JsonObject:
    name = request.get("model") or desk.model
    if not isinstance(name, str):
        raise UsageError("the model is neither a name nor null", "")
    if name in ("default", desk.conversation.model):
        name = desk.model if name == "default" else name
    if name != desk.conversation.model:
        desk.conversation.set_model(name)
    return {"model": desk.conversation.model}


async def _servers(desk: Desk, request: JsonObject) -> JsonObject:
    found = list[JsonObject]()
    if desk.conversation.mcp is not None:
        await desk.conversation.mcp.settle()
        tools = desk.conversation.mcp.servers.tools()
        for row in desk.conversation.mcp.rows():
            status = _STATES.get(str(row["state"]), "disabled")
            entry: JsonObject = {"name": row["name"], "status": status, "scope": row["scope"]}
            if row["why"] and status != "connected":
                entry["error"] = row["why"]
            own = [tool for tool in tools if tool.server.name == row["name"]]
            entry["tools"] = [{"name": tool.info.name, "description": tool.info.description} for tool in own]
            found.append(entry)
    for server in desk.servers.servers if desk.servers else ():
        standing = server.standing
        entry = {"name": standing.name, "status": _STATES.get(standing.state, "disabled"), "scope": "sdk"}
        if standing.why:
            entry["error"] = standing.why
        entry["serverInfo"] = {"name": standing.title or standing.name, "version": ""}
        entry["tools"] = [{"name": info.name, "description": info.description} for info in server.tools()]
        found.append(entry)
    return {"mcpServers": found}


async def _context(desk: Desk, request: JsonObject) -> JsonObject:
    status = desk.conversation.status()
    parts, window = status.parts, status.window or 0
    shares = (
        ("System prompt and tools", parts.head),
        ("Prompts and notices", parts.said),
        ("Answers and calls", parts.answers),
        ("Results of calls", parts.results),
        ("Summary", parts.summary),
    )
    rows = [
        {"name": name, "tokens": count, "color": colour}
        for (name, count), colour in zip(shares, _COLOURS, strict=False)
        if count
    ]
    total = status.context or 0
    return {
        "categories": rows,
        "totalTokens": total,
        "maxTokens": window,
        "rawMaxTokens": window,
        "percentage": round(100 * total / window, 1) if window else 0,
        "gridRows": [],
        "model": status.model,
        "memoryFiles": [],
        "mcpTools": [],
        "agents": [],
        "isAutoCompactEnabled": status.levels is not None and desk.dialect() == "sdk",
        "apiUsage": None,
    }


async def _rewind(desk: Desk, request: JsonObject) -> JsonObject:
    wanted = request.get("user_message_id")
    if desk.running():
        return {"canRewind": False, "error": "a turn runs: files go back between two turns only"}
    session, files = desk.conversation.parts.source.session, desk.conversation.files()
    prompts = ((record.id, record.body) for record in session.records())
    found = (ident for ident, body in prompts if isinstance(body, Prompt) and body.user.prompt_id == wanted)
    point = next(found, None)
    if point is None:
        return {"canRewind": False, "error": f"no prompt of this session has the uuid {str(wanted)[:80]}"}
    plan = files.plan(point)
    if request.get("dry_run") is not True:
        plan = files.apply(plan)
    lines = [line for step in plan.acting for line in step.diff.splitlines()]
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    taken = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    changed = [step.shown for step in plan.acting]
    return {"canRewind": True, "filesChanged": changed, "insertions": added, "deletions": taken}


async def _stop(desk: Desk, request: JsonObject) -> JsonObject:
    ident = request.get("task_id")
    job = desk.conversation.parts.jobs.find(str(ident))
    if job is None:
        raise UsageError(f"there is no task {str(ident)[:80]!r}", "")
    await job.stop()
    return {}


async def _reconnect(desk: Desk, request: JsonObject) -> JsonObject:
    name, mcp = str(request.get("serverName")), desk.conversation.mcp
    if mcp is None:
        raise UsageError(f"there is no MCP server {name[:80]!r}", "")
    await mcp.servers.reconnect(name)
    return {}


async def _models(desk: Desk, request: JsonObject) -> JsonObject:
    return {"models": models(desk.conversation)}


async def _rename(desk: Desk, request: JsonObject) -> JsonObject:
    title: Any = request.get("title", request.get("name"))
    if not isinstance(title, str):
        raise UsageError("the title is no text", "")
    return {"title": desk.conversation.rename(title)}


async def _version(desk: Desk, request: JsonObject) -> JsonObject:
    from agenyx.app.release import version

    return {"version": version()}


def models(conversation: Conversation) -> list[JsonObject]:
    """The model that the session uses; others of the same server are chosen by name."""
    name = conversation.model
    status = conversation.status()
    return [{"value": name, "displayName": name, "description": f"{name} of {status.profile}"}]


HANDLERS: dict[str, Callable[[Desk, JsonObject], Awaitable[JsonObject]]] = {
    "set_permission_mode": _mode,
    "set_model": _model,
    "mcp_status": _servers,
    "mcp_reconnect": _reconnect,
    "get_context_usage": _context,
    "rewind_files": _rewind,
    "stop_task": _stop,
    "list_models": _models,
    "rename_session": _rename,
    "get_binary_version": _version,
}
