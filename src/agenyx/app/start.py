"""Opens a conversation: session, trust, model, rules, in the order in which each may depend on the one before."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.agent.ports import Approver, Emitter, Ports
from agenyx.app.extensions import Extensions
from agenyx.app.facts import check_price, price_of
from agenyx.app.models import open_model
from agenyx.app.opening import open_session
from agenyx.app.policies import choose
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.config.guard import HomeGuard
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Body, Notice
from agenyx.policy.paths import known_files, protection
from agenyx.proc.spawn import Processes
from agenyx.workspace.root import Root

if TYPE_CHECKING:
    from agenyx.config.profiles import Profile
    from agenyx.ext.hooks.callback import Callback
    from agenyx.ext.mcp.config import ServerConfig
    from agenyx.llm.request import Provider


async def open_conversation(
    settings: Settings,
    env: Mapping[str, str],
    emit: Callable[[AgentEvent], None],
    approver: Approver,
    barrier: Callable[[], Awaitable[None]],
    callbacks: Sequence[Callback] = (),
    given: Profile | Provider | None = None,
    secrets: Sequence[str] = (),
) -> Conversation:
    """`callbacks` are functions of the host that hang on events, `given` is its own profile or provider, `secrets` are
    values to mask beside those that are known.

    Raises UsageError, ConfigError or another AgenyxError, each with what to do next.
    """
    home = home_path(env)
    workspace = os.path.realpath(settings.cwd)
    if not os.path.isdir(workspace):
        raise UsageError(f"{settings.cwd} is not a directory", "Name an existing one with --cwd.")
    if settings.agents:
        from agenyx.ext.agents.catalogue import given_text  # few runs name any

        settings = replace(settings, agents=given_text(settings.agents))
    if settings.mcp_config:
        from agenyx.app.mcp_sources import given_text as given_servers

        settings = replace(settings, mcp_config=given_servers(settings.mcp_config))
    watch = None
    if env.get("AGENYX_OTEL") or os.path.lexists(os.path.join(home, "settings.toml")):
        from agenyx.app.telemetry.observed import observed  # off for most

        watch = observed(emit, settings, env)
        emit = watch or emit
    processes = Processes()
    early: list[Body] = []
    opened = open_session(settings, home, workspace, early.append)
    started, workspace = workspace, opened.workspace
    settings = replace(settings, cwd=workspace)
    emitter = Emitter(opened.session.id, emit)
    guard = HomeGuard(home)
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    root = open_root(workspace, home, person)
    model = None
    try:
        if settings.resume_at:
            from agenyx.app.resume_at import go_back  # few name a message

            go_back(opened.session, settings.resume_at, settings.drops_turn)
        judged = settings if settings.of_workspace else replace(settings, bare=True)
        gate = Gate(judged, env, home, workspace, approver, early.append)
        await gate.open(resumed=opened.session.state.prefix is not None)
        settings = replace(await gate.settings(), bare=settings.bare)
        chosen = choose(settings, home, workspace, person, await gate.found())
        if settings.add_dirs or opened.session.state.folders:
            from agenyx.app.folders import take  # few sessions have any

            take(root, settings.add_dirs, opened.session.state.folders, env, home, started, early.append)
            chosen = replace(chosen, policy=replace(chosen.policy, folders=root.folders()))
        model = await open_model(settings, env, home, processes, opened.session.state.binding, emitter, given)
        model.secrets = (*model.secrets, *(value for value in secrets if value not in model.secrets))
        check_price(settings, price_of(model.profile, model.name, home), model.name)
        if settings.fallback:
            from agenyx.app.fallback import check as check_fallback  # few sessions have one

            check_fallback(settings, model, home)
        servers: Sequence[ServerConfig] = ()
        before = Extensions(gate, home, person, early.append, bare=settings.bare, own=settings.of_person)
        if before.any_servers(settings.mcp_config):
            from agenyx.app.mcp_choice import chosen as chosen_servers
            from agenyx.app.mcp_choice import with_secrets

            def tell(text: str, fix: str) -> None:
                early.append(Notice("warning", text, fix))

            servers = await chosen_servers(before, settings, env, home, approver, tell)
            model.secrets = with_secrets(model.secrets, servers)
    except BaseException:
        if model is not None:
            await model.close()
        await processes.close()
        opened.close()
        raise
    early += [Notice("warning", f"{problem}.") for problem in chosen.problems]
    for body in early:
        emitter(body)
    gate.tell = emitter
    ports = Ports(approver, emit, barrier, ahead=settings.defer)
    extensions = Extensions(gate, home, person, emitter, bare=settings.bare, own=settings.of_person)
    conversation = Conversation(
        settings, env, root, opened, model, processes, ports, emitter, guard, chosen, extensions, callbacks
    )
    if watch is not None:
        watch.about(opened.session.id, model.profile)
        conversation.telemetry = watch
    stored = opened.session.state.prefix
    if servers or (stored is not None and any(tool.origin == "mcp" or tool.name == "McpCall" for tool in stored.tools)):
        from agenyx.app.mcp import Mcp

        conversation.mcp = Mcp(conversation, servers, approver, chosen.mcp_wait)
    return conversation


def open_root(workspace: str, home: str, person: str) -> Root:
    """The root of a workspace, a real path, with the path policy that holds there; `person` is the user's home."""
    return Root(
        workspace,
        lambda real: protection(real, workspace, home),
        changing=lambda real: protection(real, workspace, home, "write"),
        below=lambda real: protection(real, workspace, home, "tree"),
        home=home,
        known=known_files(workspace, home, person),
    )
