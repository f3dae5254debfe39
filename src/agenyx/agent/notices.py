"""Facts that change come to the model as recorded notices, never in the head of the request."""

from __future__ import annotations

import time

from agenyx.core.messages import Text, User
from agenyx.core.verdict import Mode

PLAN = "Look and think only; calls that change anything are refused. End with a plan."


def notice(text: str) -> User:
    """A notice is a record of its own: the model sees nothing that is not on disk."""
    return User((Text(text),), "notice")


def environment(now: float, platform: str, workspace: str, git: str, mode: str) -> User:
    """The first notice of a session. `now` in Unix seconds, shown as the local date; `git` may be empty."""
    lines = [
        f"Date: {time.strftime('%Y-%m-%d', time.localtime(now))}",
        f"Platform: {platform}",
        f"Workspace: {workspace}",
        f"Git: {git or 'not a repository'}",
    ]
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


def workspace_moved(before: str, now: str) -> User:
    """Tells the model that paths begin differently now."""
    return notice(f"The workspace moved from {before} to {now}; paths that were seen before begin with {now} now.")


def mode_changed(mode: Mode) -> User:
    """Tells the model that the person switched the mode."""
    meaning = PLAN if mode == "plan" else "Calls may change things again, as far as the user allows them."
    return notice(f"The user switched the mode to {mode}. {meaning}")
