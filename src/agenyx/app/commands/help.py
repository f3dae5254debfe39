"""/help: the commands there are, where those that are not ours come from, and which cannot be used."""

from __future__ import annotations

from agenyx.app.commands.found import found
from agenyx.app.commands.spec import Command, Desk, Reply
from agenyx.app.commands.table import BUILTIN, BY_NAME
from agenyx.core.errors import UsageError

_WIDTH = 24
_TEXT = 200  # characters of a description that is not ours


async def run(desk: Desk, args: str) -> Reply:
    """`args` is the name of a command, or "" for all."""
    others = found(desk.conversation)
    if args:
        name = args.removeprefix("/").lower()
        command = BY_NAME.get(name) or others.commands.get(name)
        if command is None:
            raise UsageError(f"there is no command /{name}", "/help lists them all.")
        return Reply("\n".join(_explained(command)), _data(command))
    rows = [_row(command) for command in BUILTIN]
    if others.commands:
        rows += ["", "from files:", *(_row(command) for command in others.commands.values())]
    rows += ["", *(f"{problem}." for problem in others.problems)] if others.problems else []
    commands = [_data(command) for command in (*BUILTIN, *others.commands.values())]
    return Reply("\n".join(rows), {"commands": commands, "problems": list(others.problems)})


def usage(command: Command) -> str:
    return f"/{command.name} {command.args}".rstrip()


def _row(command: Command) -> str:
    return f"  {usage(command):<{_WIDTH}} {_one_line(command)}".rstrip()


def _one_line(command: Command) -> str:
    text = " ".join(command.text.split())
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}..."


def _explained(command: Command) -> list[str]:
    rows = [usage(command), _one_line(command)]
    if command.aliases:
        rows.append(f"also  {', '.join(f'/{alias}' for alias in command.aliases)}")
    if command.choices:
        rows.append(f"one of  {', '.join(command.choices)}")
    if command.origin:
        rows.append(f"from  {command.origin}")
    return rows


def _data(command: Command) -> dict[str, object]:
    return {
        "name": command.name,
        "description": command.text,
        "argument_hint": command.args,
        "aliases": list(command.aliases),
        "origin": command.origin or "builtin",
    }
