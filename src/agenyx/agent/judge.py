"""What has to be known of a call before anything happens: resolve, validate, project, decide. Changes nothing.

Knows no session, no approver and no surface: the boundary acts on the answer, `agenyx permissions explain` prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from agenyx.agent.asking import changes, with_changes
from agenyx.agent.hooked import Before, weighed
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict
from agenyx.policy.consent import covers
from agenyx.policy.decide import Policy, decide
from agenyx.tools.registry import Registry, parse_args
from agenyx.tools.spec import Look, Outcome, Tool, subject_of


class Judged(Struct, frozen=True):
    """A call that can run. `asks` when a human has to decide first, or again. `text` are its arguments as JSON."""

    tool: Tool[Any]
    args: Struct
    effects: Effects
    verdict: Verdict
    asks: bool
    text: str = "{}"


class Refused(Struct, frozen=True):
    """A call that ends here, with its effects as far as they were seen, and the verdict if it was one."""

    outcome: Outcome
    effects: Effects = Effects()
    verdict: Verdict | None = None


def _unguarded() -> str:
    return ""


def _as_it_is(policy: Policy) -> Policy:
    return policy


class Judge:
    """`look` makes what projecting may use. `guard` says why nothing may be done any more, "" while all is well.

    `narrow` makes of a policy the one that holds: a subagent's is its parent's.
    """

    def __init__(
        self,
        registry: Registry,
        look: Callable[[], Look],
        guard: Callable[[], str] = _unguarded,
        narrow: Callable[[Policy], Policy] = _as_it_is,
    ) -> None:
        self.registry, self._look, self.guard, self._narrow = registry, look, guard, narrow

    async def __call__(
        self,
        name: str,
        args: str,
        policy: Callable[[], Policy],
        asked: Approval | None = None,
        answer: Decision | None = None,
        before: Before | None = None,
    ) -> Judged | Refused:
        """Judge the call of tool `name` with its arguments as JSON text. Never raises for what these say.

        `policy` is asked at the end: the person may change it while a call is looked at. `answer` is what a human has
        said to the question `asked`; a yes counts only for what was shown. `before` asks the hooks, who see the checked
        arguments; what they change is checked again.
        """
        if lost := self.guard():
            return refused_by_guard(lost)
        try:
            name, args = self.registry.resolve(name, args)
        except json.JsonError as error:
            return _malformed(error, args)
        tool = self.registry.find(name)
        if tool is None:
            known = ", ".join(self.registry.names())
            return Refused(Outcome.error(f"There is no tool named {name!r}. The tools are: {known}.", "unavailable"))
        try:
            parsed = parse_args(tool, args)
        except json.JsonError as error:
            return _malformed(error, args)
        said = await before(tool, args, lambda: tool.project(parsed, self._look())) if before else None
        if said is not None and (said.decision == "deny" or said.stop):
            return Refused(Outcome.error(f"Denied by a hook: {said.reason or 'it gave no reason.'}", "denied"))
        if said is not None and said.args is not None:
            try:
                args, parsed = said.args, parse_args(tool, said.args)
            except json.JsonError as error:
                return Refused(Outcome.error(f"Not run: the arguments that a hook gave are not valid: {error}."))
        try:
            effects = await tool.project(parsed, self._look())
        except Exception as error:  # noqa: BLE001 - the rim around a tool: its errors are data
            return Refused(Outcome.error(f"{tool.name} failed while it was checked: {say(error)}"))
        verdict = decide(tool.name, effects, self._narrow(policy()), subject_of(tool, parsed), weighed(said))
        if lost := self.guard():
            return refused_by_guard(lost)
        if verdict.decision == "deny":
            return Refused(Outcome.error(f"Denied: {verdict.text}.", "denied"), effects, verdict)
        asks = verdict.decision == "ask"
        if asks and asked is not None and answer is not None and covers(asked, answer, effects):
            changed = await changes(asked, self._look().seen)
            asks, verdict = bool(changed), with_changes(verdict, changed)
        return Judged(tool, parsed, effects, verdict, asks, args)


def _malformed(error: json.JsonError, args: str) -> Refused:
    return Refused(Outcome.error(f"The arguments are not valid: {error}. You sent: {args[:2000]}", "malformed"))


def refused_by_guard(reason: str) -> Refused:
    """The answer to every call once the home is not what it was."""
    return Refused(Outcome.error(f"Denied: {reason}.", "denied"))


def say(error: Exception) -> str:
    """An unexpected error in words."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
