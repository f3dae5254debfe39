"""Instruction files as the model reads them: the person's own, then the project's from the outermost folder inwards.

Pure. Which files there are and whether they may be shown is asked elsewhere. What stands later is more specific.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from agenyx.core.json import scrub
from agenyx.core.tty import safe, unseen
from agenyx.ext.sources import Source

OWN = """\
# The user's instructions
The user wrote these for all projects. Follow them; where the project or a request says otherwise, that counts."""
HEADING = """\
# Project instructions
The user trusts these files of the project. Follow them where they do not contradict the user."""
MOST_CHARS = 400_000  # of all texts together
ADVISED_CHARS = 40_000  # from which on they crowd out the work (reference: AgentX §9.2)

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TOLD = re.compile(r"^Instructions from (.+?)(?:, taken in by .+)?:$", re.MULTILINE)


class Instruction(Struct, frozen=True):
    """One file: absolute path as it is shown, and its text, made visible; `by` is the file that takes it in.

    `size` in bytes; `hidden` says what could not be seen in it.
    """

    path: str
    text: str
    by: str = ""
    own: bool = False
    size: int = 0
    hidden: str = ""

    @property
    def block(self) -> str:
        """The text under the name of its file, as the model gets it."""
        return f"Instructions from {self.path}{f', taken in by {self.by}' if self.by else ''}:\n\n{self.text}"


def instructions(sources: Iterable[Source]) -> tuple[Instruction, ...]:
    """In the order of the files. One that says what another of its folder says is not repeated."""
    found: list[Instruction] = []
    said: dict[tuple[str, str], None] = {}
    for source in sources:
        item = instruction(source)
        if (key := (os.path.dirname(source.shown), item.text)) not in said and item.text:
            found.append(item)
        said[key] = None
    return tuple(found)


def instruction(source: Source, text: str | None = None) -> Instruction:
    """`text` is the part of it that is told, None for all."""
    shown, hidden = visible(source.data)
    if text is not None:
        shown = safe(scrub(text))
    return Instruction(source.shown, shown.strip(), source.by, source.origin == "user", len(source.data), hidden)


def visible(data: bytes) -> tuple[str, str]:
    """The text with what cannot be seen written as escapes, and what that was, in words ("U+202E x2") or ""."""
    text = scrub(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
    controls = "control characters" if _CONTROL.search(text) else ""
    return safe(text), ", ".join(part for part in (unseen(text), controls) if part)


def bounded(found: Sequence[Instruction]) -> tuple[tuple[Instruction, ...], tuple[Instruction, ...]]:
    """What fits into MOST_CHARS together, and what is left out: the least specific, which stand first."""
    kept, left, room = list[Instruction](), list[Instruction](), MOST_CHARS
    for item in reversed(found):
        fits = len(item.text) <= room
        (kept if fits else left).append(item)
        room -= len(item.text) if fits else 0
    return tuple(reversed(kept)), tuple(reversed(left))


def section(found: Sequence[Instruction]) -> str:
    """The section of the system prompt, each text under the name of its file; "" for none."""
    parts: list[str] = []
    for heading, own in ((OWN, True), (HEADING, False)):
        if blocks := [item.block for item in found if item.own is own]:
            parts += [heading, *blocks]
    return "\n\n".join(parts)


def told(text: str) -> set[str]:
    """The paths of the files that a text tells, as `block` names them."""
    return set(_TOLD.findall(text))
