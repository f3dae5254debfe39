"""Hooks of a session beside its calls: its start and end, prompts, summaries, questions, notifications.

Knows no program and no file: that is behind `Ports.hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from agenyx.agent.hooked import fire, texts, users, value_of
from agenyx.agent.ports import Approver, Emitter, Hooks
from agenyx.agent.racing import Racing, personal
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.messages import User
from agenyx.core.tools import Effects
from agenyx.session.records import Hooked
from agenyx.session.session import Session

StartSource = Literal["startup", "resume", "clear", "compact", "fork"]
EndReason = Literal["clear", "resume", "logout", "prompt_input_exit", "other"]
IDLE = 60.0  # seconds after a turn until a person is told that they are waited for


class Occasions:
    """One session's. `names` tells the tool and arguments that a call means, by its name and arguments."""

    def __init__(
        self,
        session: Session,
        hooks: Hooks,
        emit: Emitter,
        names: Callable[[str, str], tuple[str, str]],
        idle: float = IDLE,
    ) -> None:
        self._session, self._hooks, self._emit, self._names = session, hooks, emit, named(names)
        self._idle_after = idle
        self._begun, self._begun_with = False, list[User]()
        self._trigger = "auto"
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    # --- session and prompts ---------------------------------------------------------------------------------------

    async def begin(self, source: StartSource, model: str) -> list[User]:
        """Before the first turn of this process: what hooks have to add to it. Later there is nothing."""
        self.busy()
        if self._begun:
            kept, self._begun_with = self._begun_with, []
            return kept
        self._begun = True
        return users("SessionStart", (await self._say("SessionStart", source, source=source, model=model)).context)

    def keep(self, users: list[User]) -> None:
        """Put what hooks had to add on record where it cannot be said yet: it comes with the next request or prompt."""
        if users and self._session.state.opened is not None:
            self._session.append(Hooked("SessionStart", context=tuple(user.text for user in users)))
        elif users:
            self._begun_with = users

    async def submit(self, prompt: str, prompt_id: str) -> Said:
        """Ask about a prompt before anything of it is written; `Said.decision` "deny" and `Said.stop` hold it back."""
        if not self._hooks.wants("UserPromptSubmit"):
            return NOTHING
        return await self._say("UserPromptSubmit", "", prompt=prompt, prompt_id=prompt_id)

    async def end(self, reason: EndReason) -> None:
        """After the last turn. What still runs of notifications is ended."""
        self.busy()
        if self._begun:
            self._begun = False
            await self._say("SessionEnd", reason, reason=reason)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- summaries -------------------------------------------------------------------------------------------------

    async def compacting(self, by: str, focus: str) -> str:
        """Before a summary: what more to keep. Raises UsageError where a hook holds back one that the user wanted."""
        self._trigger = "manual" if by == "user" else "auto"
        said = await self._say("PreCompact", self._trigger, trigger=self._trigger, custom_instructions=focus)
        if said.decision == "deny" or said.stop:
            why = f"a hook held the summary back: {said.reason or 'it gave no reason'}"
            if by == "user":
                raise UsageError(why, "See /hooks. When the window is full it is made nevertheless.")
            self._emit(Notice("warning", f"{why[0].upper()}{why[1:]}. It was made nevertheless, to make room."))
        return "\n".join(said.context)

    async def compacted(self, summary: str) -> None:
        """After a summary; what hooks add goes behind it."""
        await self._say("PostCompact", self._trigger, trigger=self._trigger, compact_summary=summary)
        said = await self._say("SessionStart", "compact", source="compact")
        if said.context:
            self._session.append(Hooked("SessionStart", context=tuple(texts("SessionStart", said.context))))

    # --- notifications ---------------------------------------------------------------------------------------------

    def notify(self, kind: str, message: str) -> None:
        """Let hooks tell a person who looks elsewhere. Waits for nothing."""
        if self._hooks.wants("Notification"):
            data = {"message": message, "title": "Agenyx", "notification_type": kind}
            task = asyncio.ensure_future(self._told(Fired("Notification", kind, data)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def idle(self) -> None:
        """A turn is over. Unless another begins, hooks are told in a while."""
        if self._hooks.wants("Notification"):
            later = asyncio.get_running_loop().call_later
            self._timer = later(self._idle_after, self.notify, "idle_prompt", "Agenyx waits for your next prompt")

    def busy(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _told(self, fired: Fired) -> None:
        await fire(self._hooks, self._emit, fired)

    # --- questions -------------------------------------------------------------------------------------------------

    def asking(self, approver: Approver) -> Approver:
        """The approver, with the hooks beside it."""
        return Racing(self, approver)

    async def answered(self, approval: Approval) -> Decision | None:
        """What hooks answer in the place of a person, None when they leave it to them.

        They may always refuse. A yes of theirs counts only where the question is one for want of a rule: what a rule,
        a hook or the protection of a path puts before a person is for that person.
        """
        name, args = self._names(approval.call.name, approval.args or approval.call.args)
        rules = [rule.text for rule in approval.verdict.offer]
        whose = {"agent_id": approval.agent} if approval.agent else {}
        data = {"tool_name": name, "tool_input": value_of(args), "tool_use_id": approval.call.id}
        fired = Fired("PermissionRequest", name, {**data, **whose, "permission_suggestions": rules})

        async def effects() -> Effects:
            return approval.effects

        said, at = await fire(self._hooks, self._emit, fired, effects), self._session.clock()
        if said.decision == "deny" or said.stop:
            why = f"a hook refused it: {said.reason}" if said.reason else "a hook refused it."
            return Decision(approval.id, "deny", message=why, stop=said.stop, by="hook", at=at)
        if said.decision != "allow":
            return None
        if personal(approval):
            self._emit(Notice("warning", f"A hook would allow {name}, but this question is one for you."))
            return None
        return Decision(approval.id, "allow", args=said.args, by="hook", at=at)

    def wants(self, event: Event) -> bool:
        return self._hooks.wants(event)

    async def _say(self, event: Event, subject: str, **data: Any) -> Said:
        if not self._hooks.wants(event):
            return NOTHING
        return await fire(self._hooks, self._emit, Fired(event, subject, data))


def prompt_context(said: Said) -> list[User]:
    """What hooks add to a prompt: an entry of its own behind it."""
    return users("UserPromptSubmit", said.context)


def named(resolve: Callable[[str, str], tuple[str, str]]) -> Callable[[str, str], tuple[str, str]]:
    """`Registry.resolve` that leaves alone what it cannot take apart."""

    def names(name: str, args: str) -> tuple[str, str]:
        try:
            return resolve(name, args)
        except json.JsonError:
            return name, args

    return names
