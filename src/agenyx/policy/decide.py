"""The judgement of one call: a pure function of its effects and the person's policy.

Owns the order of decision (AgentX §6.2): what is forbidden, what is asked in every mode, the mode, what rules allow,
what only looks. What a rule matches is told by `policy.match`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from agenyx.core.tools import Command, Concern, Effects
from agenyx.core.verdict import Choice, Grants, Mode, Reason, Rule, Scope, Verdict
from agenyx.policy import reasons

if TYPE_CHECKING:
    from agenyx.policy.match import Book, Cover
    from agenyx.policy.match_path import Bases

_MOST_REASONS = 20


class Policy(Struct, frozen=True, dict=True):
    """What the person allows. `unsafe` is the dangerous flag, without which bypassPermissions is no mode.

    `contained` tells that a sandbox holds a command to reading; `workspace` and `home_dir` are real paths, `folders`
    those of the folders added to the workspace. `identities`
    maps the text of a rule with a plain path to (device, inode) of what the path named when the session began. Each of
    the `scopes` denies what lies outside it and grants nothing.
    """

    mode: Mode = "default"
    unsafe: bool = False
    rules: tuple[Rule, ...] = ()
    contained: bool = False
    read_only_shell: Literal["sandboxed", "ask"] = "sandboxed"
    workspace: str = ""
    home_dir: str = ""
    folders: tuple[str, ...] = ()
    identities: dict[str, frozenset[tuple[int, int]]] = {}
    scopes: tuple[Scope, ...] = ()

    @cached_property
    def book(self) -> Book:
        """The rules ready to be asked, made at the first call that needs them."""
        from agenyx.policy.match import Book  # not needed before the first call

        return Book(self.rules, self.bases, self.identities, self.mode == "acceptEdits")

    @property
    def bases(self) -> Bases:
        from agenyx.policy.match_path import Bases

        return Bases(self.workspace, self.home_dir, self.folders)


def decide(name: str, effects: Effects, policy: Policy, subject: str = "", hook: Verdict | None = None) -> Verdict:
    """Judge the call of tool `name`. `subject` is what a Skill or Agent call names.

    `hook` is what hooks said, if they did: "ask" asks in every mode, "allow" only spares the question for want of a
    rule (AgentX §6.6).

    `Verdict.grants` holds what a sandbox may permit if the call runs; `Verdict.offer`, only where the call is asked for
    want of a rule, the smallest rules that would allow it for the session.
    """
    covers = policy.book.covers(name, effects.commands) if effects.commands else ()
    idle_passes = any(cover.rule for cover in covers)
    return _finished(_judge(name, effects, policy, subject, covers, idle_passes, hook), effects, policy)


def judge(command: Command, policy: Policy) -> Verdict:
    """The verdict on one simple command that stands alone."""
    return judgements(Effects(commands=(command,)), policy)[0]


def judgements(effects: Effects, policy: Policy, name: str = "Bash") -> tuple[Verdict, ...]:
    """One verdict for each command of a script, in its order: what each adds to the verdict on the whole."""
    covers = policy.book.covers(name, effects.commands)
    idle_passes = any(cover.rule for cover in covers)
    found: list[Verdict] = []
    for command, cover in zip(effects.commands, covers, strict=True):
        alone = Effects(command.reads, command.writes, command.removes, command.hosts, (command,))
        verdict = _judge(name, alone, policy, "", (cover,), idle_passes)
        found.append(_finished(msgspec.structs.replace(verdict, offer=()), alone, policy))
    return tuple(found)


def applies(rule: Rule, name: str, effects: Effects, policy: Policy, subject: str = "") -> bool:
    """Whether the rule alone decides, or may decide, something about the call. For an allow rule: allows all of it."""
    alone = msgspec.structs.replace(policy, rules=(rule,))
    book = alone.book
    if rule.decision != "allow":
        return bool(book.hits(rule.decision, name, effects, subject))
    covers = book.covers(name, effects.commands) if effects.commands else ()
    return bool(_allowed(name, effects, alone, subject, covers, any(cover.rule for cover in covers)))


def _finished(verdict: Verdict, effects: Effects, policy: Policy) -> Verdict:
    if verdict.decision == "ask" and policy.mode == "dontAsk":
        return Verdict("deny", (*verdict.reasons, Reason("mode", "the mode dontAsk refuses what would be asked")))
    if verdict.decision == "deny":
        return verdict
    return msgspec.structs.replace(verdict, grants=_grants(effects, policy))


def _grants(effects: Effects, policy: Policy) -> Grants:
    """What a sandbox may permit: reading where the call was judged to do no more; else changes to the workspace and the
    very paths outside it that were judged, and the network where the call was judged to contact it."""
    if not effects.acts:
        return Grants(readonly=True)
    outside = (os.fsdecode(ref.real) for ref in (*effects.writes, *effects.removes) if ref.root is None)
    roots = dict.fromkeys((*((policy.workspace,) if policy.workspace else ()), *policy.folders, *outside))
    network = bool(effects.hosts) or any("network" in command.kinds for command in effects.commands)
    return Grants(tuple(roots), network)


def _judge(
    name: str,
    effects: Effects,
    policy: Policy,
    subject: str,
    covers: Sequence[Cover],
    idle_passes: bool,
    hook: Verdict | None = None,
) -> Verdict:
    """First match wins. `idle_passes` tells that a rule covers a command of the script that does something."""
    concerns = _concerns(effects)
    if refused := reasons.concerns(concerns, "refuse"):
        return _verdict("deny", refused)
    denied = policy.book.hits("deny", name, effects, subject) if policy.rules else []
    if sure := [reasons.ruled(hit.rule, hit.part) for hit in denied if hit.sure]:
        return _verdict("deny", sure)
    if policy.scopes:
        from agenyx.policy.scope import outside  # few turns have one

        bases = policy.bases
        if out := [reason for scope in policy.scopes for reason in outside(scope, name, effects, bases, subject)]:
            return _verdict("deny", out)
    if policy.mode == "plan" and effects.acts:
        return Verdict("deny", (Reason("mode", "plan mode only looks; present the plan, the user switches the mode"),))
    paths = (*effects.reads, *effects.writes, *effects.removes)
    if problems := [Reason("path", ref.problem, part=ref.shown) for ref in paths if ref.problem]:
        return _verdict("deny", problems)
    asked = policy.book.hits("ask", name, effects, subject) if policy.rules else []
    always = [reasons.ruled(hit.rule, hit.part) if hit.sure else reasons.may(hit.rule, hit.part) for hit in asked]
    always += [reasons.may(hit.rule, hit.part) for hit in denied]  # what is not seen may be what is denied
    # Also in bypassPermissions: a repository must not gain secrets or hooks by a mode that was meant for its files.
    always += [Reason("path", f"{ref.shown}: {ref.protected}", part=ref.shown) for ref in paths if ref.protected]
    always += reasons.concerns(concerns, "always")
    if effects.interact:
        always.append(Reason("interaction", f"{name} needs an answer"))
    if hook is not None and hook.decision == "ask":
        always += hook.reasons
    if always:
        return _verdict("ask", always)
    if policy.mode == "bypassPermissions" and policy.unsafe:
        return Verdict("allow", (Reason("mode", "permissions are bypassed"),))
    if dangers := reasons.concerns(concerns, "danger"):
        return _verdict("ask", dangers)
    if rules := _allowed(name, effects, policy, subject, covers, idle_passes):
        return _verdict("allow", rules)
    if reason := _harmless(effects, policy):
        return Verdict("allow", (reason,))
    if hook is not None and hook.decision == "allow":
        return hook
    from agenyx.policy.offer import offers  # not needed before the first question

    why = reasons.unruled(name, effects, _open(covers, effects.commands, idle_passes))
    return _verdict("ask", why, offers(name, effects, policy, covers, idle_passes))


def _allowed(
    name: str, effects: Effects, policy: Policy, subject: str, covers: Sequence[Cover], idle_passes: bool
) -> list[Reason]:
    """The allow rules that together cover everything the call does; empty if they do not."""
    if not policy.rules:
        return []
    book, found = policy.book, list[tuple[Rule | None, str]]()
    outside = [ref for ref in (*effects.writes, *effects.removes) if ref.root is None]
    if rule := book.whole(name, effects, subject):
        found.append((rule, effects.script.strip() if effects.commands else name))
        if not effects.commands:
            found += [(book.path("change", name, ref), ref.shown) for ref in outside]
    elif effects.opaque:
        return []
    elif effects.commands:
        if _open(covers, effects.commands, idle_passes):
            return []
        pairs = zip(effects.commands, covers, strict=True)
        found += [(cover.rule, reasons.named(command)) for command, cover in pairs if cover.rule]
        found += [(book.path("change", name, ref), ref.shown) for ref in outside]
        if not found:  # one of a script's commands, judged beside the others
            return [Reason("shell", "it does nothing by itself, beside what a rule allows")]
    else:
        found += [(book.path("change", name, ref), ref.shown) for ref in (*effects.writes, *effects.removes)]
        found += [(book.path("read", name, ref), ref.shown) for ref in effects.reads if ref.root is None]
        found += [(book.host(name, host), host) for host in effects.hosts]
    return [] if any(rule is None for rule, _ in found) else [reasons.ruled(rule, part) for rule, part in found if rule]


def _open(covers: Sequence[Cover], commands: Sequence[Command], idle_passes: bool) -> list[Command]:
    """The commands that no allow rule covers. What does nothing by itself may stand beside one that is covered."""
    pairs = zip(commands, covers, strict=True)
    return [command for command, cover in pairs if not (cover.rule or (cover.idle and idle_passes))]


def _harmless(effects: Effects, policy: Policy) -> Reason | None:
    """Why the call may run though no rule allows it, or None."""
    inside = all(ref.root is not None for ref in (*effects.reads, *effects.writes))
    if not inside or effects.opaque:
        return None
    if not effects.script and not effects.commands and not effects.acts:
        return Reason("default", "it only reads the workspace")
    if policy.contained and policy.read_only_shell == "sandboxed" and effects.commands and not effects.acts:
        from agenyx.policy.match import within

        if all(within(command.cwd, policy.workspace, policy.folders) for command in effects.commands):
            return Reason("shell", "it only looks, in a sandbox that permits no more")
    if policy.mode == "acceptEdits" and not (effects.commands or effects.hosts or effects.removes):
        return Reason("mode", "edits in the workspace are accepted")
    return None


def _concerns(effects: Effects) -> list[Concern]:
    inner = (concern for command in effects.commands for concern in command.concerns)
    return list(dict.fromkeys((*effects.concerns, *inner)))


def _verdict(decision: Choice, why: Sequence[Reason], offer: tuple[Rule, ...] = ()) -> Verdict:
    unique = list(dict.fromkeys(why))
    if (more := len(unique) - _MOST_REASONS) > 0:
        unique[_MOST_REASONS:] = [Reason(unique[0].source, f"and {more} more")]
    return Verdict(decision, tuple(unique), offer=offer)
