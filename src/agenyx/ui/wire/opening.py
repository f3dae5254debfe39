"""Opens the conversation of a stream as the host's `initialize` wants it, and says what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from agenyx.agent.ports import Approver
from agenyx.app.commands.found import found
from agenyx.app.commands.table import BUILTIN
from agenyx.app.release import version
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.core import json
from agenyx.core.events import AgentEvent
from agenyx.core.ids import session_id
from agenyx.ui.wire import servers
from agenyx.ui.wire.asks import Asks
from agenyx.ui.wire.attached import shows
from agenyx.ui.wire.controls import models
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.hooks import callbacks
from agenyx.ui.wire.outbound import Init, JsonObject, Server

SPOKEN = "2.1.332"
"""The version of the contract of the Agent SDKs that we speak, as they look for it; ours is `agenyx_version`."""
CAPABILITIES = ("interrupt_receipt_v1",)


class Opened(Struct):
    conversation: Conversation
    servers: servers.HostServers | None = None

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.close()
        await self.conversation.close()


async def opened(
    settings: Settings,
    env: Mapping[str, str],
    request: JsonObject,
    asks: Asks,
    emit: Callable[[AgentEvent], None],
    approver: Approver,
    barrier: Callable[[], Awaitable[None]],
    tell: Callable[[str], None],
) -> Opened:
    """`request` is the host's `initialize`, {} for none. Raises AgenyxError."""
    names, config = servers.named(request.get("sdkMcpServers"), settings.mcp_config)
    settings = replace(settings, mcp_config=config)
    if isinstance(agents := request.get("agents"), dict) and agents:
        settings = replace(settings, agents=json.encode(cast("JsonObject", agents)).decode())
    system = request.get("systemPrompt")
    parts = cast("list[Any]", system) if isinstance(system, list) else [None]
    if all(isinstance(part, str) for part in parts):
        settings = replace(settings, system_prompt="\n\n".join(map(str, parts)))
    if isinstance(more := request.get("appendSystemPrompt"), str):
        settings = replace(settings, append_system=more)
    if names:
        settings = replace(settings, retool=True)
    hooks = callbacks(request.get("hooks"), asks, tell)
    conversation = await open_conversation(settings, env, emit, approver, barrier, hooks)
    made = Opened(conversation)
    if names:
        made.servers = servers.HostServers(names, asks, conversation, env)
        try:
            await made.servers.connect(tell)
        except BaseException:
            await made.close()
            raise
    if isinstance(title := request.get("title"), str) and title.strip():
        conversation.rename(title)
    return made


def init(made: Opened, dialect: Dialect, *, decided: bool = True) -> Init:
    """What the session is now. Before the dialect is decided it may still be a host that sends files."""
    conversation = made.conversation
    status, rows = conversation.status(), conversation.mcp.rows() if conversation.mcp is not None else []
    standing = [Server(str(row["name"]), _status(str(row["state"]))) for row in rows]
    standing += [Server(one.name, _status(one.state)) for one in (made.servers.servers if made.servers else ())]
    profile = conversation.parts.source.model.profile
    sdk = dialect == "sdk"
    return Init(
        session_id=conversation.session_id,
        uuid=session_id(),
        cwd=status.workspace,
        tools=tuple(conversation.parts.registry.names()),
        mcp_servers=tuple(standing),
        model=conversation.model,
        permissionMode=conversation.mode,
        slash_commands=tuple(row["name"] for row in commands(conversation)),
        apiKeySource="user",
        agenyx_version=version(),
        output_style=conversation.guidance.style,
        skills=tuple(conversation.library.skills().found) if conversation.library is not None else (),
        plugins=(),
        agents=tuple(conversation.crew.catalogue().agents) if sdk else (),
        provider=profile.id,
        provider_type=profile.type,
        reasoning_capabilities=_reasoning(profile.efforts, profile.default_effort),
        claude_code_version=SPOKEN if sdk else UNSET,
        capabilities=CAPABILITIES if sdk else UNSET,
        input_capabilities=UNSET if sdk and decided else _inputs(conversation),
    )


def answer(made: Opened, dialect: Dialect, pid: int, *, applied: bool) -> JsonObject:
    """The payload that `initialize` is answered with; `applied`: what it brought holds."""
    conversation = made.conversation
    profile = conversation.parts.source.model.profile
    agents = conversation.crew.catalogue().agents.values()
    common: JsonObject = {
        "commands": commands(conversation),
        "output_style": conversation.guidance.style,
        "available_output_styles": [style.name for style in conversation.guidance.styles().values()],
        "models": models(conversation),
        "pid": pid,
        "agenyx_version": version(),
    }
    if dialect == "agentx":
        account = {"apiKeySource": "user", "apiProvider": profile.type, "provider": profile.id}
        account["providerType"] = profile.type
        inputs = _inputs(conversation)
        known = {} if inputs is UNSET else {"input_capabilities": inputs}
        return {**common, **known, "agents": [], "providers": providers(conversation), "account": account}
    rows = [{"name": agent.name, "description": agent.description} for agent in agents]
    return {
        **common,
        "agents": rows,
        "account": {"apiKeySource": "user", "apiProvider": profile.id},
        "claude_code_version": SPOKEN,
        "hooks_applied": applied,
        "hook_on_failure_supported": True,
    }


def commands(conversation: Conversation) -> list[JsonObject]:
    """The slash commands that there are."""
    rows = [*BUILTIN, *found(conversation).commands.values()]
    return [
        {"name": row.name, "description": row.text, "argumentHint": row.args, "aliases": list(row.aliases)}
        for row in rows
    ]


def providers(conversation: Conversation) -> list[JsonObject]:
    """The provider catalogue; no address and no key stands in it."""
    from agenyx.config.home import home_path
    from agenyx.llm import catalogue
    from agenyx.ui.providers import entries, listed

    source = conversation.parts.source
    home, profile = home_path(source.env), source.model.profile
    profiles = listed(source.env, home)
    if all(one.id != profile.id for one in profiles):
        profiles += (profile,)
    rows = entries(profiles, catalogue.read(home))
    for row in rows:
        if row["id"] == profile.id:
            name = conversation.model
            row.update(selected=True, model=name, displayName=f"{profile.id} ({name})")
    return rows


def _inputs(conversation: Conversation) -> Any:
    """What a host may send beside text, UNSET where the model can be shown nothing else."""
    if not shows(conversation.parts.source):
        return UNSET
    from agenyx.ui.wire.uploads import capabilities

    return capabilities()


def _reasoning(efforts: tuple[str, ...], default: str) -> JsonObject:
    return {"supported": bool(efforts), "efforts": list(efforts), "defaultEffort": default or None}


def _status(state: str) -> str:
    states = {"ready": "connected", "starting": "pending", "idle": "pending", "down": "pending", "failed": "failed"}
    return states.get(state, "disabled")
