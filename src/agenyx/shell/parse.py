"""Turns a shell command into the list of simple commands that it runs. Judges nothing and runs nothing of it.

shfmt parses. What it cannot parse, and every limit that is hit, is told as a reason, so that nothing unseen is taken
for seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.tools import Command
from agenyx.proc import programs
from agenyx.proc.spawn import ProcessError, Processes, Spawn
from agenyx.shell.commands import collect
from agenyx.shell.wrappers import unwrap

MAX_TEXT = 16_384  # bytes of one script
MAX_SCRIPTS = 8  # scripts within scripts; each is one run of the parser
TIMEOUT = 1.0  # seconds for one run of the parser
_MAX_JSON = 16 << 20

# Controls but newline and tab, white space that bash takes for a letter, zero-width and bidirectional characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Parsed(Struct, frozen=True):
    """Every command found, outer before inner; `opaque` says why there may be others, or is empty."""

    commands: tuple[Command, ...]
    opaque: str = ""


async def parse(processes: Processes, text: str, env: Mapping[str, str], outside: str | None = None) -> Parsed:
    """Parse a command for bash. Never raises for what the text holds.

    `env` is only searched for shfmt when our own installation lacks it, leaving out `outside` (the workspace).
    """
    shfmt = programs.find("shfmt", env, outside)
    if shfmt is None:
        return Parsed((), "the parser (shfmt) is not installed")
    found: list[Command] = []
    opaque = ""
    scripts = [text]
    for count, script in enumerate(scripts):  # grows while it is walked
        if count >= MAX_SCRIPTS:
            opaque = opaque or "it holds too many scripts within scripts"
            break
        tree, reason = await _tree(processes, shfmt, script)
        opaque = opaque or reason
        if tree is None:
            continue
        collected = collect(tree)
        opaque = opaque or collected.opaque
        for command in collected.commands:
            inside = unwrap(command)
            found += (command, *inside.commands)
            scripts += inside.scripts
            opaque = opaque or inside.opaque
    return Parsed(tuple(found), opaque)


async def _tree(processes: Processes, shfmt: str, text: str) -> tuple[dict[str, Any] | None, str]:
    if match := _UNSEEN.search(text):
        return None, f"it holds the control or invisible character U+{ord(match[0]):04X}"
    data = text.encode()
    if len(data) > MAX_TEXT:
        return None, f"it is longer than {MAX_TEXT} bytes"
    spawn = Spawn(
        argv=(shfmt, "-ln", "bash", "--to-json"),
        cwd="/",
        env={},
        stdin=data,
        stderr="drop",
        timeout=TIMEOUT,
        head=_MAX_JSON,
        tail=0,
        stop_after=_MAX_JSON,
    )
    try:
        ended = await processes.run(spawn)
    except ProcessError:
        return None, "the parser (shfmt) could not be started"
    if ended.timed_out or ended.capped:
        return None, "parsing it takes too long"
    if ended.code != 0:
        return None, "it is not valid bash as far as the parser can tell"
    try:
        tree = json.decode(ended.output.head)
    except json.JsonError:
        return None, "it is nested too deeply"
    if not isinstance(tree, dict):
        return None, "the parser (shfmt) gave an answer that is not understood"
    return cast("dict[str, Any]", tree), ""
