"""Instruction files: AGENTS.md from the filesystem root down to the workspace, and CLAUDE.md where it says more.

Only finds and reads them. Whether they may be shown to the model is a question of trust, asked elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import stat

from msgspec import Struct

from agenyx.core.json import scrub
from agenyx.core.tty import safe

NAMES = ("AGENTS.md", "CLAUDE.md")
FILE_BYTES = 256 << 10
TOTAL_BYTES = 1 << 20

HEADING = """\
# Project instructions
The user trusts these files of the project. Follow them where they do not contradict the user."""


class Instruction(Struct, frozen=True):
    """One file: absolute path, SHA-256 of its bytes in hex, and its text with control characters made visible."""

    path: str
    sha256: str
    text: str


def find(workspace: str) -> tuple[tuple[Instruction, ...], tuple[str, ...]]:
    """The files for a workspace, outermost first, and a sentence for each that was left out.

    A CLAUDE.md that says the same as the AGENTS.md beside it is not repeated. Links are not followed.
    """
    found: list[Instruction] = []
    problems: list[str] = []
    total = 0
    for folder in _down_to(workspace):
        beside = ""
        for name in NAMES:
            path = os.path.join(folder, name)
            data = _read(path, problems)
            if data is None or not data.strip():
                continue
            digest = hashlib.sha256(data).hexdigest()
            if digest == beside:
                continue
            beside = digest
            total += len(data)
            if total > TOTAL_BYTES:
                problems.append(f"{path} was left out: all instructions together exceed {TOTAL_BYTES >> 10} KiB")
                continue
            text = safe(scrub(data.decode("utf-8-sig", "replace").replace("\r\n", "\n")))
            found.append(Instruction(path, digest, text.strip()))
    return tuple(found), tuple(problems)


def section(found: tuple[Instruction, ...]) -> str:
    """The section of the system prompt, each text under the name of its file."""
    return "\n\n".join((HEADING, *(f"Instructions from {item.path}:\n\n{item.text}" for item in found)))


def _down_to(workspace: str) -> list[str]:
    folders = [workspace]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders[::-1]


def _read(path: str, problems: list[str]) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            problems.append(f"{path} was left out: {error.strerror}")
        return None
    status = os.fstat(descriptor)
    problem = (
        "it is no regular file"
        if not stat.S_ISREG(status.st_mode)
        else f"it has more than {FILE_BYTES >> 10} KiB"
        if status.st_size > FILE_BYTES
        else ""
    )
    if problem:
        os.close(descriptor)
        problems.append(f"{path} was left out: {problem}")
        return None
    with open(descriptor, "rb") as file:
        return file.read(FILE_BYTES)
