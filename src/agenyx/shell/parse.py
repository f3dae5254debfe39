"""Turns the text of a shell script into the list of simple commands that it runs. Judges nothing, runs nothing of it.

shfmt parses. What it cannot parse, and every limit that is hit, is told as a reason, so that nothing unseen is taken
for seen. A script inside a script (`sh -c`, `eval`) is only a word here.
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
from agenyx.shell.words import Dialect

MAX_TEXT = 16_384  # bytes of one script
TIMEOUT = 1.0  # seconds for one run of the parser
_MAX_JSON = 16 << 20

# Controls but newline and tab, white space that bash takes for a letter, zero-width and bidirectional characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Parsed(Struct, frozen=True):
    """Every command found, outer before inner; `opaque` says why there may be others, or is empty.

    The directory of each is told from where the shell stands (Command.cwd). `functions` are the names that the script
    defines: their bodies are among the commands, and a command of such a name is not the program of that name.
    """

    commands: tuple[Command, ...]
    opaque: str = ""
    functions: frozenset[str] = frozenset()


async def parse(
    processes: Processes, text: str, env: Mapping[str, str], outside: str | None = None, dialect: Dialect = "bash"
) -> Parsed:
    """Parse one script. Never raises for what the text holds.

    `env` is the environment that the script would start with: HOME stands for itself, CDPATH decides on `cd`, and PWD,
    where given, is the directory that it surely starts in. It is searched for shfmt when our own installation lacks
    it, leaving out `outside` (the workspace).
    """
    shfmt = programs.find("shfmt", env, outside)
    if shfmt is None:
        return Parsed((), "the parser (shfmt) is not installed")
    tree, reason = await _tree(processes, shfmt, text, dialect)
    if tree is None:
        return Parsed((), reason)
    collected = collect(tree, env, dialect)
    return Parsed(collected.commands, collected.opaque, collected.functions)


async def _tree(processes: Processes, shfmt: str, text: str, dialect: Dialect) -> tuple[dict[str, Any] | None, str]:
    if match := _UNSEEN.search(text):
        return None, f"it holds the control or invisible character U+{ord(match[0]):04X}"
    data = text.encode()
    if len(data) > MAX_TEXT:
        return None, f"it is longer than {MAX_TEXT} bytes"
    spawn = Spawn(
        argv=(shfmt, "-ln", dialect, "--to-json"),
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
        return None, f"it is not valid {'bash' if dialect == 'bash' else 'sh'} as far as the parser can tell"
    try:
        tree = json.decode(ended.output.head)
    except json.JsonError:
        return None, "it is nested too deeply"
    if not isinstance(tree, dict):
        return None, "the parser (shfmt) gave an answer that is not understood"
    return cast("dict[str, Any]", tree), ""
