"""Scopes: what a skill or a Markdown command keeps a turn to. A scope only denies; it never allows anything.

Owns what its rules mean, which is what they mean elsewhere: `Edit` is any change to files, `Read` any look at them,
`Bash(git:*)` commands that begin so. What touches nothing (a list of what is to do, a result that is read on) is in
every scope. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.core.verdict import Reason, Rule, Scope
from agenyx.policy import match_host, match_path, match_shell
from agenyx.policy.match import WRITING, serves, unseen
from agenyx.policy.match_path import Bases
from agenyx.policy.rules import CHANGERS, LOOKERS, parse_rule, split_rules

_MOST_RULES = 256
_SHOWN = 300  # characters of the rules in a reason


def scope_of(by: str, items: Iterable[str], aliases: Mapping[str, str] | None = None) -> tuple[Scope, tuple[str, ...]]:
    """The scope that `allowed-tools` spells, and a phrase for each part that is no rule: it counts as not there.

    `by` says whose it is, as "the skill pdf". Without any item, and with `*`, there is no limit. `aliases` maps
    case-folded names of tools to their names.
    """
    rules, problems = list[Rule](), list[str]()
    texts = [text for item in items for text in split_rules(item)]
    if not texts or "*" in texts:
        return Scope(), ()
    for text in texts[:_MOST_RULES]:
        try:
            rule = parse_rule(text, "allow", "session", aliases=aliases)
        except AgenyxError as error:
            problems.append(f"in allowed-tools: {error.message}")
        else:
            rules.append(rule)
    if len(texts) > _MOST_RULES:
        problems.append(f"allowed-tools has more than {_MOST_RULES} parts, and the later ones are left out")
    return Scope(by, tuple(dict.fromkeys(rules))), tuple(problems)


def outside(scope: Scope, name: str, effects: Effects, bases: Bases, subject: str = "") -> list[Reason]:
    """Why a call lies outside the scope, one reason for each part of it; [] when all of it lies inside."""
    touched = (*effects.reads, *effects.writes, *effects.removes)
    shell = bool(effects.commands or effects.script)
    if not scope.by or not (touched or effects.hosts or shell or effects.opaque):
        return []
    # Commands are commands, whichever tool they come in.
    mine = [rule for rule in scope.rules if _speaks(rule, "Bash" if shell else name)]
    if any(not rule.pattern for rule in mine):
        return []
    if not mine:
        return [_reason(scope, name)]
    if shell:
        return [_reason(scope, part) for part in _commands(scope.rules, mine, effects, bases)]
    if name in CHANGERS or name in LOOKERS:
        return [_reason(scope, ref.shown) for ref in touched if not _covered(mine, ref, bases)]
    if effects.hosts and name == "WebFetch":
        patterns = [rule.pattern for rule in mine]
        return [
            _reason(scope, host)
            for host in effects.hosts
            if not any(match_host.matches(pattern, host) for pattern in patterns)
        ]
    if any(match_shell.compiled(rule.pattern).matches(subject) for rule in mine):
        return []
    return [_reason(scope, f"{name} {subject}".rstrip())]


def _speaks(rule: Rule, name: str) -> bool:
    if rule.tool.startswith("mcp__"):
        return serves(rule.tool.casefold(), name.casefold())
    if rule.tool in CHANGERS and name in CHANGERS:
        return True
    return rule.tool.casefold() == name.casefold() or (rule.tool == "Read" and name in LOOKERS)


def _commands(rules: Sequence[Rule], mine: Sequence[Rule], effects: Effects, bases: Bases) -> list[str]:
    """The commands that no rule covers, as text; all of a script that is not wholly seen."""
    script = effects.script.strip()
    if any(script and match_shell.compiled(rule.pattern).matches(script) and _exact(rule) for rule in mine):
        return []
    if effects.opaque:
        return [script or effects.opaque]
    changers = [rule for rule in rules if rule.tool in CHANGERS]
    return [
        match_shell.describe(command)
        for command in effects.commands
        if not _within(command, mine) or not _redirected(command, changers, bases)
    ]


def _exact(rule: Rule) -> bool:
    return match_shell.compiled(rule.pattern).exact


def _within(command: Command, mine: Sequence[Rule]) -> bool:
    """Whether a rule covers the words, or the command does nothing by itself (`cd`, or what starts another one)."""
    if any(match_shell.covers(rule.pattern, command) for rule in mine):
        return True
    return not command.kinds and not command.why and not (command.removes or command.hosts)


def _redirected(command: Command, changers: Sequence[Rule], bases: Bases) -> bool:
    """Whether what a command writes by redirection is in the scope: rules for words do not speak of it."""
    writing = [redirect for redirect in command.redirects if redirect.op in WRITING]
    refs = [ref for ref in command.writes if ref.root != "/dev"]
    if not writing or (not refs and not any(unseen(redirect) for redirect in writing)):
        return True
    if any(not rule.pattern for rule in changers):
        return True
    return not any(unseen(redirect) for redirect in writing) and all(_covered(changers, ref, bases) for ref in refs)


def _covered(rules: Sequence[Rule], ref: PathRef, bases: Bases) -> bool:
    return any(not rule.pattern or match_path.covers(rule.pattern, ref, bases) for rule in rules)


def _reason(scope: Scope, part: str) -> Reason:
    said = ", ".join(rule.text for rule in scope.rules) or "nothing"
    said = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
    short = part if len(part) <= _SHOWN else part[: _SHOWN - 1] + "…"
    return Reason("scope", f"{scope.by} keeps this turn to {said}, and {short} lies outside of that", part=part)
