"""`agenyx trust`: shows, gives and takes back trust in what workspaces bring. Words only; the store does the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime

from agenyx.app.trust_question import described, gone, head, state, texts_of
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import ConfigError, UsageError
from agenyx.core.tty import safe
from agenyx.ext.acting import Inventory, take
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.reveal import reveal
from agenyx.ui.standard import show
from agenyx.workspace.names import parse
from agenyx.workspace.names import show as shown
from agenyx.workspace.trust import ALONE, BELOW, IMPORT, Grant, Trust

_ALONE = {IMPORT: "trusted by itself, taken in from outside", BELOW: "trusted by itself, of a folder below"}

HELP = """\
Usage: agenyx trust list [--json]
       agenyx trust list DIR [--json]
       agenyx trust add [DIR] [--yes]
       agenyx trust remove [DIR]
       agenyx trust diff [DIR] [--json]

A workspace may bring files that steer the agent: AGENTS.md and CLAUDE.md (also in the folders above it) with what they
take in by @path, and in .agenyx settings, rules, commands, skills, agents, hooks, styles and MCP servers; those of
.claude, .codex, .agents and .mcp.json too. They act only once you trust their content; a change is asked about again,
with its difference.
Trust belongs to the real path of a folder, and to that folder: a copy, a worktree or another clone is asked about anew.

  list            the workspaces that are trusted; with DIR, what acts there, and whether it is trusted
  add             show what acts in DIR (default: here), ask, and trust it
  remove          take trust back
  diff            what differs from what was trusted; exit code 1 when something does
  --yes           do not ask, for example in a script
