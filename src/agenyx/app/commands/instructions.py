"""/instructions: which instructions hold, from where, how large, and what was left out and why."""

from __future__ import annotations

from typing import Any

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.instructed import Instructed, gathered
from agenyx.core.messages import User
from agenyx.core.tty import safe
from agenyx.ext.instructions import ADVISED_CHARS, Instruction, told
from agenyx.session.state import State

_STATES = {
    "told": "",
    "next": "with the next prompt",
    "changed": "it changed since; a new session gets it as it is now",
    "absent": "not told in this session; a new one gets it",
}


async def run(desk: Desk, args: str) -> Reply:
    extensions, state = desk.conversation.extensions, desk.conversation.parts.source.session.state
    if extensions is None or extensions.gate is None:
        return Reply("None: this run was started with --bare.", _data(Instructed((), (), ()), state, [], []))
    found = gathered(extensions)
    left, asides = extensions.gate.left_out()
    data = _data(found, state, [*left, *found.left], asides)
    return Reply(safe(_text(data)), data)


def _data(found: Instructed, state: State, left: list[str], asides: list[str]) -> dict[str, Any]:
    return {
        "loaded": [{**_facts(item), "state": _state(item, state)} for item in found.told],
        "rules": [
            {"patterns": list(rule.patterns), "files": [_facts(item) for item in rule.told], "told": told}
            for rule in found.rules
            for told in [rule.path in _later(state)]
        ],
        "told_later": sorted(_later(state)),
        "left_out": left,
        "notes": asides,
        "characters": found.chars,
    }


def _facts(item: Instruction) -> dict[str, Any]:
    return {
        "path": item.path,
        "origin": "user" if item.own else "workspace",
        "by": item.by or None,
        "bytes": item.size,
        "characters": len(item.text),
        "hidden": item.hidden or None,
    }


def _state(item: Instruction, state: State) -> str:
    """Whether the model was told it: as it stands, as it was, not yet, or not in this session."""
    if state.prefix is None:
        return "next"
    head = "\n\n".join(state.prefix.system)
    return "told" if item.block in head else "changed" if item.path in told(head) else "absent"


def _later(state: State) -> set[str]:
    """What was told when something was touched, and stands in the requests still."""
    found: set[str] = set()
    for entry in state.view.entries:
        if isinstance(entry, User) and entry.origin == "notice":
            found |= told(entry.text)
    return found


def _text(data: dict[str, Any]) -> str:
    lines = [_line(item, _STATES[item["state"]]) for item in data["loaded"]]
    for rule in data["rules"]:
        when = f"for {', '.join(rule['patterns'])}{'' if rule['told'] else '; told when such a file is touched'}"
        lines += [_line(item, when) for item in rule["files"]]
    conditional = {item["path"] for rule in data["rules"] for item in rule["files"]}
    later = (path for path in data["told_later"] if path not in conditional)
    lines += [f"{path}: told when something there was touched" for path in later]
    if not lines:
        lines = ["No instructions are in use. /init writes AGENTS.md for this project."]
    elif data["characters"]:
        much = f"; keep it below {ADVISED_CHARS:,}" if data["characters"] > ADVISED_CHARS else ""
        lines.append(f"{data['characters']:,} characters stand in every request{much}.")
    return "\n".join([*lines, *(f"! {one}" for one in data["left_out"]), *(f"- {one}" for one in data["notes"])])


def _line(item: dict[str, Any], more: str) -> str:
    facts = (
        f"{item['bytes']:,} bytes",
        f"taken in by {item['by']}" if item["by"] else "",
        f"holds what cannot be seen: {item['hidden']}" if item["hidden"] else "",
        more,
    )
    return f"{item['path']} ({'; '.join(fact for fact in facts if fact)})"
