"""`agenyx mcp`: the MCP servers that are configured: list, add, remove, try, approve."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import structs

from agenyx.app import mcp_files
from agenyx.app.mcp_approval import described, is_secret, masked
from agenyx.app.mcp_bench import Entry, McpBench, Trial
from agenyx.app.mcp_files import Scope
from agenyx.config.configured import keys
from agenyx.core import json
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.tty import safe
from agenyx.ext.mcp.config import read
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK, complaint, write_error
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx mcp list [--check] [--json]
       agenyx mcp add NAME [--scope user|project] [--env NAME=VALUE]... -- COMMAND [ARGUMENT]...
       agenyx mcp add NAME [--scope user|project] --json '{"command": "...", "args": [...], "env": {...}}'
       agenyx mcp get NAME [--json]
       agenyx mcp remove NAME [--scope user|project]
       agenyx mcp test NAME [--json]
       agenyx mcp approve NAME
       agenyx mcp revoke NAME

An MCP server is a program that offers tools; Agenyx starts it and talks with it over its standard input and output.
Yours stand in mcp.json in the home; a workspace that you trust brings .mcp.json and .agenyx/mcp.json, and each server
there needs your yes once, and again when its configuration changes; --mcp-config gives some for one run. Of two with
one name --mcp-config counts, then the workspace, then yours. A value may hold $NAME or ${NAME:-default}.
Its tools are called mcp__NAME__tool, in rules too: --allowed-tools mcp__git__git_status, or mcp__git for all of them.

  list      every server, what it starts and whether it would; --check starts each and stops it again
  add       write one down: for you (user, the default), or for all who work here (project, .mcp.json)
  get       all about one; secret values are not shown
  remove    take it out of the file
  test      start it, show its tools with what they take in a request, ping it, stop it
  approve   say yes to a server of this workspace; revoke takes it back

  --cwd DIR             for this workspace instead of the current directory
  --trust-workspace     as if the workspace were trusted and its servers approved
  --json                list, get, test: one JSON object, for programs

Examples:
  agenyx mcp add git -- mcp-server-git --repository .
  agenyx mcp add notes --env 'TOKEN=$NOTES_TOKEN' -- npx -y notes-server
  agenyx mcp test git
"""
_SHOWN = 90  # characters of a description


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises AgenyxError."""
    own, program, pairs = _split(argv)
    adds = own[:1] == ["add"]
    switches = ("--check", "--trust-workspace") if adds else ("--check", "--trust-workspace", "--json")
    values = ("--cwd", "--scope", *(("--json",) if adds else ()))
    given = arguments("mcp", own, switches=switches, values=values, words=(0, 2))
    if given.help:
        show(HELP)
        return OK
    bench = McpBench(env, given.value("--cwd"), trust=given.on("--trust-workspace"))
    match given.words:
        case ["list"]:
            return asyncio.run(_list(given, bench))
        case ["add", name]:
            return _add(given, bench, name, program, pairs)
        case ["get", name]:
            return _get(given, asyncio.run(bench.open()).entry(name))
        case ["remove", name]:
            return _remove(given, bench, name)
        case ["test", name]:
            return asyncio.run(_test(given, bench, name))
        case ["approve", name]:
            return asyncio.run(_approve(bench, name))
        case ["revoke", name]:
            if not bench.approvals.revoke(name):
                raise UsageError(f"the server {name!r} was not approved for this workspace", "See: agenyx mcp list")
            return _say(f"{name} will be asked about again.")
        case ["add" | "get" | "remove" | "test" | "approve" | "revoke" as what]:
            raise UsageError(f"agenyx mcp {what} needs the name of a server", "See: agenyx mcp --help")
        case []:
            raise UsageError("agenyx mcp needs a command", "See: agenyx mcp --help")
        case words:
            raise UsageError(f"agenyx mcp does not understand: {' '.join(words)}", "See: agenyx mcp --help")


def _split(argv: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The words of this command, the program behind --, and the values of --env. Raises UsageError."""
    own, program, pairs = list[str](), list[str](), list[str]()
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            program = rest
            break
        if word in ("--env", "-e") or word.startswith("--env="):
            value = word.partition("=")[2] if "=" in word else rest.pop(0) if rest else ""
            if not value.partition("=")[1] or value.startswith("="):
                raise UsageError("--env needs NAME=VALUE", "For example: --env 'TOKEN=$NOTES_TOKEN'")
            pairs.append(value)
        else:
            own.append(word)
    return own, program, pairs


