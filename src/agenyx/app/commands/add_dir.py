"""/add-dir: the folders beside the workspace, or one more, with the same rules and the same protection."""

from __future__ import annotations

import os

from agenyx.app.commands.spec import Desk, Reply
from agenyx.workspace.names import show


async def run(desk: Desk, args: str) -> Reply:
    """`args` is a path, relative to the workspace, or "". Raises UsageError for one that may not be added."""
    conversation, path = desk.conversation, args.strip()
    root = conversation.parts.source.root
    if not path:
        folders = [show(one.real) for one in root.beside]
        text = "\n".join(folders)
        return Reply(text or "No folder was added to the workspace. Add one: /add-dir PATH", {"folders": folders})
    desk.lasting("A folder that is added", "Start with --add-dir DIR.")
    real, new = conversation.add_folder(path)
    shown = show(os.fsencode(real))
    words = f"{shown} is part of the workspace from now on." if new else f"{shown} is part of the workspace already."
    return Reply(words, {"folders": [show(one.real) for one in root.beside], "added": new})
