"""One conversation as a surface sees it: prompts in, answers of the engine out, and what the person may change."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.budget import Limits, Meter
from agenyx.agent.context import Choice, Levels, Parts, parts, pressure
from agenyx.agent.engine import Engine
from agenyx.agent.notices import environment, mode_changed, rewound, workspace_moved
from agenyx.agent.ports import Emitter, Ports
from agenyx.agent.prompt import make_prefix, system_sections
from agenyx.app.compose import Source, compose
from agenyx.app.facts import check_price, effort_kept, effort_of, price_of, window_of
from agenyx.app.head import renewed, specs
from agenyx.app.models import Model
from agenyx.app.opening import Opened
from agenyx.app.place import place_of
from agenyx.app.policies import Chosen
from agenyx.app.room import make_room
from agenyx.app.settings import Settings
from agenyx.config.guard import HomeGuard
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.events import CallAccepted, ModeChanged, Notice, PrefixBroke, TurnFinished, TurnStarted, Usage
from agenyx.core.json import scrub
from agenyx.core.limits import MAX_STEPS
from agenyx.core.messages import Text, User
from agenyx.core.verdict import Mode, Rule
from agenyx.llm.check import Checked
from agenyx.proc.spawn import Processes
from agenyx.session import records
from agenyx.session.state import NeedModel
from agenyx.session.tree import Tree, tree_of
from agenyx.workspace import git
from agenyx.workspace.root import Root

if TYPE_CHECKING:
    from agenyx.app.rewind import Files


class Status(Struct, frozen=True):
    """What a person may ask of a session. `context`: tokens of the last request and its answer, None before it.

    `cost` in US dollars since this process opened the session, None when a price is unknown; `window` in tokens.
    `levels` say when room is made, None when the window is not known; `breaks` what broke the prompt cache, how often.
    """

    session_id: str
    profile: str
    model: str
    effort: str
    mode: Mode
    workspace: str
    persistent: bool
    usage: Usage | None
    context: int | None
    branch: str
    cost: float | None
    window: int | None
    levels: Levels | None
    parts: Parts
    breaks: Mapping[str, int]


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
        instructions: str = "",
        guard: HomeGuard | None = None,
        chosen: Chosen | None = None,
    ) -> None:
        session = opened.session
        self._instructions = instructions
        self.session_id, self.model, self.persistent = session.id, model.name, opened.persistent
        self.mode: Mode = settings.mode
        # A resumed session keeps the effort of its stored head unless another one was chosen, or the model refuses it.
        self._effort_chosen = bool(settings.effort or env.get("AGENYX_REASONING_EFFORT", "").strip())
        stored = session.state.prefix
        if stored is not None and not self._effort_chosen:
            effort = effort_kept(model.profile, model.name, stored.options.effort, home_path(env))
            model.options = replace(model.options, effort=effort)
        self.effort = model.options.effort
        self._settings, self._opened, self._session, self._model = settings, opened, session, model
        self._env, self._ports, self._queue = env, ports, list[User]()
        self._processes, self._emit, self._root = processes, emit, root
        source = Source(settings, env, root, session, model, processes, guard, chosen)
        made = self._parts = compose(source, replace(ports, inbox=self._take), emit)
        self._masker, self._registry, self._boundary = made.masker, made.registry, made.boundary
        steps = settings.max_steps or model.max_steps or MAX_STEPS
        self._meter = Meter(
            Limits(settings.max_usd or None, settings.max_tokens or None),
            price_of(model.profile, model.name, home_path(env)),
        )
        pages, choice = self._registry.find("ToolResultRead") is not None, chosen.context if chosen else Choice()
        room = self._room = make_room(session, model, env, made.ports, emit, self._meter, pages, choice)
        provider = Checked(model.provider, made.masker)
        self._engine = Engine(session, provider, made.boundary, made.ports, emit, steps, self._meter, room)

    @property
    def unfinished(self) -> bool:
        """Whether the last turn was left open by a crash, so that `go_on` continues it."""
        return self._session.state.outcome is None and bool(self._session.state.turn)

    @property
    def asked(self) -> frozenset[str]:
        """The calls of the open turn, by id, about which a person was asked."""
        return frozenset(call.call.id for call in self._session.state.pending.values() if call.approval)

    async def prompt(self, text: str, prompt_id: str = "") -> TurnFinished:
        """Run one turn to its end. Raises StoreError if the prompt itself cannot be written; nothing has run then.

        `prompt_id` is the host's own: a prompt that is sent again, also after a resume, raises UsageError.
        """
        session, state = self._session, self._session.state
        if prompt_id and prompt_id in state.prompts:
            raise UsageError(f"the prompt {prompt_id} was taken up already", "Give another prompt an id of its own.")
        if waited := len(state.questions):
            what = "A call that waited for an answer was" if waited == 1 else f"{waited} calls that waited were"
            self._emit(Notice("warning", f"{what} given up, as you went on with something else."))
        self._engine.interrupt()
        turn = session.ids.new("turn")
        typed = User((Text(scrub(self._masker.text(text))),), "typed", prompt_id or session.ids.new("prompt"))
        notices = (records.Prompt(user) for user in self._take())
        head = self._head()
        if self._room.choice.history == "final" and state.view.trimmable:
            head.append(records.Trimmed())
        session.append(*head, *notices, records.Prompt(typed), turn=turn, sync=True)
        self._emit.turn, self._emit.step = turn, state.steps
        self._emit(TurnStarted(typed.text, self.model, self.mode))
        return await self._run()

    async def go_on(self) -> TurnFinished:
        """Continue the turn that a crash left open."""
        self._emit.turn, self._emit.step = self._session.state.turn, self._session.state.steps
        self._emit(TurnStarted("", self.model, self.mode))
        for call in self._session.state.pending.values():
            if call.approval is not None and call.result is None:  # who watches has not heard of it yet
                self._emit(CallAccepted(call.call, call.approval.effects))
        return await self._run()

    async def _run(self) -> TurnFinished:
        prepare, action = self._model.prepare, self._session.next()
        if prepare is not None and isinstance(action, NeedModel):
            self._model.prepare = None
            self._emit(await prepare(action.request))
        return await self._engine.run()

    async def compact(self, focus: str = "") -> records.Compacted | None:
        """Summarise the conversation now; `focus` says what above all to keep. None when there is nothing to summarise.

        Raises UsageError while calls of the last turn are open, AgenyxError when it cannot be written.
        """
        if self._session.state.pending:
            raise UsageError("the last turn is not finished", "Go on with it first, or say something else.")
        return await self._room.compact(self._engine.provider, scrub(self._masker.text(focus)), "user")

    def steer(self, text: str) -> None:
        """Say something to the running turn: it joins at the next step, or else stands before the next prompt."""
        self._queue.append(User((Text(scrub(self._masker.text(text))),), "steer"))

    def set_mode(self, mode: Mode) -> None:
        """Switch the mode, at once for every call not yet judged. Raises UsageError without the dangerous flag."""
        if mode == "bypassPermissions" and not self._settings.unsafe:
            raise UsageError(
                "bypassPermissions needs --dangerously-skip-permissions at the start", "Use acceptEdits instead."
            )
        if mode != self.mode:
            self.mode = mode
            self._boundary.policy = replace(self._boundary.policy, mode=mode)
            if self._session.state.entries:
                self._queue.append(mode_changed(mode))
            self._emit(ModeChanged(mode))

    def set_model(self, name: str) -> None:
        """Use another model of the same server from the next turn on. Raises UsageError where there is no other."""
        model = self._model
        if model.reopen is None:
            raise UsageError(f"{model.profile.id} has one model only", "Start again with another --provider.")
        price = price_of(model.profile, name, home_path(self._env))
        check_price(self._settings, price, name)
        self._meter.price = price
        model.provider = model.reopen(name)
        self._engine.provider = Checked(model.provider, self._masker)
        self.model = model.name = name
        self.effort = model.options.effort

    def set_effort(self, level: str) -> None:
        """Another reasoning effort from the next turn on. Raises UsageError where the model does not take it."""
        model = self._model
        level = effort_of(model.profile, self.model, level, home_path(self._env))
        model.options = replace(model.options, effort=level)
        self.effort, self._effort_chosen = level, True

    def tree(self) -> Tree:
        """The turns of the session on all its branches. Raises StoreError."""
        return tree_of(self._session.records())

    def rewind(self, to: str, reason: Literal["rewind", "switch"] = "rewind") -> None:
        """Go on from the record `to`, `before` or `end` of a turn; what came after it stays as a branch of its own.

        Between two turns only. Files, processes and the shell stay as they are. Raises AgenyxError, and moves nothing,
        where a step would be torn.
        """
        self._engine.interrupt()
        if to != self._session.state.head:
            self._session.move(records.Head(to, reason))

    def files(self) -> Files:
        """What the calls of this session did to files, and the way back. Between two turns only."""
        from agenyx.app.rewind import Files  # most sessions never go back

        return Files(self._root, self._session, self._queue.append)

    def branch(self, title: str = "") -> None:
        """Begin another branch here, with a name: the next turn is its first. Raises AgenyxError."""
        self._engine.interrupt()
        self._session.move(records.Head(self._session.state.head, "branch", scrub(title)))

    def rules(self) -> tuple[Rule, ...]:
        """The permission rules that hold now, those set while answering last."""
        return (*self._boundary.policy.rules, *self._session.state.rules)

    def status(self) -> Status:
        """The facts of the session as they are now."""
        state = self._session.state
        facts = git.facts(self._root.path)
        return Status(
            self.session_id,
            self._model.profile.id,
            self.model,
            self.effort,
            self.mode,
            self._root.path,
            self.persistent,
            state.usage,
            pressure(state) if state.last_usage else None,
            facts.branch if facts else "",
            self._meter.cost,
            self._room.choice.window
            or self._model.windows.get(self.model)
            or window_of(self._model.profile, self.model, home_path(self._env)),
            self._room.levels() if state.last_usage else None,
            parts(state),
            state.breaks,
        )

    async def clear(self) -> Conversation:
        """Open a new session with the same settings, then close this one."""
        effort = self.effort if self._effort_chosen else self._settings.effort
        settings = replace(self._settings, resume="", continue_=False, mode=self.mode, model=self.model, effort=effort)
        ports = self._ports
        from agenyx.app.start import open_conversation  # which builds conversations

        fresh = await open_conversation(settings, self._env, ports.emit, ports.approver, ports.barrier)
        await self.close()
        return fresh

    def _take(self) -> list[User]:
        taken, self._queue = self._queue, []
        return taken

    async def close(self) -> None:
        """End the processes of the session and release it. Idempotent parts only; call it once."""
        await self._parts.jobs.close()
        await self._processes.close()
        await self._model.close()
        self._opened.close()

    def _head(self) -> list[records.Body]:
        """The records that a session needs before this prompt: all at first, later only what changed."""
        state, model, bodies = self._session.state, self._model, list[records.Body]()
        binding = records.Binding(model.profile.id, model.provider.binding, model.name)
        before, rebound = state.binding, False
        if state.opened is None or state.opened.workspace != self._root.path:
            place = place_of(self._root.path)
            bodies.append(records.Opened(self._session.id, self._root.path, _version(), place=place))
        moved = before is not None and replace(before, rebound=False) != binding
        if before is None:
            bodies.append(binding)
        elif moved:
            was, now = before.model, model.name
            if before.profile != model.profile.id or before.fingerprint != model.profile.fingerprint(was):
                rebound = self._settings.rebind
                was, now = f"{was} of {before.profile}", f"{now} of {model.profile.id}"
            self._emit(PrefixBroke(f"the model changed from {was} to {now}"))
            bodies.append(replace(binding, rebound=rebound))
        if state.prefix is None:
            extra = (self._instructions,) if self._instructions else ()
            system = (*system_sections(model.size), *extra)
            bodies.append(make_prefix(model.options, system, specs(self._registry, self._parts.shell)))
        else:
            chosen = specs(self._registry, self._parts.shell) if self._settings.tool_set or rebound else None
            head = renewed(state.prefix, model.options, chosen, moved=moved)
            if head is not None:
                self._emit(PrefixBroke(head.cause))
                bodies.append(head)
        if not state.entries:
            bodies.append(records.Prompt(self._environment()))
        if state.opened is not None and state.opened.workspace != self._root.path:
            bodies.append(records.Prompt(workspace_moved(state.opened.workspace, self._root.path)))
        if state.rewound:
            self._emit(PrefixBroke("the conversation goes on from another point"))
            bodies.append(records.Prompt(rewound(self.mode)))
        return bodies

    def _environment(self) -> User:
        facts, uname = git.facts(self._root.path), os.uname()
        words = f"branch {facts.branch or '(detached)'}, HEAD {facts.head[:12] or '(no commit)'}" if facts else ""
        platform = f"{uname.sysname} {uname.machine}"
        return environment(self._session.clock(), platform, self._root.path, words, self.mode)


def _version() -> str:
    try:
        from agenyx._version import DESCRIBE
    except ImportError:
        return "unknown"
    return DESCRIBE
