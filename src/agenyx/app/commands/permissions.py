"""/permissions: the rules that hold now, and where each comes from."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.verdict import Rule

_ORDER = ("deny", "ask", "allow")
_FROM = {"user": "your settings", "workspace": "the workspace", "flag": "a flag"}


async def run(desk: Desk, args: str) -> Reply:
    rules = sorted(desk.conversation.rules(), key=lambda rule: _ORDER.index(rule.decision))
    mode = desk.conversation.status().mode
    rows = [f"{rule.decision:<5}  {' '.join(rule.text.split())}  ({_origin(rule)})" for rule in rules]
    if not rows:
        rows = ["There are no rules: what is not harmless is asked about, as the mode says."]
    rows.append(f"mode {mode}; agenyx permissions explain 'Bash(git push)' says what decides a call")
    data = [
        {"decision": rule.decision, "rule": rule.text, "source": rule.source, "where": rule.where} for rule in rules
    ]
    return Reply("\n".join(rows), {"mode": mode, "rules": data})


def _origin(rule: Rule) -> str:
    return rule.where or _FROM.get(rule.source, "this session")