# --- looking --------------------------------------------------------------------------------------------------------


async def _list(given: Arguments, bench: McpBench) -> int:
    await bench.open()
    trials: dict[str, Trial] = {}
    if given.on("--check"):
        able = [entry.config for entry in bench.entries if not entry.why]
        trials = {one.name: one for one in await asyncio.gather(*map(bench.test, able))}
    if given.on("--json"):
        rows = [entry.data | _checked(trials.get(entry.config.name)) for entry in bench.entries]
        _json({"servers": rows, "problems": list(bench.problems)})
    else:
        lines = [line for entry in bench.entries for line in _rows(entry, trials.get(entry.config.name))]
        lines += [f"note: {problem}" for problem in bench.problems]
        _say("\n".join(lines) or "No MCP servers are configured. agenyx mcp add NAME -- COMMAND adds one.")
    return FAILED if any(trial.error for trial in trials.values()) else OK


def _rows(entry: Entry, trial: Trial | None) -> list[str]:
    config = entry.config
    state = f"does not start: {entry.why}" if entry.why else "starts with a conversation"
    if trial is not None:
        state = f"failed: {trial.error}" if trial.error else f"works: {len(trial.tools)} tools in {trial.start:.1f} s"
    shown = " ".join((config.shown.command, *masked(config.shown.args)))
    return [f"{config.name}  {state}", f"  {config.source}, {config.path}: {_clip(shown)}"]


def _get(given: Arguments, entry: Entry) -> int:
    if given.on("--json"):
        _json(entry.data)
        return OK
    return _say("\n".join([entry.config.name, *described(entry.config), entry.why or "starts with a conversation"]))


async def _test(given: Arguments, bench: McpBench, name: str) -> int:
    await bench.open()
    entry = bench.entry(name)
    if entry.why and not entry.config.disabled:
        raise UsageError(f"{entry.config.name} is not started: {entry.why}", "Or try it with --trust-workspace.")
    trial = await bench.test(structs.replace(entry.config, disabled=False))
    if given.on("--json"):
        _json(structs.asdict(trial) | {"tools": [structs.asdict(tool) for tool in trial.tools]})
    elif trial.error:
        write_error(safe(complaint(trial.error, trial.fix)))
    else:
        _say("\n".join(_report(trial)))
    return FAILED if trial.error else OK


def _report(trial: Trial) -> list[str]:
    size = sum(tool.size for tool in trial.tools)
    name = f" ({trial.title})" if trial.title else ""
    lines = [
        f"{trial.name}{name} started in {trial.start:.2f} s and speaks {trial.revision}",
        f"  ping {trial.ping * 1000:.0f} ms, stopped in {trial.stop:.2f} s",
        f"  {len(trial.tools)} tools, {size:,} bytes in each request; {trial.resources} resources, "
        f"{trial.prompts} prompts",
    ]
    width = max((len(tool.name) for tool in trial.tools), default=0)
    lines += [f"  {tool.name:<{width}} {tool.size:>6,}  {_clip(tool.text)}" for tool in trial.tools]
    return lines + [f"  note: {problem}" for problem in trial.problems]


# --- changing -------------------------------------------------------------------------------------------------------


