"""Facts that change come to the model as recorded notices, never in the head of the request."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from agenyx.core.messages import Text, User
from agenyx.core.verdict import Mode

_NAMED = 20  # files in one notice
PLAN = (
    "Look and think only; calls that change anything are refused. End with a plan: by ExitPlanMode where you have it, "
    "which asks the user to approve it, else as your answer."
)


def notice(text: str) -> User:
    """A notice is a record of its own: the model sees nothing that is not on disk."""
    return User((Text(text),), "notice")


def environment(now: float, platform: str, workspace: str, git: str, mode: str, folders: Sequence[str] = ()) -> User:
    """The first notice of a session. `now` in Unix seconds, shown as the local date; `git` may be empty.

    `folders` are those added to the workspace, as they are shown.
    """
    lines = [
        f"Date: {time.strftime('%Y-%m-%d', time.localtime(now))}",
        f"Platform: {platform}",
        f"Workspace: {workspace}",
        f"Git: {git or 'not a repository'}",
    ]
    if folders:
        lines.append(f"Also part of the workspace, by absolute paths: {', '.join(folders)}")
    if mode == "plan":
        lines.append(f"Mode: plan. {PLAN}")
    return notice("Environment at the start of this session:\n" + "\n".join(lines))


def rewound(mode: Mode) -> User:
    """Tells the model that the person moved the head of the conversation."""
    return notice(
        "The user moved this conversation to another point. What was said and done elsewhere is not shown here, but it "
        "happened: files, running commands and the shell's directory may not be as you last saw them. Look again "
        f"before you rely on them. The mode is {mode}." + (f" {PLAN}" if mode == "plan" else "")
    )


def restored(paths: Sequence[str], workspace: str) -> User:
    """Tells the model that the person put files back; `paths` are absolute."""
    inside = os.path.join(workspace, "")
    names = [path.removeprefix(inside) for path in paths]
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    files = "1 file" if len(names) == 1 else f"{len(names)} files"
    return notice(f"The user put {files} back to an earlier state: {shown}. Read them again before you rely on them.")


def workspace_moved(before: str, now: str) -> User:
    """Tells the model that paths begin differently now."""
    return notice(f"The workspace moved from {before} to {now}; paths that were seen before begin with {now} now.")


def folders_changed(folders: Sequence[str]) -> User:
    """Tells the model which folders stand beside the workspace now."""
    if not folders:
        return notice("No other folder is part of the workspace any more.")
    return notice(f"Also part of the workspace now, by absolute paths: {', '.join(folders)}")


def mode_changed(mode: Mode) -> User:
    """Tells the model that the person switched the mode."""
    meaning = PLAN if mode == "plan" else "Calls may change things again, as far as the user allows them."
    return notice(f"The user switched the mode to {mode}. {meaning}")
