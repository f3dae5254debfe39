"""What of a call's Effects checkpoints are taken of, and whether more may change than they name. Looks, never acts."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agenyx.core.tools import Command, Effects
from agenyx.workspace.names import literal
from agenyx.workspace.root import Root

_WORDS = 50  # of a command that are looked at


def named(effects: Effects, root: Root) -> list[bytes]:
    """The paths that the Effects name as changed, and the folders above them that are still missing."""
    found: dict[bytes, None] = {}
    refs = [ref.real for ref in (*effects.writes, *effects.removes) if not ref.problem and ref.root != "/dev"]
    for real in (*refs, *(link for command in effects.commands for link in _links(command, root))):
        if not real or not ours(real, root):
            continue
        missing: list[bytes] = []
        above = os.path.dirname(real)
        while root.holder(above) is not None and not os.path.lexists(above):
            missing.append(above)
            above = os.path.dirname(above)
        found.update(dict.fromkeys([*reversed(missing), real]))
    return list(found)


def _links(command: Command, root: Root) -> Iterator[bytes]:
    """Links in the workspace that the words of a command name: `mv` and `ln -f` replace the link that is written to."""
    words = [word for word in command.argv[1:] if word and not word.startswith("-")] if command.writes else []
    for word in words[:_WORDS]:
        if command.cwd is None and not word.startswith("/"):
            continue
        place = os.path.join(root.real, literal(command.cwd or ""), literal(word)).rstrip(b"/")
        inside = [os.path.join(place, os.path.basename(literal(other))) for other in words[:_WORDS]]
        for path in (place, *(inside if os.path.isdir(place) else ())):
            if os.path.islink(path):
                real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
                if root.holder(real) is not None:
                    yield real


def ours(real: bytes, root: Root) -> bool:
    """Whether checkpoints are taken of a path: not of the inside of a repository, nor of Agenyx's own folder."""
    return b"/.git/" not in real + b"/" and not root.owns(real)


def unseen(effects: Effects) -> bool:
    """Whether more may change than the Effects name."""
    return bool(effects.opaque) or any(_partly(command) for command in effects.commands)


def _partly(command: Command) -> bool:
    kinds = set(command.kinds)
    nameless = ("writes" in kinds and not command.writes) or ("removes" in kinds and not command.removes)
    return bool(command.why or kinds & {"runs", "unknown"} or nameless)


def discards(command: Command) -> bool:
    return any(one.level == "danger" and one.part.startswith("git ") for one in command.concerns)


def folder_of(command: Command) -> str:
    """The directory that `git -C` names."""
    words = [word or "" for word in command.argv]
    return words[words.index("-C") + 1] if "-C" in words[:-1] else ""
