"""/diff: what changed in the workspace since the last commit, without running anything that a repository configures."""

from __future__ import annotations

import os

from agenyx.core.errors import UsageError
from agenyx.proc.environment import child_env
from agenyx.ui.repl.commands.context import Context
from agenyx.workspace import gitview
from agenyx.workspace.gitrun import open_repository


async def diff(ctx: Context, args: str) -> None:
    """`args` is a path below the workspace, or "". Raises AgenyxError where there is no repository."""
    workspace = os.path.realpath(ctx.workspace)
    path = os.path.relpath(os.path.join(workspace, args.strip()), workspace)
    if path.split(os.sep)[0] == os.pardir:
        raise UsageError(f"{args.strip()} lies outside the workspace", "Name a path inside it: /diff src")
    repository = await open_repository(ctx.processes, child_env(ctx.env), os.fsencode(workspace))
    ctx.out.say("\n".join(await gitview.status(repository)))
    changed = await gitview.diff(repository, os.fsencode(path), False, lambda _: False)
    if changed.text:
        ctx.out.diff(changed.text + ("\n... the rest is cut; name a path: /diff src" if changed.more else ""))
