"""The reasons of a verdict in words for a person. Owns the wording; decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from agenyx.core.tools import Command, Concern, Effects
from agenyx.core.verdict import Reason, Rule

_DOES = {"allow": "allows", "ask": "asks about", "deny": "denies"}
_MOST = 120


def ruled(rule: Rule, part: str) -> Reason:
    return Reason("rule", f"{_rule(rule)} {_DOES[rule.decision]} {_cut(part)}", rule, part)


def may(rule: Rule, part: str) -> Reason:
    """For a rule that may speak about a command, of which not every word is seen or understood."""
    text = (
        f"{_cut(part)} may be what {_rule(rule)} {_DOES[rule.decision]}: not all of its words are known before it runs"
    )
    return Reason("rule", text, rule, part)


def concerns(found: Sequence[Concern], level: str) -> list[Reason]:
    return [Reason("safety", concern.text, part=concern.part) for concern in found if concern.level == level]


def unruled(name: str, effects: Effects, commands: Sequence[Command]) -> list[Reason]:
    """Why a call is asked about that nothing forbids and nothing allows; `commands` are those that no rule covers."""
    found = [Reason("shell", f"{_cut(named(command))}{_does(command)}", part=named(command)) for command in commands]
    if effects.opaque:
        found.append(Reason("shell" if effects.commands else "default", effects.opaque))
    outside = [ref for ref in (*effects.writes, *effects.removes) if ref.root is None]
    found += [Reason("path", f"{ref.shown} is outside the workspace", part=ref.shown) for ref in outside]
    if found:
        return found
    if effects.commands:
        return [Reason("shell", "no rule allows it")]
    if effects.hosts:
        return [Reason("default", f"{name} contacts {host}; no rule allows it", part=host) for host in effects.hosts]
    changes = (*effects.writes, *effects.removes)
    if changes:
        return [Reason("default", f"{name} changes {ref.shown}", part=ref.shown) for ref in changes]
    beyond = [ref for ref in effects.reads if ref.root is None]
    if beyond:
        return [Reason("path", f"{ref.shown} is outside the workspace", part=ref.shown) for ref in beyond]
    return [Reason("default", f"{name} acts outside the conversation")]


def named(command: Command) -> str:
    """The command in one line: its words as a shell would need them quoted."""
    from agenyx.policy.match_shell import describe  # not needed before the first command

    return describe(command)


def _does(command: Command) -> str:
    """What a command does and why no rule covers it: ` contacts origin; no rule allows it`."""
    kinds = set(command.kinds)
    parts: list[str] = []
    if "unknown" in kinds and not command.why:
        parts.append("is a program that Agenyx does not know")
    if "network" in kinds or command.hosts:
        parts.append(f"contacts {', '.join(command.hosts)}" if command.hosts else "uses the network")
    if "removes" in kinds or command.removes:
        parts.append(f"removes {_list([ref.shown for ref in command.removes])}")
    if "writes" in kinds or command.writes:
        parts.append(f"changes {_list([ref.shown for ref in command.writes])}")
    if "runs" in kinds:
        parts.append("runs code that its words do not show")
    if not (parts or command.why):
        parts.append("only reads" if kinds else "does nothing by itself")
    if beyond := [ref.shown for ref in command.reads if ref.root is None]:
        parts = [part for part in parts if part != "only reads"] + [f"reads {_list(beyond)} outside the workspace"]
    told = ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + "".join(parts[-1:])
    why = f": {command.why}" if command.why else ""
    return f"{' ' * bool(told)}{told}{why}; no rule allows it"


def _list(names: Sequence[str]) -> str:
    if not names:
        return "files"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _rule(rule: Rule) -> str:
    origin = {"user": "your rule", "workspace": "the workspace's rule", "flag": "the flag's rule"}
    place = f" ({rule.where})" if rule.where else ""
    return f"{origin.get(rule.source, 'the rule of this session')} {_cut(rule.text)}{place}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
