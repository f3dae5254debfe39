"""What a conversation works with: shell, jobs, tools, the judge and the boundary, wired for one session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.boundary import Boundary
from agenyx.agent.judge import Judge
from agenyx.agent.normalise import Normaliser
from agenyx.agent.ports import Emitter, Keeper, LateKeeper, Ports
from agenyx.app.models import Model
from agenyx.app.policies import Chosen
from agenyx.app.settings import Settings
from agenyx.app.sight import keeper
from agenyx.config.guard import HomeGuard
from agenyx.config.home import home_path
from agenyx.core.errors import AgenyxError
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects
from agenyx.core.verdict import Rule
from agenyx.policy.decide import Policy
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.session.session import Session
from agenyx.shell.jobs import Jobs
from agenyx.shell.system import Shell
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry
from agenyx.tools.spec import Context, Look
from agenyx.tools.toolresultread import spill_of
from agenyx.workspace.root import Root


class Source(Struct, frozen=True):
    """What the parts of one session are made from. Without `guard` nothing watches the home; it is for tests."""

    settings: Settings
    env: Mapping[str, str]
    root: Root
    session: Session
    model: Model
    processes: Processes
    guard: HomeGuard | None
    chosen: Chosen | None


class Parts(Struct, frozen=True):
    """What the conversation itself needs to reach, and its slash commands. `source` is what they were made from."""

    registry: Registry
    boundary: Boundary
    jobs: Jobs
    shell: Shell
    masker: Masker
    ports: Ports
    judge: Judge
    context: Callable[[Callable[[bytes], None], str, Effects], Context]
    normalise: Normaliser
    emit: Emitter
    source: Source


def compose(source: Source, ports: Ports, emit: Emitter) -> Parts:
    """Starts nothing and contacts nothing."""
    session, model, root, processes = source.session, source.model, source.root, source.processes
    home = home_path(source.env)
    chosen = source.chosen or Chosen(Policy(source.settings.mode, source.settings.unsafe, workspace=root.path))
    masker = session.masker = emit.masker = Masker(model.secrets)
    child = child_env(source.env, model.secrets) | dict(source.settings.variables)
    shell = Shell(
        processes, root.path, os.path.join(session.directory, "shell"), child, chosen.shell, masker, root.folders
    )
    spill = os.path.join(session.directory, "output")
    jobs = Jobs(processes, os.path.join(session.directory, "jobs"), masker=masker)
    registry = Registry(builtin_tools(source.env), model.size, source.settings.tools)
    registry.retire("TodoWrite")  # the tasks are there instead; two lists would cost bytes and confuse
    pages = registry.find("ToolResultRead") is not None

    def context(output: Callable[[bytes], None], call: str, effects: Effects) -> Context:
        asked = session.state.pending.get(call)
        return Context(
            root,
            session.state.seen,
            shell,
            processes,
            output,
            spill=os.path.join(spill, f"{call}.txt"),
            result_chars=model.result_chars,
            effects=effects,
            call=call if pages else "",
            jobs=jobs,
            spilled=lambda wanted: spill_of(session.state.entries, wanted),
            keep=keeper(source, session, model),
            answer=asked.answer if asked else None,
            tasks=session.state.tasks,
            id=call,
        )

    def remember(rules: Sequence[Rule]) -> str:
        from agenyx.app.rules import remember  # most sessions save none

        return remember(home, rules)

    def approved(path: str, before: str, after: str) -> None:
        from agenyx.app.trust import approved_edit

        with suppress(AgenyxError, OSError):  # the next start asks then
            approved_edit(home, root.path, path, before, after)

    def checkpoints() -> Keeper:
        from agenyx.agent.checkpoint import Checkpoints  # a session that only looks needs none
        from agenyx.session.checkpoints import Blobs

        blobs = Blobs(session.directory, secret=masker.found)
        return Checkpoints(root, session.id, session.directory, processes, child, emit, blobs)

    ports = replace(ports, remember=remember, approved=approved, keeper=LateKeeper(checkpoints))

    def look() -> Look:
        return Look(root, session.state.seen, shell)  # of the state as it is now: a rewind makes another one

    judge = Judge(registry, look, source.guard.check) if source.guard else Judge(registry, look)
    normalise = Normaliser(masker, model.result_chars, spill, pages)
    boundary = Boundary(session, judge, chosen.policy, context, normalise, ports, emit)
    return Parts(registry, boundary, jobs, shell, masker, ports, judge, context, normalise, emit, source)
