"""Instruction files as the model reads them: AGENTS.md from the filesystem root down, and CLAUDE.md where it says more.

Pure. Which files there are and whether they may be shown is asked elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from agenyx.core.json import scrub
from agenyx.core.tty import safe, unseen

HEADING = """\
# Project instructions
The user trusts these files of the project. Follow them where they do not contradict the user."""


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Instruction(Struct, frozen=True):
    """One file: absolute path as it is shown, and its text, made visible."""

    path: str
    text: str


def instructions(files: Iterable[tuple[str, bytes]]) -> tuple[Instruction, ...]:
    """From (absolute path, content), outermost first. A file that says what the one beside it says is not repeated."""
    found: list[Instruction] = []
    beside = ("", b"")
    for path, data in files:
        folder = os.path.dirname(path)
        if (folder, data) != beside:
            found.append(Instruction(path, visible(data)[0].strip()))
        beside = (folder, data)
    return tuple(found)


def visible(data: bytes) -> tuple[str, str]:
    """The text with what cannot be seen written as escapes, and what that was, in words ("U+202E x2") or ""."""
    text = scrub(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
    controls = "control characters" if _CONTROL.search(text) else ""
    return safe(text), ", ".join(part for part in (unseen(text), controls) if part)


def section(found: tuple[Instruction, ...]) -> str:
    """The section of the system prompt, each text under the name of its file."""
    return "\n\n".join((HEADING, *(f"Instructions from {item.path}:\n\n{item.text}" for item in found)))
