"""/permissions: the rules that hold now, and where each comes from."""

from __future__ import annotations

from agenyx.core.verdict import Rule
from agenyx.ui.repl.commands.context import Context

_ORDER = ("deny", "ask", "allow")


async def permissions(ctx: Context, args: str) -> None:
    rules = sorted(ctx.talk.rules(), key=lambda rule: _ORDER.index(rule.decision))
    rows = [f"{rule.decision:<5}  {' '.join(rule.text.split())}  ({_origin(rule)})" for rule in rules]
    if not rows:
        rows = ["There are no rules: what is not harmless is asked about, as the mode says."]
    rows.append(f"mode {ctx.talk.status().mode}; agenyx permissions explain 'Bash(git push)' says what decides a call")
    ctx.out.say("\n".join(rows))


def _origin(rule: Rule) -> str:
    if rule.where:
        return rule.where
    return {"user": "your settings", "workspace": "the workspace", "flag": "a flag"}.get(rule.source, "this session")
