"""On what terms a turn goes on that another process began: its mode and the rules of its flags, as they are recorded.

What the person says anew at the start counts instead. Never wider than it was: bypassPermissions needs its flag again.
"""

from __future__ import annotations

from msgspec.structs import replace

from agenyx.app.settings import Settings
from agenyx.core.events import Notice
from agenyx.core.verdict import Mode, Rule
from agenyx.policy.decide import Policy
from agenyx.session.records import Terms


def terms_of(mode: Mode, policy: Policy) -> Terms:
    """What goes on record: of the rules those that flags set, as the others stand in files and in answers."""
    return Terms(mode, tuple(rule for rule in policy.rules if rule.source == "flag"))


def regained(stored: Terms, settings: Settings, policy: Policy) -> tuple[Policy, Notice | None]:
    """The policy with which a turn goes on that had the terms `stored`, and what to tell the person of it."""
    mode, told = policy.mode, None
    if not settings.mode_given and stored.mode != mode:
        if stored.mode == "bypassPermissions" and not settings.unsafe:
            told = Notice(
                "warning",
                f"This turn ran in the mode bypassPermissions and goes on in the mode {mode}.",
                "bypassPermissions needs --dangerously-skip-permissions again.",
            )
        else:
            mode = stored.mode
    again = tuple(rule for rule in stored.rules if _counts(rule, settings) and rule not in policy.rules)
    if not again:
        return replace(policy, mode=mode), told
    from agenyx.app.policies import identities  # few runs have rules as flags

    rules = (*policy.rules, *again)
    known = identities(rules, policy.workspace, policy.home_dir)
    return replace(policy, mode=mode, rules=rules, identities=known), told


def _counts(rule: Rule, settings: Settings) -> bool:
    """Whether no flag of the same kind was given now."""
    given = {"allow": settings.allowed, "deny": settings.disallowed}
    return not given.get(rule.decision) and all(decision != rule.decision for decision, _, _ in settings.rules)
