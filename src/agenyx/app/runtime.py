"""One conversation as a surface sees it: prompts in, answers of the engine out, and what the person may change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from agenyx.agent.budget import Limits, Meter
from agenyx.agent.context import Choice, parts, pressure
from agenyx.agent.engine import Engine
from agenyx.agent.notices import mode_changed, restored
from agenyx.agent.planmode import ExitPlanMode
from agenyx.agent.ports import Emitter, Ports
from agenyx.app.compose import Source, compose
from agenyx.app.crew import Crew
from agenyx.app.extensions import Extensions
from agenyx.app.facts import check_price, effort_kept, effort_of, price_of, window_of
from agenyx.app.guidance import Guidance
from agenyx.app.hooks import Hung
from agenyx.app.models import Model
from agenyx.app.opening import Opened
from agenyx.app.policies import Chosen
from agenyx.app.preamble import Preamble
from agenyx.app.room import make_room
from agenyx.app.settings import Settings
from agenyx.app.status import Status
from agenyx.app.terms import regained
from agenyx.config.guard import HomeGuard
from agenyx.config.home import home_path
from agenyx.core.errors import StoreError, UsageError
from agenyx.core.events import CallAccepted, ModeChanged, Notice, TurnFinished, TurnStarted
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
    from agenyx.agent.occasions import EndReason
    from agenyx.app.diagnostics import Tell
    from agenyx.app.fallback import Fallback
    from agenyx.app.mcp import Mcp
    from agenyx.app.rewind import Files
    from agenyx.app.skills import Library
    from agenyx.app.telemetry.observed import Observed
    from agenyx.ext.hooks.callback import Callback


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
        guard: HomeGuard | None = None,
        chosen: Chosen | None = None,
        extensions: Extensions | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        session = opened.session
        self.session_id, self.model, self.persistent = session.id, model.name, opened.persistent
        self.mode: Mode = settings.mode
        # A resumed session keeps the effort of its stored head unless another one was chosen, or the model refuses it.
        self.extensions = extensions
        self._effort_chosen = bool(settings.effort or env.get("AGENYX_REASONING_EFFORT", "").strip())
        stored = session.state.prefix
        if stored is not None and not self._effort_chosen:
            effort = effort_kept(model.profile, model.name, stored.options.effort, home_path(env))
            model.options = replace(model.options, effort=effort)
        self.effort = model.options.effort
        self._settings, self._opened, self._session, self._model = settings, opened, session, model
        self._env, self._ports, self._queue = env, ports, list[User]()
        self.held: list[records.Body] = []  # what a command changed before the prompt that it belongs to
        self._processes, self._emit, self._root = processes, emit, root
        source = Source(settings, env, root, session, model, processes, guard, chosen)
        self.hooks = Hung(self, source, emit, extensions, callbacks)
        self.guidance = Guidance(source, extensions, persistent=opened.persistent)
        ports = replace(ports, inbox=self._take, touched=self.guidance.touched)
        made = self.parts = compose(source, self.hooks.ports(ports), emit)
        self._masker, self._registry, self._boundary = made.masker, made.registry, made.boundary
        self._preamble = Preamble(made, self.guidance)
        steps = settings.max_steps or model.max_steps or MAX_STEPS
        self._meter = Meter(
            Limits(settings.max_usd or None, settings.max_tokens or None),
            price_of(model.profile, model.name, home_path(env)),
        )
        pages, choice = self._registry.find("ToolResultRead") is not None, chosen.context if chosen else Choice()
        room = self._room = make_room(session, model, env, made.ports, emit, self._meter, pages, choice)
        provider = Checked(model.provider, made.masker)
        self._engine = Engine(session, provider, made.boundary, made.ports, emit, steps, self._meter, room)
        self._turn: asyncio.Task[object] | None = None
        self._fallback: Fallback | None = None
        if settings.fallback:
            from agenyx.app.fallback import Fallback  # few conversations have one

            self._fallback = Fallback(self, settings.fallback)
            room.instead = self._fallback.take_over
        made.registry.add(ExitPlanMode(self))
        self.guidance.add_tools(made.registry)
        self.crew = Crew(made, self._meter, steps, choice, extensions, self._halt)
        self.library: Library | None = None
        self.mcp: Mcp | None = None  # set by who opens the conversation, where there are servers
        self.telemetry: Observed | None = None  # the same, where it is switched on
        self.diagnosed: Tell | None = None  # who is told of what happens beside events
        if extensions is not None and extensions.sources("skills"):
            from agenyx.app.skills import Library  # only where there are skills

            self.library = Library(self, extensions)

    @property
    def unfinished(self) -> bool:
        """Whether the last turn was left open by a crash, so that `go_on` continues it."""
        return self._session.state.outcome is None and bool(self._session.state.turn)

    @property
    def asked(self) -> frozenset[str]:
        """The calls of the open turn, by id, about which a person was asked."""
        return frozenset(call.call.id for call in self._session.state.pending.values() if call.approval)

    async def prompt(self, text: str | User, prompt_id: str = "") -> TurnFinished:
        """Run one turn to its end. Raises StoreError if the prompt itself cannot be written; nothing has run then.

        `prompt_id` is the host's own: a prompt that is sent again, also after a resume, raises UsageError. A User is
        what a command made of what was typed.
        """
        session, state = self._session, self._session.state
        if prompt_id and prompt_id in state.prompts:
            raise UsageError(f"the prompt {prompt_id} was taken up already", "Give another prompt an id of its own.")
        user = text if isinstance(text, User) else User((Text(scrub(text)),))
        typed = replace(self._masker.value(user), origin="typed", prompt_id=prompt_id or session.ids.new("prompt"))
        before, behind, over = await self.hooks.prompt(typed)
        if over is not None:
            return over
        if self.mcp is not None:
            behind = [*behind, *await self.mcp.before(typed)]
        if waited := len(state.questions):
            what = "A call that waited for an answer was" if waited == 1 else f"{waited} calls that waited were"
            self._emit(Notice("warning", f"{what} given up, as you went on with something else."))
        self._engine.interrupt()
        if self._fallback is not None:
            self._fallback.back()
        turn = session.ids.new("turn")
        notices = [records.Prompt(user) for user in (*before, *self._take())]
        head = self._preamble(self.mode, self.library, self.mcp)
        if self._room.choice.history == "final" and state.view.trimmable:
            head.append(records.Trimmed())
        held, self.held = self.held, []
        said = map(records.Prompt, (typed, *behind))
        session.append(*head, *notices, *said, *held, turn=turn, sync=True)
        self._emit.turn, self._emit.step = turn, state.steps
        self._emit(TurnStarted(typed.said, self.model, self.mode))
        return await self._run()

    async def go_on(self) -> TurnFinished:
        """Continue the turn that a crash or a wait left open, in the mode and with the rules that it had."""
        self._regain()
        await self.hooks.go_on()
        self._emit.turn, self._emit.step = self._session.state.turn, self._session.state.steps
        self._emit(TurnStarted("", self.model, self.mode))
        for call in self._session.state.pending.values():
            if call.approval is not None and call.result is None:  # who watches has not heard of it yet
                self._emit(CallAccepted(call.call, call.approval.effects))
        return await self._run()

    async def _run(self) -> TurnFinished:
        self._turn = asyncio.current_task()
        prepare, action = self._model.prepare, self._session.next()
        if prepare is not None and isinstance(action, NeedModel):
            self._model.prepare = None
            self._emit(await prepare(action.request))
        return self.hooks.over(await self._engine.run())

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

    def tell(self, user: User) -> None:
        """Have the model know something: at the next step of the turn that runs, or before the next prompt."""
        self._queue.append(self._masker.value(user))

    def set_mode(self, mode: Mode, *, told: bool = False) -> None:
        """Switch the mode for calls not yet judged; `told`: the model knows. UsageError without the dangerous flag."""
        if mode == "bypassPermissions" and not self._settings.unsafe:
            raise UsageError(
                "bypassPermissions needs --dangerously-skip-permissions at the start", "Use acceptEdits instead."
            )
        if mode != self.mode:
            self.mode = mode
            self._boundary.policy = replace(self._boundary.policy, mode=mode)
            if self._session.state.entries and not told:
                self._queue.append(mode_changed(mode))
            self._preamble.told_mode = mode
            if self.unfinished:
                with suppress(StoreError):  # the next write ends the turn and says why; the mode holds nevertheless
                    self._session.append(*self._preamble.terms(self.mode))
            self._emit(ModeChanged(mode))

    def set_model(self, name: str) -> None:
        """Use another model of the same server from the next turn on. Raises UsageError where there is no other."""
        self.switch(name)
        if self._fallback is not None:
            self._fallback.forget(name)

    def switch(self, name: str) -> None:
        """Have another model of the same server answer from the next request on. Raises UsageError."""
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

        return Files(self._root, self._session)

    def branch(self, title: str = "") -> None:
        """Begin another branch here, with a name: the next turn is its first. Raises AgenyxError."""
        self._engine.interrupt()
        self._session.move(records.Head(self._session.state.head, "branch", scrub(title)))

    def title(self) -> str:
        """What the session is called, "" before its first prompt."""
        from agenyx.app import naming  # most conversations are never asked

        return naming.called(self._session.state)

    def rename(self, title: str) -> str:
        """Give the session a title, also while a turn runs; returns it as it was stored. Raises AgenyxError."""
        from agenyx.app import naming

        return naming.call(self._session, title)

    def rules(self) -> tuple[Rule, ...]:
        """The permission rules that hold now, those set while answering last."""
        return (*self._boundary.policy.rules, *self._session.state.rules)

    def window(self) -> int | None:
        """The context window of the model in tokens, None where it is not known."""
        known = self._room.choice.window or self._model.windows.get(self.model)
        return known or window_of(self._model.profile, self.model, home_path(self._env))

    def add_folder(self, path: str) -> tuple[str, bool]:
        """Add a folder to the workspace; its real path, and False where it is part of it already. Between two turns;
        the model is told with the next prompt. Raises UsageError."""
        from agenyx.app.folders import add  # few sessions have any

        found = add(self._root, path, self._env, home_path(self._env), self._root.path, self._emit)
        self._boundary.policy = replace(self._boundary.policy, folders=self._root.folders())
        return found

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
            self.window(),
            self._room.levels() if state.last_usage else None,
            parts(state),
            state.breaks,
        )

    def background(self) -> list[str]:
        """What works in the background and would end with this conversation, a line each."""
        jobs = self.parts.jobs.known()
        return [f"{job.id}: {' '.join(job.command.split())[:200]}" for job in jobs if job.running]

    async def clear(self) -> Conversation:
        """Open a new session with the same settings, then close this one."""
        effort = self.effort if self._effort_chosen else self._settings.effort
        settings = replace(self._settings, resume="", continue_=False, mode=self.mode, model=self.model, effort=effort)
        settings = replace(settings, output_style=self.guidance.style)
        ports = self._ports
        from agenyx.app.start import open_conversation  # which builds conversations

        hooks = self.hooks.callbacks
        fresh = await open_conversation(settings, self._env, ports.emit, ports.approver, ports.barrier, hooks)
        await self.close("clear")
        fresh.hooks.began = "clear"
        if self.diagnosed is not None:
            from agenyx.app.diagnostics import attach  # only with --debug

            attach(fresh, self.diagnosed)
        return fresh

    def _halt(self) -> None:
        if self._turn is not None:
            self._turn.cancel()

    def _take(self) -> list[User]:
        taken, self._queue = [*self._queue, *self.crew.notices(), *self.guidance.notices()], []
        if self.mcp is not None:
            taken += self.mcp.notices()
        return taken

    async def close(self, reason: EndReason = "other") -> None:
        """End the processes of the session and release it; hooks are told why. Call it once.

        Each part is closed whatever became of the others; when the task is cancelled, processes are killed at once.
        """
        async with AsyncExitStack() as parts:
            if self.telemetry is not None:
                parts.push_async_callback(self.telemetry.end, self._emit)
            parts.callback(self._opened.close)
            parts.push_async_callback(self._model.close)
            parts.push_async_callback(self._processes.close)
            parts.push_async_callback(self.parts.jobs.close)
            if self.mcp is not None:
                parts.push_async_callback(self.mcp.close)
            await self.hooks.end(reason)

    def abandoning(self) -> Callable[[], None]:
        """What is called in place of `close` where no loop runs any more; it holds nothing else of the conversation."""
        return self._opened.abandoning(self._processes)

    def _regain(self) -> None:
        """Take over the mode and rules of the open turn, or else put on record which ones it goes on with."""
        state, boundary = self._session.state, self._boundary
        boundary.policy, told = regained(state.terms, self._settings, boundary.policy)
        if told is not None:
            self._emit(told)
        self.mode, before = boundary.policy.mode, state.terms.mode
        if self.mode != before:
            self._queue.append(mode_changed(self.mode))
        if state.restored:
            self._queue.append(restored(state.restored, self._root.path))
        self._session.append(*self._preamble.terms(self.mode), sync=True)
