"""What a session is called: as the person named it, else the first line of their first prompt. No model is asked.

The record counts. A file beside the transcript repeats it, so that a list of long transcripts need not read them whole.
"""

from __future__ import annotations

import os

from agenyx.core.errors import UsageError

CHARS = 60  # of a title made from a prompt
MOST = 200  # of one that a person gives
SIDECAR = "title"


def from_prompt(text: str) -> str:
    """The first line that says something, on one line and cut; "" where there is none."""
    for row in text.splitlines():
        flat = " ".join(row.split())
        if flat:
            return flat if len(flat) <= CHARS else flat[: CHARS - 3].rstrip() + "..."
    return ""


def given(text: str) -> str:
    """A title as a person gave it, on one line. Raises UsageError."""
    flat = " ".join(text.split())
    if not flat:
        raise UsageError("the title is empty", 'For example: agenyx sessions rename ID "the login bug"')
    if len(flat) > MOST:
        raise UsageError(f"the title has {len(flat)} characters", f"Use at most {MOST}.")
    return flat


def write_sidecar(directory: str, title: str) -> None:
    """Repeat a recorded title beside the transcript. Raises OSError."""
    path = os.path.join(directory, SIDECAR)
    temporary = f"{path}.{os.getpid()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(title)
    os.replace(temporary, path)


def read_sidecar(directory: str) -> str:
    """The title that was repeated there, "" where there is none."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(os.open(os.path.join(directory, SIDECAR), flags), "rb") as file:
            text = file.read(4 * MOST + 1).decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(text.split())[:MOST]
