"""Opens a conversation: session, trust, model, rules, in the order in which each may depend on the one before."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping

from msgspec.structs import replace

from agenyx.agent.ports import Approver, Emitter, Ports
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


async def open_conversation(
    settings: Settings,
    env: Mapping[str, str],
    emit: Callable[[AgentEvent], None],
    approver: Approver,
    barrier: Callable[[], Awaitable[None]],
) -> Conversation:
    """Raises UsageError, ConfigError or another AgenyxError, each with what to do next."""
    home = home_path(env)
    workspace = os.path.realpath(settings.cwd)
    if not os.path.isdir(workspace):
        raise UsageError(f"{settings.cwd} is not a directory", "Name an existing one with --cwd.")
    processes = Processes()
    early: list[Body] = []
    opened = open_session(settings, home, workspace, early.append)
    workspace = opened.workspace
    settings = replace(settings, cwd=workspace)
    emitter = Emitter(opened.session.id, emit)
    guard = HomeGuard(home)
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    root = open_root(workspace, home, person)
    instructions, model = "", None
    try:
        gate = Gate(settings, env, home, workspace, approver, early.append)
        settings = await gate.settings()
        chosen = choose(settings, home, workspace, person, await gate.found())
        model = await open_model(settings, env, home, processes, opened.session.state.binding, emitter)
        check_price(settings, price_of(model.profile, model.name, home), model.name)
        if opened.session.state.prefix is None and model.size != "small":
            instructions = await gate.instructions()
    except BaseException:
        if model is not None:
            await model.close()
        await processes.close()
        opened.close()
        raise
    early += [Notice("warning", f"{problem}.") for problem in chosen.problems]
    for body in early:
        emitter(body)
    ports = Ports(approver, emit, barrier, ahead=settings.defer)
    return Conversation(settings, env, root, opened, model, processes, ports, emitter, instructions, guard, chosen)


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
