"""/init: have the model write AGENTS.md for this project, or improve the one that is there. Its write is judged as any.

The words lie beside this module; the facts are names of files, gathered without a model.
"""

from __future__ import annotations

import os

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.messages import Text, User
from agenyx.workspace.survey import Survey, survey


async def run(desk: Desk, args: str) -> Reply:
    found = survey(desk.conversation.parts.source.root.path)
    write, improve, how = _words()
    task = improve if "AGENTS.md" in found.guides else write
    parts = [task, how.strip().replace("{facts}", _facts(found))]
    if args:
        parts.append(f"The user adds: {args}")
    return Reply(prompt=User((Text("\n\n".join(parts)),)))


def _words() -> list[str]:
    with open(os.path.join(os.path.dirname(__file__), "init.md"), encoding="utf-8") as file:
        return file.read().split("\n---\n")


def _facts(found: Survey) -> str:
    facts = {
        "languages": ", ".join(f"{name} ({count} file{'s' * (count != 1)})" for name, count in found.languages),
        "build files": ", ".join(found.build),
        "commands that seem to exist": ", ".join(found.commands),
        "folders": ", ".join(found.folders),
        "documents": ", ".join(found.docs),
        "build server": ", ".join(found.ci),
        "instructions for agents": ", ".join(found.guides),
    }
    lines = [f"- {name}: {text}" for name, text in facts.items() if text]
    if found.partial:
        lines.append("- the folder is large: not all of it was counted")
    return "\n".join(lines) or "- nothing that is known by its name"
