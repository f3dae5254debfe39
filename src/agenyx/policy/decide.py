"""The judgement of one call: a pure function of its effects and the person's policy. First match wins."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agenyx.core.tools import Effects, PathRef
from agenyx.core.verdict import Mode, Reason, Verdict
from agenyx.policy.programs import refused


class Policy(Struct, frozen=True):
    """What the person allows. `unsafe` is the dangerous flag, without which bypassPermissions is no mode."""

    mode: Mode = "default"
    unsafe: bool = False


def decide(name: str, effects: Effects, policy: Policy) -> Verdict:
    """Judge the call of tool `name`. The order follows AgentX §6.2, as far as its inputs exist."""
    verdict = _judge(name, effects, policy)
    if verdict.decision == "ask" and policy.mode == "dontAsk":
        return Verdict("deny", (*verdict.reasons, Reason("mode", "the mode dontAsk refuses what would be asked")))
    return verdict


def _judge(name: str, effects: Effects, policy: Policy) -> Verdict:
    for reason in _forbidden(effects):
        return Verdict("deny", (reason,))
    if policy.mode == "plan" and effects.acts:
        return Verdict("deny", (Reason("mode", "plan mode only looks; present the plan, the user switches the mode"),))
    guarded = [ref for ref in _paths(effects) if ref.protected]
    if guarded:
        # Also in bypassPermissions: a repository must not gain secrets or hooks by a mode that was meant for its files.
        return Verdict("ask", tuple(Reason("path", f"{ref.shown}: {ref.protected}", part=ref.shown) for ref in guarded))
    if effects.interact:
        return Verdict("ask", (Reason("interaction", f"{name} needs an answer"),))
    if policy.mode == "bypassPermissions" and policy.unsafe:
        return Verdict("allow", (Reason("mode", "permissions are bypassed"),))
    if not effects.acts:
        return Verdict("allow", (Reason("default", "it only reads the workspace"),))
    if policy.mode == "acceptEdits" and not (effects.opaque or effects.commands or effects.hosts or effects.removes):
        return Verdict("allow", (Reason("mode", "edits in the workspace are accepted"),))
    return Verdict("ask", (_why(name, effects),))


def _forbidden(effects: Effects) -> Iterator[Reason]:
    for ref in _paths(effects):
        if ref.problem:
            yield Reason("path", ref.problem, part=ref.shown)
    for command in effects.commands:
        if program := refused(command):
            yield Reason("safety", f"Agenyx never runs {program}", part=program)


def _paths(effects: Effects) -> tuple[PathRef, ...]:
    return (*effects.reads, *effects.writes, *effects.removes)


def _why(name: str, effects: Effects) -> Reason:
    if effects.opaque:
        return Reason("shell" if effects.commands else "default", effects.opaque)
    if effects.hosts:
        return Reason("default", f"{name} contacts {', '.join(effects.hosts)}")
    changed = ", ".join(ref.shown for ref in (*effects.writes, *effects.removes))
    return Reason("default", f"{name} changes {changed}" if changed else f"{name} acts outside the conversation")
