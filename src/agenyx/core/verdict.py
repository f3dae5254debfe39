"""The answer of policy to a call: allow, ask or deny, with its reasons."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Choice = Literal["allow", "ask", "deny"]
Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]


class Rule(Struct, frozen=True):
    """`Tool` or `Tool(pattern)`, with what it decides and who set it."""

    decision: Choice
    tool: str
    pattern: str = ""
    source: str = "user"


class Reason(Struct, frozen=True):
    """Why: `source` is the kind of rule that spoke, `part` the path or command it spoke about."""

    source: Literal["safety", "path", "mode", "shell", "interaction", "hook", "rule", "default"]
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
