"""What the commands of a script do, in words, as a table for the person who has to judge them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agenyx.core.tools import Command, PathRef
from agenyx.policy.match_shell import describe
from agenyx.ui.reveal import reveal
from agenyx.ui.spans import cells, plain, wrap

_NARROW = 50  # columns below which what a command does stands under it
_LISTED = 5  # paths in a row; all of them stand in the lines below the table


def table(commands: Sequence[Command], width: int) -> list[str]:
    """One entry a command, in the order of the script; those that it starts are indented. Equal ones stand once."""
    entries: dict[tuple[str, str], int] = {}
    start = here = commands[0].cwd if commands else ""
    for command in commands:
        place = "" if command.cwd == here else where(command.cwd, start)
        here = command.cwd
        entry = (shown(command), deed(command) + place)
        entries[entry] = entries.get(entry, 0) + 1
    pairs = [(f"{name} (x{count})" if count > 1 else name, text) for (name, text), count in entries.items()]
    room = max(width * 2 // 5, 8)
    left = min(max((cells(name) for name, _ in pairs), default=0), room)
    rows: list[str] = []
    for name, text in pairs:
        indent = " " * (len(name) - len(name.lstrip()))
        if width < _NARROW:
            rows += [*_wrapped(name, width, f"{indent}    "), *_wrapped(f"{indent}  - {text}", width, f"{indent}    ")]
            continue
        names, texts = _wrapped(name, left, f"{indent}  "), _wrapped(text, width - left - 2, "")
        for at in range(max(len(names), len(texts))):
            head = names[at] if at < len(names) else ""
            tail = texts[at] if at < len(texts) else ""
            rows.append(f"{head}{' ' * (left - cells(head))}  {tail}".rstrip())
    return rows


def shown(command: Command) -> str:
    """The command on one line, as a shell would need its words quoted; `…` for what is not known before it runs."""
    assigns = "".join(f"{assign} " for assign in command.assigns) if command.argv else ""
    redirects = "".join(f" {one.op} {one.target or '…'}" for one in command.redirects) if command.argv else ""
    return ("  " if command.inside else "") + flat(f"{assigns}{describe(command)}{redirects}" or "(nothing)")


def deed(command: Command) -> str:
    """What it does, and what about it is not known."""
    kinds = set(command.kinds)
    parts: list[str] = []
    if "unknown" in kinds:
        parts.append("a program that Agenyx does not know" if command.argv else "not understood")
    if "runs" in kinds:
        parts.append("runs code that is not in its words")
    if "network" in kinds or command.hosts:
        parts.append(f"contacts {', '.join(command.hosts)}" if command.hosts else "uses the network")
    if "removes" in kinds or command.removes:
        parts.append(f"removes {_paths(command.removes)}")
    if "writes" in kinds or command.writes:
        parts.append(f"changes {_paths(command.writes)}")
    if "reads" in kinds or command.reads:
        parts.append(f"reads {_paths(command.reads)}" if command.reads else "only reads")
    if not parts:
        parts.append("nothing by itself")
    if command.why:
        parts.append(command.why)
    parts += [f"! {concern.text}" for concern in command.concerns]
    return flat("; ".join(parts))


def where(directory: str | None, start: str | None) -> str:
    """The directory of a command that began elsewhere: below `start` where it lies there."""
    if directory is None:
        return "; in a directory that is not known"
    below = directory.removeprefix(f"{start.rstrip('/')}/") if start else directory
    return flat(f"; in {below or 'the directory of before'}")


def flat(text: str) -> str:
    """Foreign text for one row: what cannot be seen and line ends are shown as escapes."""
    return reveal(text).text.replace("\n", "\\n").replace("\t", "\\t")


def _paths(refs: Sequence[PathRef]) -> str:
    if not refs:
        return "files"
    names = list(dict.fromkeys(ref.shown for ref in refs))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return [plain(row) for row in wrap((("", text),), max(width, len(indent) + 4), indent)]
