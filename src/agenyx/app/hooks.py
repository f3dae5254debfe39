"""The hooks of a conversation: made when the first event asks, from files and from functions of the host.

Where there are none, a conversation pays for one look whether there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.hooked import waiting
from agenyx.agent.ports import Emitter, Ports
from agenyx.config.home import home_path
from agenyx.core.events import Notice, Outcome, TurnFinished, TurnStarted
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.messages import User
from agenyx.core.tools import Effects
from agenyx.proc.spawn import Processes
from agenyx.shell.program import Choice

if TYPE_CHECKING:
    from agenyx.agent.occasions import EndReason, Occasions, StartSource
    from agenyx.app.compose import Source
    from agenyx.app.extensions import Extensions
    from agenyx.app.runtime import Conversation
    from agenyx.ext.hooks.callback import Callback
    from agenyx.ext.hooks.model import Entry, Hook
    from agenyx.ext.hooks.runner import Heard, Runner


class Hung:
    """What hangs on the events of one conversation; a port of hooks itself.

    `source` is what the conversation was composed from. `began` says how it came about, for SessionStart.
    """

    def __init__(
        self,
        conversation: Conversation,
        source: Source,
        emit: Emitter,
        extensions: Extensions | None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self._conversation, self._source, self._emit = conversation, source, emit
        self._extensions, self.callbacks = extensions, callbacks
        self._runner: Runner | None = None
        self._occasions: Occasions | None = None
        self._there: bool | None = None
        self._untold: list[Notice] = []
        self.heard: Heard | None = None  # told of each hook that runs, as by the runner
        resumed = source.session.state.prefix is not None
        self.began: StartSource = "startup" if not resumed else "fork" if source.settings.fork else "resume"

    # --- the port --------------------------------------------------------------------------------------------------

    def wants(self, event: Event) -> bool:
        if self._there is None:
            self._there = bool(self.callbacks or self._source.settings.hooks) or (
                self._extensions is not None and self._extensions.any_hooks()
            )
            if self._there:
                self._make()
        return self._runner is not None and self._runner.wants(event)

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        return await self._runner.fire(fired, effects) if self.wants(fired.event) and self._runner else NOTHING

    # --- the conversation ------------------------------------------------------------------------------------------

    def ports(self, ports: Ports) -> Ports:
        """The ports with the hooks among them, and what hooks had to say among what is said to the turn."""
        session, taken = self._source.session, ports.inbox
        ports = replace(ports, inbox=lambda: (*waiting(session.state), *taken()))
        self.wants("SessionStart")
        if self._runner is None:
            return ports
        from agenyx.agent.occasions import Occasions

        conversation = self._conversation
        occasions = Occasions(
            self._source.session, self, self._emit, lambda name, args: conversation.parts.registry.resolve(name, args)
        )
        self._occasions = occasions
        asking = occasions.asking(ports.approver)
        compacting, compacted = occasions.compacting, occasions.compacted
        return replace(ports, hooks=self, approver=asking, compacting=compacting, compacted=compacted)

    async def prompt(self, typed: User) -> tuple[list[User], list[User], TurnFinished | None]:
        """What comes before and behind a prompt, and how the turn ended if hooks hold the prompt back."""
        told = waiting(self._source.session.state)
        self._tell()
        if self._occasions is None:
            return told, [], None
        from agenyx.agent.occasions import prompt_context

        started = await self._occasions.begin(self.began, self._conversation.model)
        said = await self._occasions.submit(typed.text, typed.prompt_id)
        if said.decision != "deny" and not said.stop:
            return [*told, *started], prompt_context(said), None
        self._occasions.keep(started)
        self._emit(TurnStarted(typed.said, self._conversation.model, self._conversation.mode))
        why = f"A hook held the prompt back: {said.reason or 'it gave no reason.'}"
        over = TurnFinished(Outcome("stopped", why), "", 0, 0.0)
        self._emit(over)
        return [], [], over

    async def go_on(self) -> None:
        """An open turn is taken up."""
        self._tell()
        if self._occasions is not None:
            self._occasions.keep(await self._occasions.begin(self.began, self._conversation.model))

    def over(self, finished: TurnFinished) -> TurnFinished:
        """A turn has ended, and the person is waited for."""
        if self._occasions is not None and finished.outcome.kind != "waiting":
            self._occasions.idle()
        return finished

    async def end(self, reason: EndReason) -> None:
        if self._occasions is not None:
            await self._occasions.end(reason)

    def _tell(self) -> None:
        untold, self._untold = self._untold, []
        for notice in untold:
            self._emit(notice)

    # --- making ----------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        from agenyx.ext.hooks.callback import CallbackHook
        from agenyx.ext.hooks.config import read

        sources = self._extensions.sources("hooks") if self._extensions is not None else ()
        if given := self._source.settings.hooks:
            from agenyx.app.host_settings import hooks_of

            sources = (*sources, hooks_of(given))
        entries, problems = read(sources)
        self._untold = [Notice("warning", f"{one.source}: {one.text}.", "See: agenyx hooks list") for one in problems]
        hooks: list[tuple[Entry, Hook]] = [(one.entry, CallbackHook(one)) for one in self.callbacks]
        source = self._source
        ground = Ground(
            source.root.path,
            source.env,
            source.processes,
            source.model.secrets,
            source.chosen.shell if source.chosen else "auto",
            os.path.join(source.session.directory, "hooks"),
            self._extensions is not None and self._extensions.trusted(),
        )
        if entries:
            hooks += made(entries, ground, self._untold.append)
        if hooks:
            self._runner = runner(hooks, ground, self._common)
            self._runner.heard = lambda number, entry, result: self.heard and self.heard(number, entry, result)

    def _common(self) -> Mapping[str, Any]:
        source, conversation = self._source, self._conversation
        state = source.session.state
        prompts = [entry for entry in state.entries[state.turn_entry :] if isinstance(entry, User)]
        typed = next((user.prompt_id for user in prompts if user.origin == "typed"), "")
        path = os.path.join(source.session.directory, "transcript.jsonl") if conversation.persistent else ""
        return {
            "session_id": source.session.id,
            "transcript_path": path,
            "cwd": conversation.parts.shell.where() if hasattr(conversation, "parts") else source.root.path,
            "permission_mode": conversation.mode,
            **({"prompt_id": typed} if typed else {}),
        }


class Ground(Struct, frozen=True):
    """What hooks run from. `root` is the real path of the workspace, `claims` a folder for those with `once`. Without
    `trusted` no script of the workspace runs."""

    root: str
    env: Mapping[str, str]
    processes: Processes
    secrets: tuple[str, ...]
    shell: Choice = "auto"
    claims: str = "/nonexistent"
    trusted: bool = False


def made(entries: Sequence[Entry], ground: Ground, tell: Callable[[Notice], None]) -> list[tuple[Entry, Hook]]:
    """What runs each of these entries."""
    from agenyx.config.configured import keys
    from agenyx.ext.hooks.command import CommandHook
    from agenyx.ext.hooks.environment import hook_env
    from agenyx.ext.hooks.http import HttpHook
    from agenyx.ext.hooks.scripts import foreign, unchanged

    root, env = ground.root, ground.env
    hidden, refused = keys(env, home_path(env)), dict[str, None]()
    found: list[tuple[Entry, Hook]] = []
    for entry in entries:
        if entry.kind == "http":
            found.append((entry, HttpHook(entry, env, hidden)))
            continue
        child, kept = hook_env(env, root, entry.allowed, ground.secrets)
        refused.update(dict.fromkeys(kept))
        check, why = unchanged(entry, root), "" if ground.trusted else foreign(entry, root)
        check = (lambda why=why: why) if why else check
        found.append((entry, CommandHook(entry, ground.processes, root, child, ground.shell, check)))
    if refused:
        tell(Notice("warning", f"Hooks do not get {', '.join(refused)}: programs of hooks get no credentials."))
    return found


def runner(hooks: Sequence[tuple[Entry, Hook]], ground: Ground, common: Callable[[], Mapping[str, Any]]) -> Runner:
    from agenyx.core.redact import Masker
    from agenyx.ext.hooks.runner import Runner
    from agenyx.policy.decide import Policy, applies
    from agenyx.policy.rules import parse_rule
    from agenyx.tools.builtin import builtin_tools
    from agenyx.tools.registry import Registry

    person = os.path.realpath(ground.env["HOME"]) if ground.env.get("HOME") else ""
    policy = Policy(workspace=ground.root, home_dir=person)
    aliases = Registry(builtin_tools()).aliases()

    def condition(rule: str, name: str, effects: Effects) -> bool:
        return applies(parse_rule(rule, "ask", "user", aliases=aliases), name, effects, policy)

    return Runner(hooks, common, Masker(ground.secrets), condition, ground.claims)