def _add(given: Arguments, bench: McpBench, name: str, program: list[str], pairs: list[str]) -> int:
    entry = _entry(given, program, pairs)
    scope = _scope(given) or "user"
    try:
        hidden = keys(bench.env, bench.home)
    except ConfigError:
        hidden = ()
    found = read(json.encode({"mcpServers": {name: entry}}), scope, "", _AnyValue(), hidden)
    if found.problems:
        problem = found.problems[0]
        raise UsageError(f"the server {name!r} cannot be added: {problem.text}", problem.fix)
    (config,) = found.servers
    before, after = mcp_files.add(scope, bench.home, bench.workspace, name, entry)
    path = mcp_files.path_of(scope, bench.home, bench.workspace)
    if scope == "project":
        _own(bench, path, before, after)
        bench.approvals.grant(config)  # who writes it down says yes to it
    for key, value in config.shown.env:
        if is_secret(key, value):
            text = f"the value of {key} stands in plain text in {path}"
            write_error(complaint(text, f"Better keep it in your environment: --env '{key}=${key}'."))
    return _say(f"{name} was added to {path}. Try it: agenyx mcp test {name}")


def _entry(given: Arguments, program: list[str], pairs: list[str]) -> dict[str, Any]:
    if not given.value("--json"):
        if not program:
            raise UsageError(
                "agenyx mcp add needs a command behind --", "Such as: agenyx mcp add git -- mcp-server-git"
            )
        made: dict[str, Any] = {"command": program[0], "args": program[1:]}
        if pairs:
            made["env"] = dict(pair.split("=", 1) for pair in pairs)
        return made
    if program or pairs:
        raise UsageError("--json says all about a server", "Leave out --env and what stands behind --.")
    try:
        return json.convert(json.decode(given.value("--json")), dict[str, Any])
    except json.JsonError as error:
        fix = """Such as: --json '{"command": "mcp-server-git", "args": ["--repository", "."]}'"""
        raise UsageError(f"--json holds no JSON object: {error}", fix) from None


def _remove(given: Arguments, bench: McpBench, name: str) -> int:
    chosen = _scope(given)
    scopes: tuple[Scope, ...] = (chosen,) if chosen else ("user", "project")
    for scope in scopes:
        changed = mcp_files.remove(scope, bench.home, bench.workspace, name)
        if changed is not None:
            path = mcp_files.path_of(scope, bench.home, bench.workspace)
            if scope == "project":
                _own(bench, path, *changed)
                bench.approvals.revoke(name)
            return _say(f"{name} was removed from {path}.")
    raise UsageError(f"there is no MCP server named {name!r} to remove", "See: agenyx mcp list")


async def _approve(bench: McpBench, name: str) -> int:
    entry = (await bench.open()).entry(name)
    config = entry.config
    if config.source != "project":
        raise UsageError(f"{config.name} is yours, in {config.path}: it needs no approval", "See: agenyx mcp list")
    bench.approvals.grant(config)
    lines = [f"{config.name} may start here, until its configuration changes:", *described(config)]
    if not bench.trusted:
        lines.append("The workspace itself is not trusted yet: agenyx trust diff, then agenyx trust add")
    return _say("\n".join(lines))


def _own(bench: McpBench, path: str, before: bytes, after: bytes) -> None:
    """The person's own change of a trusted file keeps the trust in it."""
    import hashlib

    from agenyx.app.trust import approved_edit

    old, new = (hashlib.sha256(data).hexdigest() if data else "" for data in (before, after))
    with suppress(AgenyxError, OSError):  # the next start asks then
        approved_edit(bench.home, bench.workspace, path, old, new)


def _scope(given: Arguments) -> Scope | None:
    match given.value("--scope"):
        case "":
            return None
        case "user" | "project" as scope:
            return scope
        case other:
            raise UsageError(f"--scope cannot be {other!r}", "Choose user or project.")


class _AnyValue(dict[str, str]):
    """An environment in which every variable is set: what is written down may be used elsewhere."""

    def get(self, key: str, default: Any = None, /) -> Any:
        return "set"


# --- saying ---------------------------------------------------------------------------------------------------------


def _checked(trial: Trial | None) -> dict[str, object]:
    if trial is None:
        return {}
    return {"works": not trial.error, "error": trial.error or None, "tools": [tool.name for tool in trial.tools]}


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def _json(value: object) -> None:
    show(json.encode(value).decode() + "\n")


def _say(text: str) -> int:
    show(safe(text) + "\n")
    return OK
