"""The smallest rules that "always allow" may save for a call that is asked about for want of a rule. Pure.

All that is missing or nothing: a rule that would leave the call asked about is not offered. Never a wildcard for what
starts other programs, contacts hosts or removes, never a rule for what is not wholly seen.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.core.verdict import Rule
from agenyx.policy.match import Access, Cover, unseen, within
from agenyx.policy.rules import parse_rule

if TYPE_CHECKING:
    from agenyx.policy.decide import Policy

_MOST_CHARS = 500  # nobody reads a longer rule before saving it
_MOST_RULES = 10
_MAGIC = "\\*?[]{}!"


def offers(name: str, effects: Effects, policy: Policy, covers: Sequence[Cover], idle_passes: bool) -> tuple[Rule, ...]:
    """Rules of the session that allow the call, () where there are none that are safe to offer."""
    texts = _texts(name, effects, policy, covers, idle_passes)
    if texts is None or not 0 < len(texts) <= _MOST_RULES:
        return ()
    try:
        return tuple(parse_rule(text, "allow", "session") for text in texts)
    except AgenyxError:  # the grammar cannot say it, such as a parenthesis
        return ()


def _texts(name: str, effects: Effects, policy: Policy, covers: Sequence[Cover], idle_passes: bool) -> list[str] | None:
    if name.startswith("mcp__"):
        return [name]
    if effects.opaque:
        return None
    if effects.commands and name != "Bash":  # a tool that runs one program: its name says it better than the words
        return [name]
    changes = (*effects.writes, *effects.removes)
    missing: list[str | None] = []
    if effects.commands:
        missing += _for_commands(effects.commands, covers, policy, idle_passes)
        paths = [*_for_paths(name, effects.commands, covers, policy, idle_passes)]
        missing += [_for_path(access, ref) for access, ref in paths]
        changes = tuple(ref for ref in changes if ref.root is None)
    else:
        missing += [_for_host(host) for host in effects.hosts if not policy.book.host(name, host)]
    missing += [_for_path("change", ref) for ref in changes if not policy.book.path("change", name, ref)]
    if any(text is None for text in missing):
        return None
    return list(dict.fromkeys(text for text in missing if text is not None))


def _for_commands(
    commands: Sequence[Command], covers: Sequence[Cover], policy: Policy, idle_passes: bool
) -> list[str | None]:
    needed = [(command, cover) for command, cover in zip(commands, covers, strict=True) if not cover.rule]
    acting = [_for_command(command, policy) for command, cover in needed if not cover.idle]
    if acting or idle_passes:
        return acting
    return [_for_command(command, policy) for command, _ in needed]  # echo alone: there is nothing to stand beside


def _for_paths(
    name: str, commands: Sequence[Command], covers: Sequence[Cover], policy: Policy, idle_passes: bool
) -> Iterator[tuple[Access, PathRef]]:
    """The paths that the rules for the words of the commands will not speak of."""
    for command, cover in zip(commands, covers, strict=True):
        if not (cover.rule or (cover.idle and idle_passes)):
            yield from policy.book.beyond(name, command, not _prefixed(command))


def _for_command(command: Command, policy: Policy) -> str | None:
    """The rule for one command, or None."""
    words = [word for word in command.argv if word is not None]
    if not words or len(words) < len(command.argv) or any(unseen(one) for one in command.redirects):
        return None
    if command.why or command.assigns or command.prefix == "-":
        return None
    if "removes" in command.kinds or command.removes or not within(command.cwd, policy.workspace, policy.folders):
        return None
    if _foreign(words[0], command, policy):
        return None
    text = shlex.join(words)
    if _prefixed(command) and f"{text} ".startswith(f"{command.prefix} "):
        return f"Bash({command.prefix}:*)"
    pattern = text.replace("*", "\\*")
    return None if len(pattern) > _MOST_CHARS or "\n" in pattern else f"Bash({pattern})"


def _prefixed(command: Command) -> bool:
    """Whether a rule may leave the further words open: it only reads, whatever they are, and is at home in PATH.

    The words of what writes or runs code say what is written and run: `tee FILE`, `npm test -- --config=x.js`.
    """
    wide = command.prefix and set(command.kinds) <= {"reads"} and not command.hosts
    return bool(wide) and "/" not in command.prefix


def _foreign(program: str, command: Command, policy: Policy) -> bool:
    """Whether the program is named by a path that does not lead into the workspace, or depends on the directory."""
    if "/" not in program:
        return False
    if program.startswith("/"):
        return not within(program, policy.workspace)
    return not within(program, policy.workspace) or command.cwd not in ("", policy.workspace)


def _for_host(host: str) -> str:
    return f"WebFetch(domain:{host})"


def _for_path(access: Access, ref: PathRef) -> str | None:
    """The rule for exactly this path. A name that cannot be written as text has none."""
    if ref.problem or "\\x" in ref.shown or "\n" in ref.shown:
        return None
    shown = "".join(f"\\{char}" if char in _MAGIC else char for char in ref.shown)
    if len(shown) > _MOST_CHARS:
        return None
    tool = "Edit" if access == "change" else "Read"
    return f"{tool}(/{shown})" if ref.shown.startswith("/") else f"{tool}(/{shown.removeprefix('./')})"
