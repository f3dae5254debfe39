"""A conversation as a text to keep: Markdown for people, JSON for programs. Pure; what is in it was masked at intake.

Only what was said and done on the branch that the model sees. Notices of the harness are in the JSON only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Entry, Media, Step, User

_TICKS = re.compile("`{3,}")


class Facts(Struct, frozen=True):
    session_id: str
    title: str
    workspace: str


def markdown(facts: Facts, entries: Sequence[Entry]) -> str:
    """One heading for each time that somebody speaks; calls and results in fences that their text cannot close."""
    parts = [f"# {facts.title or 'A conversation'}\n\nSession {facts.session_id} in {facts.workspace}"]
    for entry in entries:
        match entry:
            case User(origin="typed" | "steer" | "command"):
                parts.append(f"## You\n\n{entry.said.strip()}")
            case Step(assistant, results):
                said = [assistant.text.strip()] if assistant.text.strip() else []
                for call, result in zip(assistant.calls, results, strict=True):
                    status = "" if result.status == "ok" else f" ({result.status})"
                    said.append(f"**{call.name}**{status}\n\n{_fenced(call.args, 'json')}\n\n{_fenced(result.text)}")
                if said:
                    parts.append("## Agenyx\n\n" + "\n\n".join(said))
            case _:
                pass
    return "\n\n".join(parts) + "\n"


def as_json(facts: Facts, entries: Sequence[Entry]) -> str:
    """`{session_id, title, workspace, messages: [{role: user|assistant|tool, …}]}`, in order, one line."""
    messages: list[dict[str, Any]] = []
    for entry in entries:
        match entry:
            case User(origin=origin):
                shown = {"typed": entry.said} if entry.said != entry.text else {}
                messages.append({"role": "user", "origin": origin, "text": entry.text, **shown, **_media(entry.blocks)})
            case Step(assistant, results):
                calls = [{"id": call.id, "name": call.name, "arguments": call.args} for call in assistant.calls]
                messages.append({"role": "assistant", "text": assistant.text, "calls": calls, "stop": assistant.stop})
                for result in results:
                    told = {"call": result.call, "status": result.status, "text": result.text}
                    messages.append({"role": "tool", **told, **_media(result.content)})
            case _:
                pass
    whole = {"session_id": facts.session_id, "title": facts.title, "workspace": facts.workspace, "messages": messages}
    return json.encode(whole).decode() + "\n"


def _media(blocks: Sequence[object]) -> dict[str, Any]:
    found = [{"mime": one.mime, "name": one.name, "size": one.size} for one in blocks if isinstance(one, Media)]
    return {"media": found} if found else {}


def _fenced(text: str, language: str = "") -> str:
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
