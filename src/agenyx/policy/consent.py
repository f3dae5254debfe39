"""Whether a human's yes covers what a call would do now: it covers what was shown, and what they wrote themselves."""

from __future__ import annotations

from collections.abc import Iterator

from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Effects


def covers(approval: Approval, decision: Decision, now: Effects) -> bool:
    """Whether the yes to `approval` holds for the effects `now`, which were projected again after it.

    Between question and answer the world may have changed: a link may lead elsewhere. What was not shown is asked
    again. Arguments that the person edited are known to them, but not that they touch something guarded.
    """
    shown = set(_guarded(approval.effects))
    if not set(_guarded(now)) <= shown:
        return False
    return decision.args is not None or set(_touched(now)) <= set(_touched(approval.effects))


def _touched(effects: Effects) -> Iterator[tuple[object, ...]]:
    for role, refs in (("reads", effects.reads), ("writes", effects.writes), ("removes", effects.removes)):
        yield from ((role, ref.real) for ref in refs)
    yield from (("host", host) for host in effects.hosts)
    for command in effects.commands:
        yield ("command", command.argv, command.assigns, command.redirects, command.cwd, command.kinds)


def _guarded(effects: Effects) -> Iterator[tuple[object, ...]]:
    for ref in (*effects.reads, *effects.writes, *effects.removes):
        if ref.protected or ref.problem:
            yield ("path", ref.real, ref.protected, ref.problem)
    for concern in (*effects.concerns, *(concern for command in effects.commands for concern in command.concerns)):
        yield ("concern", concern.level, concern.text, concern.part)
    if effects.opaque:
        yield ("opaque", effects.opaque)
    for command in effects.commands:
        if command.why:
            yield ("why", command.why)
