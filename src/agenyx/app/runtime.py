"""Wires the parts into a conversation. The only module that knows them all."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping

from agenyx.agent.boundary import Boundary
from agenyx.agent.engine import Engine
from agenyx.agent.normalise import Normaliser
from agenyx.agent.notices import environment
from agenyx.agent.ports import Approver, Emitter, Ports
from agenyx.agent.prompt import make_prefix, system_sections
from agenyx.app.models import Model, open_model
from agenyx.app.opening import Opened, open_session
from agenyx.app.settings import Settings
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Body, PrefixBroke, TurnFinished, TurnStarted
from agenyx.core.json import scrub
from agenyx.core.limits import MAX_STEPS
from agenyx.core.messages import Text, User
from agenyx.core.redact import Masker
from agenyx.policy.decide import Policy
from agenyx.policy.paths import protection
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.session import records
from agenyx.session.state import NeedModel
from agenyx.shell.system import Shell
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry
from agenyx.tools.spec import Context, Look
from agenyx.workspace import git
from agenyx.workspace.root import Root


class Conversation:
    """One session, ready for prompts. Close it: that ends its processes."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        root: Root,
        opened: Opened,
        model: Model,
        processes: Processes,
        ports: Ports,
        emit: Emitter,
    ) -> None:
        session = opened.session
        self.session_id, self.model, self.persistent = session.id, model.name, opened.persistent
        self._settings, self._opened, self._session, self._model = settings, opened, session, model
        self._processes, self._emit, self._root = processes, emit, root
        masker = Masker(model.secrets)
        environment_of_children = child_env(env, model.secrets)
        shell = Shell(processes, root.path, os.path.join(session.directory, "shell"), environment_of_children)
        spill = os.path.join(session.directory, "output")
        limit = model.result_chars

        def context(output: Callable[[bytes], None], call: str) -> Context:
            return Context(
                root, session.state.seen, shell, processes, output, os.path.join(spill, f"{call}.txt"), limit
            )

        self._registry = Registry(builtin_tools(), model.size)
        boundary = Boundary(
            session,
            self._registry,
            Policy(settings.mode, settings.unsafe),
            lambda: Look(root, session.state.seen, shell),
            context,
            Normaliser(masker, limit, spill),
            ports,
            emit,
        )
        self._masker = masker
        steps = settings.max_steps or model.max_steps or MAX_STEPS
        self._engine = Engine(session, model.provider, boundary, ports, emit, steps)

    @property
    def unfinished(self) -> bool:
        """Whether the last turn was left open by a crash, so that `go_on` continues it."""
        return self._session.state.outcome is None and bool(self._session.state.turn)

    async def prompt(self, text: str) -> TurnFinished:
        """Run one turn to its end. Raises StoreError if the prompt itself cannot be written; nothing has run then."""
        session, state = self._session, self._session.state
        self._engine.interrupt()
        turn = session.ids.new("turn")
        typed = User((Text(scrub(self._masker.text(text))),), "typed", session.ids.new("prompt"))
        session.append(*self._head(), records.Prompt(typed), turn=turn, sync=True)
        self._emit.turn, self._emit.step = turn, state.steps
        self._emit(TurnStarted(typed.text, self.model, self._settings.mode))
        return await self._run()

    async def go_on(self) -> TurnFinished:
        """Continue the turn that a crash left open."""
        self._emit.turn, self._emit.step = self._session.state.turn, self._session.state.steps
        self._emit(TurnStarted("", self.model, self._settings.mode))
        return await self._run()

    async def _run(self) -> TurnFinished:
        prepare, action = self._model.prepare, self._session.next()
        if prepare is not None and isinstance(action, NeedModel):
            self._model.prepare = None
            self._emit(await prepare(action.request))
        return await self._engine.run()

    async def close(self) -> None:
        """End the processes of the session and release it. Idempotent parts only; call it once."""
        await self._processes.close()
        await self._model.close()
        self._opened.close()

    def _head(self) -> list[records.Body]:
        """The records that a session needs before this prompt: all at first, later only what changed."""
        state, model, bodies = self._session.state, self._model, list[records.Body]()
        binding = records.Binding(model.profile.id, model.provider.binding, model.name)
        if state.opened is None:
            bodies.append(records.Opened(self._session.id, self._root.path, _version()))
        if state.binding != binding:
            if state.binding is not None:
                self._emit(PrefixBroke(f"the model changed from {state.binding.model} to {model.name}"))
            bodies.append(binding)
        if state.prefix is None:
            bodies.append(make_prefix(model.options, system_sections(model.size), self._registry.specs()))
        if not state.entries:
            bodies.append(records.Prompt(self._environment()))
        return bodies

    def _environment(self) -> User:
        facts, uname = git.facts(self._root.path), os.uname()
        words = f"branch {facts.branch or '(detached)'}, HEAD {facts.head[:12] or '(no commit)'}" if facts else ""
        platform = f"{uname.sysname} {uname.machine}"
        return environment(self._session.clock(), platform, self._root.path, words, self._settings.mode)


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
    root = Root(workspace, lambda real: protection(real, workspace, home))
    processes = Processes()
    early: list[Body] = []
    opened = open_session(settings, home, workspace, early.append)
    try:
        model = await open_model(settings, env, home, processes, opened.session.state.binding)
    except BaseException:
        await processes.close()
        opened.close()
        raise
    emitter = Emitter(opened.session.id, emit)
    for body in early:
        emitter(body)
    ports = Ports(approver, emit, barrier)
    return Conversation(settings, env, root, opened, model, processes, ports, emitter)


def _version() -> str:
    try:
        from agenyx._version import DESCRIBE
    except ImportError:
        return "unknown"
    return DESCRIBE
