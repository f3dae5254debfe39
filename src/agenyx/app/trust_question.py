"""The question whether a workspace is trusted: what would act, and of each file its text, or what changed in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.tty import safe
from agenyx.core.verdict import Reason, Verdict
from agenyx.ext.acting import Inventory, Item, load
from agenyx.ext.instructions import visible
from agenyx.workspace.acting import CODE
from agenyx.workspace.diff import unified
from agenyx.workspace.files import FileProblem
from agenyx.workspace.trust import ALONE, Grant, Trust

_SHOWN = 16_000  # characters of one file; an editor shows longer ones better
_ALL = 200_000
_DIFF_LINES = 400
_MEANS = {
    "instructions": "told to the model",
    "settings": "settings of this program",
    "commands": "commands that a person can call",
    "skills": "told to the model, with programs beside it",
    "hooks": "programs that start by themselves",
    "rules": "told to the model",
    "agents": "told to subagents",
    "mcp": "programs that start and serve tools",
    "styles": "told to the model",
}


def texts_of(inventory: Inventory) -> dict[str, bytes]:
    """The contents by shown path. A file that is no longer what was judged is missing."""
    texts: dict[str, bytes] = {}
    for item in inventory.items:
        try:
            texts[item.shown] = load(item)
        except FileProblem:
            continue
    return texts


def question(workspace: str, inventory: Inventory, trust: Trust, texts: Mapping[str, bytes]) -> Approval:
    """Everything a person needs to say yes or no. Raises ConfigError when the store is damaged."""
    grant = trust.grant_of(workspace)
    told = f"trusted on {datetime.fromtimestamp(grant.at, UTC):%Y-%m-%d}, changed since" if grant else ""
    reason = "what a workspace brings steers the agent; a yes holds until one of these files changes"
    return Approval(
        "trust",
        ToolCall("", "", f"Trusting what acts in this workspace{f' ({told})' if told else ''}", "{}"),
        Verdict("ask", (Reason("rule", reason),)),
        Effects(preview=described(inventory, trust, grant, texts, gone(inventory, grant))),
    )


def described(
    inventory: Inventory, trust: Trust, grant: Grant | None, texts: Mapping[str, bytes], gone: Sequence[str] = ()
) -> str:
    """One head line a file, then its text; of a changed one the difference, of an unchanged one nothing."""
    parts: list[str] = []
    room = _ALL
    for item in inventory.items:
        body = _body(item, trust, grant, texts.get(item.shown))
        parts.append(f"{head(item, state(item, grant))}{body[:room]}")
        room = max(room - len(body), 0)
    parts += [f"{path} (removed)" for path in gone]
    if inventory.outside:
        names = ", ".join(dict.fromkeys(safe(f"@{one.name}") for one in inventory.outside))
        parts.append(f"From outside the workspace, read and asked about only once the rest is trusted: {names}")
    return "\n\n".join(parts)


def gone(inventory: Inventory, grant: Grant | None) -> list[str]:
    """What was trusted and does not act any more."""
    if grant is None:
        return []
    return sorted(path for path, file in grant.files.items() if file.kind not in ALONE and path not in inventory.files)


def state(item: Item, grant: Grant | None) -> str:
    """new, changed or unchanged, "" where nothing is trusted yet."""
    if grant is None:
        return ""
    known = grant.files.get(item.shown)
    return "new" if known is None else "unchanged" if known.sha256 == item.file.sha256 else "changed"


def head(item: Item, state: str) -> str:
    by = f"taken in by {item.by}" if item.by else ""
    facts = (state, by, _MEANS[item.kind], f"{item.file.size:,} bytes", f"sha256 {item.file.sha256[:16]}…")
    return f"{item.shown} ({', '.join(fact for fact in facts if fact)})"


def _body(item: Item, trust: Trust, grant: Grant | None, data: bytes | None) -> str:
    if data is None:
        return "\n\n[it changed while it was read, so it is not shown; do not trust it]"
    text, hidden = visible(data)
    notes = f"\nWARNING: it holds what cannot be seen, written below as escapes: {hidden}" if hidden else ""
    match state(item, grant):
        case "unchanged":
            return notes
        case "changed" if grant and (old := trust.text(grant.files[item.shown].sha256)) is not None:
            before, after = visible(old)[0].encode(), text.encode()
            return f"{notes}\n\n{unified(before, after, item.path, _DIFF_LINES)}"
        case _:
            pass
    if b"\0" in data and item.kind not in CODE:
        return f"{notes}\n\n[not text]"
    more = f"\n[… {len(text) - _SHOWN:,} more characters: read the file before you say yes …]"
    return f"{notes}\n\n{text[:_SHOWN].rstrip()}{more if len(text) > _SHOWN else ''}"
