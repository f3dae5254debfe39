"""Makes a subagent: the same engine and boundary as its parent's, over a session, tools and a policy of its own.

Whatever it asks goes to the parent's approver, whatever it uses counts in the parent's run.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.asked import ChildApprover
from agenyx.agent.boundary import Boundary
from agenyx.agent.budget import Meter, Share
from agenyx.agent.child import Child, Pulse
from agenyx.agent.child_hooks import child_ports, subagent_started
from agenyx.agent.context import Choice
from agenyx.agent.crew import FOLDER
from agenyx.agent.engine import Engine
from agenyx.agent.hooked import waiting
from agenyx.agent.judge import Judge
from agenyx.agent.normalise import Normaliser
from agenyx.agent.notices import environment
from agenyx.agent.ports import LateKeeper
from agenyx.agent.prompt import make_prefix
from agenyx.agent.subagent import Order
from agenyx.app.compose import Parts
from agenyx.app.extensions import Extensions
from agenyx.app.facts import effort_kept, options_of, price_of
from agenyx.app.head import specs
from agenyx.app.leave import changes, narrowed, tools_of
from agenyx.app.models import Model
from agenyx.app.room import make_room
from agenyx.app.sight import binding_of, keeper
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, TurnStarted
from agenyx.core.ids import child_id
from agenyx.core.json import scrub
from agenyx.core.messages import Text, User
from agenyx.core.tools import Effects
from agenyx.core.verdict import Mode, Rule
from agenyx.ext.agents.definition import Agent
from agenyx.llm.check import Checked
from agenyx.policy.decide import Policy
from agenyx.session import load, records
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore, MemoryStore, Store
from agenyx.shell.system import Shell
from agenyx.tools.registry import Registry
from agenyx.tools.spec import Context, Look
from agenyx.tools.toolresultread import spill_of
from agenyx.workspace import git
from agenyx.workspace.names import show
from agenyx.workspace.root import Root

_LOOKS_ONLY = "You only look: no tool of yours changes anything, so say what is to be changed instead of trying."


class Site(Struct, frozen=True):
    """Where a child works. `note` tells it what is special there; `end` is awaited after its turn."""

    root: Root
    shell: Shell
    note: str
    end: Callable[[], Awaitable[str]]


class Employer:
    """`parts` are the parent's, `steps` its limit, `choice` what was set about the context window."""

    def __init__(self, parts: Parts, meter: Meter, steps: int, choice: Choice, extensions: Extensions | None) -> None:
        self._parts, self._meter, self._steps, self._choice = parts, meter, steps, choice
        self._extensions, self._source = extensions, parts.source
        self._one = asyncio.Lock()  # a person answers one question at a time

    def policy(self) -> Policy:
        """What the parent may do now."""
        state, policy = self._source.session.state, self._parts.boundary.policy
        scopes = (*policy.scopes, state.scope) if state.scope.by else policy.scopes
        return replace(policy, scopes=scopes, rules=(*policy.rules, *state.rules))

    async def hire(self, order: Order, agent: Agent) -> Child:
        """A child that is about to begin, or to go on where an earlier process left it. Raises AgenyxError, OSError."""
        tools, problems = tools_of(agent, self._parts.registry, order.more)
        if not tools:
            why = "; ".join(problems) or "none of its tools may be a subagent's"
            raise UsageError(f"the agent {agent.name} has no tools: {why}", "Its file has to name some of ours.")
        if changes(tools):
            from agenyx.app.worksite import worksite  # most subagents only look

            site = await worksite(order, agent, self._parts, self.policy())
        else:
            site = Site(self._source.root, self._parts.shell, _LOOKS_ONLY, _nothing)
        session = self._session(order.call)
        try:
            told = list[User]()
            if session.state.opened is None:
                hooks, emit = self._parts.ports.hooks, self._parts.emit
                told = await subagent_started(hooks, emit, child_id(order.call), agent.name)
            return self._made(order, agent, session, Registry(tools), site, told)
        except BaseException:
            session.close()
            raise

    def _session(self, call: str) -> Session:
        parent = self._source.session
        directory, state = os.path.join(parent.directory, FOLDER, call), State()
        store: Store
        try:
            store = FileStore(directory)
        except OSError:
            store = MemoryStore()
        try:
            if isinstance(store, FileStore) and os.path.getsize(os.path.join(directory, TRANSCRIPT)):
                state = load.load(directory)
        except BaseException:
            store.close()
            raise
        session = Session(call, store, state, directory, parent.ids, parent.clock)
        session.masker = parent.masker
        return session

    def _made(
        self, order: Order, agent: Agent, session: Session, registry: Registry, site: Site, told: list[User]
    ) -> Child:
        parts, source = self._parts, self._source
        model, pulse = self._model(agent), Pulse()
        session.agent = path = f"{agent.name}/{child_id(order.call)}"

        def heard(event: AgentEvent) -> None:
            pulse.hear(event)
            parts.ports.emit(event)

        def look() -> Look:
            return Look(site.root, session.state.seen, site.shell)

        last = Policy()

        def policy(own: Policy) -> Policy:
            nonlocal last
            now = narrowed(self.policy(), own, agent.mode, site.root.path)
            last = last if last == now else now  # one that is used again has its rules ready
            return last

        emit = parts.emit.child(path, heard)
        pages = registry.find("ToolResultRead") is not None
        judge = Judge(registry, look, parts.judge.guard, policy)
        approver = ChildApprover(parts.ports.approver, judge, pulse, self._one, self._learn)
        touched, brought = self._touched(session, site)
        ports = replace(
            parts.ports,
            approver=approver,
            inbox=lambda: (*waiting(session.state), *brought()),
            touched=touched,
            keeper=LateKeeper(),
            ahead=False,
        )
        ports = child_ports(ports, child_id(order.call), agent.name, os.path.join(session.directory, TRANSCRIPT))
        output = os.path.join(session.directory, "output")

        def context(feed: Callable[[bytes], None], call: str, effects: Effects) -> Context:
            return Context(
                site.root,
                session.state.seen,
                site.shell,
                source.processes,
                feed,
                spill=os.path.join(output, f"{call}.txt"),
                result_chars=model.result_chars,
                effects=effects,
                call=call if pages else "",
                spilled=lambda wanted: spill_of(session.state.entries, wanted),
                keep=keeper(source, session, model),
                id=call,
            )

        normalise = Normaliser(session.masker, model.result_chars, output, pages)
        boundary = Boundary(session, judge, Policy(), context, normalise, ports, emit)
        home = home_path(source.env)
        meter = Share(self._meter, price_of(model.profile, model.name, home))
        room = make_room(session, model, source.env, ports, emit, meter, pages, self._choice)
        provider = Checked(model.provider, session.masker)
        steps = min(agent.max_steps, self._steps) if agent.max_steps else self._steps
        engine = Engine(session, provider, boundary, ports, emit, steps, meter, room)
        self._begin(order, agent, session, registry, site, model, told)
        emit.turn, emit.step = session.state.turn, session.state.steps
        emit(TurnStarted(order.task, model.name, policy(Policy()).mode))
        return Child(session, engine, meter, pulse, site.end, session.close)

    def _touched(
        self, session: Session, site: Site
    ) -> tuple[Callable[[Effects], Awaitable[None]], Callable[[], list[User]]]:
        """What brings the instructions of folders that the child works in, and what takes them. None in a work tree."""
        waiting, source = list[User](), self._source

        async def touched(effects: Effects) -> None:
            if surroundings is not None:
                await surroundings(effects)

        def brought() -> list[User]:
            told, waiting[:] = list(waiting), []
            return told

        surroundings = None
        if self._extensions is not None and site.root is source.root:
            from agenyx.app.surroundings import Surroundings

            surroundings = Surroundings(
                self._extensions, session, site.root, source.processes, source.env, waiting.append
            )
        return touched, brought

    def _begin(
        self,
        order: Order,
        agent: Agent,
        session: Session,
        registry: Registry,
        site: Site,
        model: Model,
        told: list[User],
    ) -> None:
        """Put on record what the child has to begin with, unless an earlier process has done so."""
        above = self._source.session.state.prefix
        if session.state.opened is not None or above is None:
            return
        system = (*above.system, _role(site.note), *((agent.prompt,) if agent.prompt else ()), *self._skills(agent))
        session.append(
            records.Opened(session.id, site.root.path, ""),
            binding_of(self._source, model),
            make_prefix(model.options, system, specs(registry, site.shell)),
            records.Prompt(_surroundings(session, site.root, self.policy().mode)),
            records.Prompt(User((Text(scrub(session.masker.text(order.task))),), scope=order.scope)),
            *(records.Prompt(user) for user in told),
            turn=session.ids.new("turn"),
            sync=True,
        )

    def _model(self, agent: Agent) -> Model:
        """The parent's model, or another one of the same server where the agent names one."""
        model, home = self._source.model, home_path(self._source.env)
        name, provider, options = model.name, model.provider, model.options
        named = "" if model.reopen is None else agent.model
        if named and named != name:
            name, options = named, options_of(model.profile, named, options.effort, home)
            options = replace(options, effort=effort_kept(model.profile, named, options.effort, home))
        if model.provide is not None:
            provider = model.provide(name)
        if agent.effort:
            options = replace(options, effort=effort_kept(model.profile, name, agent.effort, home))
        return replace(model, name=name, provider=provider, options=options, prepare=None, reopen=None)

    def _learn(self, rules: tuple[Rule, ...]) -> None:
        """A person's answer that holds for the session holds for all of it."""
        boundary = self._parts.boundary
        boundary.policy = replace(boundary.policy, rules=(*boundary.policy.rules, *rules))

    def _skills(self, agent: Agent) -> tuple[str, ...]:
        if not agent.skills or self._extensions is None:
            return ()
        from agenyx.ext.frontmatter import read

        found: dict[str, str] = {}
        for source in self._extensions.sources("skills"):
            front = read(source.data.decode("utf-8", "replace"))
            name = front.text("name") or os.path.basename(os.path.dirname(source.path))
            found[name.casefold()] = f"# The skill {name}\n{front.body.strip()}"
        return tuple(found[name.casefold()] for name in agent.skills if name.casefold() in found)


def _role(leave: str) -> str:
    from agenyx.agent import prompt

    with open(os.path.join(os.path.dirname(prompt.__file__), "prompts", "subagent.md"), encoding="utf-8") as file:
        return file.read().strip().replace("{leave}", leave)


def _surroundings(session: Session, root: Root, mode: Mode) -> User:
    facts, uname = git.facts(root.path), os.uname()
    words = f"branch {facts.branch or '(detached)'}, HEAD {facts.head[:12] or '(no commit)'}" if facts else ""
    platform = f"{uname.sysname} {uname.machine}"
    return environment(session.clock(), platform, root.path, words, mode, tuple(show(one.real) for one in root.beside))


async def _nothing() -> str:
    return ""
