"""The answer of policy to a call: allow, ask or deny, with its reasons."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Choice = Literal["allow", "ask", "deny"]
Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]


RuleSource = Literal["user", "workspace", "flag", "session"]


class Rule(Struct, frozen=True):
    """`Tool` or `Tool(pattern)`, with what it decides, who set it, and where it stands (a file and line, a flag).

    `matches` and `spares` are examples of calls, as `Bash(git push)`, that it must and must not match.
    """

    decision: Choice
    tool: str
    pattern: str = ""
    source: RuleSource = "user"
    where: str = ""
    matches: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool


class Scope(Struct, frozen=True):
    """What a skill or command keeps the rest of a turn to: `rules` say which calls; they grant nothing.

    `by` says whose it is ("the skill pdf"), "" where there is no limit.
    """

    by: str = ""
    rules: tuple[Rule, ...] = ()


class Reason(Struct, frozen=True):
    """Why: `source` is the kind of rule that spoke, `part` the path or command it spoke about."""

    source: Literal["safety", "path", "mode", "shell", "interaction", "hook", "rule", "scope", "default"]
    text: str
    rule: Rule | None = None
    part: str = ""


class Grants(Struct, frozen=True):
    """What a sandbox may permit. Derived from the person's rules, never from the model."""

    write_roots: tuple[str, ...] = ()
    network: bool = False
    readonly: bool = False


class Verdict(Struct, frozen=True):
    """`offer` holds the rules that "always allow" would save."""

    decision: Choice
    reasons: tuple[Reason, ...]
    grants: Grants = Grants()
    offer: tuple[Rule, ...] = ()

    @property
    def text(self) -> str:
        return "; ".join(reason.text for reason in self.reasons)
