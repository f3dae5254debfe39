"""/diff: what changed in the workspace since the last commit, without running anything that a repository configures."""

from __future__ import annotations

import os

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import UsageError
from agenyx.proc.environment import child_env
from agenyx.workspace import gitview
from agenyx.workspace.gitrun import open_repository


async def run(desk: Desk, args: str) -> Reply:
    """`args` is a path below the workspace, or "". Raises AgenyxError where there is no repository."""
    source = desk.conversation.parts.source
    workspace, args = source.root.path, args.strip()
    path = os.path.relpath(os.path.join(workspace, args), workspace)
    if path.split(os.sep)[0] == os.pardir:
        raise UsageError(f"{args} lies outside the workspace", "Name a path inside it: /diff src")
    repository = await open_repository(source.processes, child_env(desk.env), os.fsencode(workspace))
    status = list(await gitview.status(repository))
    changed = await gitview.diff(repository, os.fsencode(path), False, lambda _: False)
    more = "\n... the rest is cut; name a path: /diff src" if changed.more else ""
    data = {"status": status, "diff": changed.text, "cut": bool(changed.more)}
    return Reply("\n".join(status), data, diff=changed.text + more)
