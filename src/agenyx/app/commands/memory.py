"""/memory: the notes that this project keeps from session to session."""

from __future__ import annotations

from typing import Any

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import UsageError
from agenyx.ext.memory import Memory, Note, Recalled, listed, open_memory

_USAGE = "/memory list, /memory remember NAME CONTENT, /memory recall QUERY, /memory forget NAME"


async def run(desk: Desk, args: str) -> Reply:
    parts = desk.conversation.parts
    memory = open_memory(desk.home, parts.source.root.path)
    verb, _, rest = args.partition(" ")
    name, _, content = rest.strip().partition(" ")
    match verb.lower():
        case "" | "list":
            notes = memory.all()
            return Reply(listed(notes) or f"There are no notes yet. {_USAGE}", {"notes": data(notes)})
        case "remember" if name and content.strip():
            memory.remember(name, content, parts.masker)
            return Reply(f"Kept as {name}; sessions that begin from now on are told.", {"remembered": name})
        case "recall" if rest.strip():
            found = memory.recall(rest)
            return Reply(told(found) or f"No note speaks of {rest.strip()}.", recalled(found))
        case "forget" if name and not content:
            return Reply(f"{name} is forgotten.", {"forgotten": forgotten(memory, name)})
        case _:
            raise UsageError(f"/memory does not understand: {args}", f"Use {_USAGE}.")


def forgotten(memory: Memory, name: str) -> str:
    """The name of a note that is gone now. Raises UsageError where there was none."""
    if not memory.forget(name):
        raise UsageError(f"there is no note {name!r}", "/memory list and agenyx memory list show them.")
    return name


def data(notes: list[Note]) -> list[dict[str, Any]]:
    """What is known of notes, without their texts."""
    return [{"name": n.name, "bytes": len(n.text.encode()), "written_at": n.at, "stale": n.stale} for n in notes]


def recalled(found: Recalled) -> dict[str, Any]:
    """For programs."""
    notes = [{"name": n.name, "content": n.text, "written_at": n.at, "stale": n.stale} for n in found.notes]
    return {"notes": notes, "more": list(found.more)}


def told(found: Recalled) -> str:
    """For people."""
    more = f"\n\nMore that fit, by name: {', '.join(found.more)}" if found.more else ""
    return "\n\n".join(note.block for note in found.notes) + more