"""


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments("trust", argv, switches=("--json", "--yes"), words=(0, 2))
    if given.help:
        show(HELP)
        return OK
    home = home_path(env)
    try:
        return _run(given, Trust(home), home)
    except OSError as error:
        raise ConfigError(f"trust cannot be stored in {home}: {error.strerror}", "Make it writable.") from error


def _run(given: Arguments, trust: Trust, home: str) -> int:
    match given.words:
        case ["list"]:
            return _workspaces(given, trust, home)
        case ["list", folder]:
            return _files(given, trust, home, _real(folder))
        case ["add", *rest]:
            return _add(given, trust, home, _real(*rest))
        case ["remove", *rest]:
            workspace = os.path.realpath(rest[0] if rest else os.curdir)
            known = trust.revoke(workspace)
            _say(f"{workspace} is {'no longer' if known else 'not'} trusted\n")
            return OK
        case ["diff", *rest]:
            return _diff(given, trust, home, _real(*rest))
        case []:
            raise UsageError("agenyx trust needs a command", "See: agenyx trust --help")
        case _:
            raise UsageError(f"agenyx trust does not understand: {' '.join(given.words)}", "See: agenyx trust --help")


def _real(folder: str = os.curdir) -> str:
    """Raises UsageError."""
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise UsageError(f"{folder} is not a directory", "Name the workspace.")
    return real


def _workspaces(given: Arguments, trust: Trust, home: str) -> int:
    rows: list[dict[str, object]] = []
    for name, grant in sorted(trust.all().items()):
        folder = os.fsdecode(parse(name))
        at = datetime.fromtimestamp(grant.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        rows.append({"workspace": name, "state": _state(trust, home, folder), "at": at, "files": sorted(grant.files)})
    if given.on("--json"):
        _say(json.encode(rows).decode() + "\n")
    elif not rows:
        _say("no workspace is trusted\n")
    else:
        wide = max(len(str(row["workspace"])) for row in rows)
        lines = [f"{str(row['workspace']).ljust(wide)}  {str(row['at'])[:10]}  {row['state']}\n" for row in rows]
        _say("".join(lines))
    return OK


def _state(trust: Trust, home: str, folder: str) -> str:
    grant = trust.grant_of(folder)
    if grant is None:
        return "another folder stands there" if os.path.isdir(folder) else "gone"
    inventory = take(folder, home, grant.files)
    return "unchanged" if not _changes(inventory, grant) else "changed"


def _changes(inventory: Inventory, grant: Grant | None) -> list[dict[str, str]]:
    """Each file that differs from what was trusted, and how."""
    rows = [{"path": item.shown, "state": state(item, grant) or "new"} for item in inventory.items]
    removed = [{"path": path, "state": "removed"} for path in gone(inventory, grant)]
    return [row for row in rows if row["state"] != "unchanged"] + removed


def _files(given: Arguments, trust: Trust, home: str, workspace: str) -> int:
    inventory, grant = _taken(trust, home, workspace)
    rows = [
        {
            "path": item.shown,
            "kind": item.kind,
            "size": item.file.size,
            "sha256": item.file.sha256,
            "trusted": state(item, grant) == "unchanged",
        }
        for item in inventory.items
    ]
    alone = {path: file for path, file in grant.files.items() if file.kind in ALONE} if grant else {}
    rows += [
        {"path": path, "kind": file.kind, "size": file.size, "sha256": file.sha256, "trusted": True}
        for path, file in sorted(alone.items())
    ]
    if given.on("--json"):
        _say(json.encode({"workspace": shown(os.fsencode(workspace)), "files": rows}).decode() + "\n")
        return OK
    lines = [f"{head(item, state(item, grant) or 'not trusted')}\n" for item in inventory.items]
    lines += [f"{path} ({_ALONE[file.kind]}, {file.size:,} bytes)\n" for path, file in sorted(alone.items())]
    _say("".join([*lines, *(f"{problem}\n" for problem in inventory.problems)]) or "nothing here acts\n")
    return OK


def _diff(given: Arguments, trust: Trust, home: str, workspace: str) -> int:
    inventory, grant = _taken(trust, home, workspace)
    changes = _changes(inventory, grant)
    if given.on("--json"):
        _say(json.encode({"workspace": shown(os.fsencode(workspace)), "changes": changes}).decode() + "\n")
    elif changes:
        _say(_text(inventory, trust, grant, {change["path"] for change in changes}))
    return FAILED if changes else OK


def _add(given: Arguments, trust: Trust, home: str, workspace: str) -> int:
    inventory, grant = _taken(trust, home, workspace)
    texts = texts_of(inventory)
    if not inventory.items:
        _say(
            "".join(f"{problem}\n" for problem in inventory.problems)
            + "nothing here acts, so there is nothing to trust\n"
        )
        return OK
    if len(texts) < len(inventory.items):
        raise ConfigError("a file changed while it was read", "Try again.")
    if not given.on("--yes"):
        if not os.isatty(0):
            raise UsageError("agenyx trust add asks on a terminal", "Add --yes once you have read agenyx trust diff.")
        _say(
            _text(inventory, trust, grant, inventory.files) + f"\nTrust this in {shown(os.fsencode(workspace))}? [y/N] "
        )
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            _say("nothing was changed\n")
            return FAILED
    trust.grant(workspace, inventory.files, texts.values())
    _say("".join(f"trusted: {head(item, '')}\n" for item in inventory.items))
    return OK


def _taken(trust: Trust, home: str, workspace: str) -> tuple[Inventory, Grant | None]:
    grant = trust.grant_of(workspace)
    return take(workspace, home, grant.files if grant else {}), grant


def _text(inventory: Inventory, trust: Trust, grant: Grant | None, only: Container[str]) -> str:
    """What acts, in full, with warnings of what cannot be seen; a line each for what was left out."""
    items = tuple(item for item in inventory.items if item.shown in only)
    part = Inventory(items, inventory.problems)
    text = reveal(described(part, trust, grant, texts_of(part), gone(inventory, grant)))
    lines = [*(f"WARNING: {warning}" for warning in text.warnings), *inventory.problems]
    return "\n".join([text.text, *lines]) + "\n"


def _say(text: str) -> None:
    show(safe(text))
