"""What an MCP server is configured to be: reading the ecosystem's JSON shape, checking it, expanding variables. Pure.

Knows neither where the files lie nor whether they are trusted; starts nothing. One server that is wrong is left out
with a problem and never takes another one along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from msgspec import Struct

from agenyx.config.environment import ROWS
from agenyx.config.secrets import SECRET_NAME, is_strong
from agenyx.core import json
from agenyx.ext.mcp.expand import Expander, Unset
from agenyx.ext.mcp.names import server_slug

Source = Literal["user", "project", "argv"]

FILE_BYTES = 4 << 20
NAME_BYTES = 128
MOST_SERVERS = 128
MESSAGE_BYTES = 4 << 20
_MESSAGE = (1 << 10, 64 << 20)
_LONGEST = 24 * 3600.0  # seconds of any time limit
_TIMES = ("connect_timeout", "request_timeout", "tool_timeout")
_CREDENTIALS = frozenset(row.key_variable for row in ROWS)
_SHORTEST = 8  # bytes of a credential that is looked for within other values


class Written(Struct, frozen=True):
    """What stands in the file, before variables are put in: this is what a person sees and approves."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""


class ServerConfig(Struct, frozen=True):
    """One server over stdio. Times in seconds; `cwd` "" is the workspace; `path` is where it stands.

    `command`, `args`, `env` and `cwd` have their variables put in and may hold secrets: show `written`. `uses` names
    the variables of the user's environment that the server gets by that.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    disabled: bool = False
    connect_timeout: float = 30.0
    request_timeout: float = 60.0
    tool_timeout: float = 600.0
    max_message_bytes: int = MESSAGE_BYTES
    source: Source = "user"
    path: str = ""
    written: Written | None = None
    uses: tuple[str, ...] = ()

    @property
    def shown(self) -> Written:
        return self.written or Written(self.command, self.args, self.env, self.cwd)

    @property
    def slug(self) -> str:
        """The server in names of tools and in rules: `mcp__SLUG__tool`."""
        return server_slug(self.name)


class Problem(Struct, frozen=True):
    """Why a server ("" for the whole file) is left out or not what it seems, and what to do about it."""

    server: str
    text: str
    fix: str = ""


class Read(Struct, frozen=True):
    servers: tuple[ServerConfig, ...] = ()
    problems: tuple[Problem, ...] = ()


def read(data: bytes, source: Source, path: str, env: Mapping[str, str], credentials: Iterable[str] = ()) -> Read:
    """The servers of one file: {"mcpServers": {name: {command, args, env, …}}}. Never raises.

    `env` is where variables come from; `credentials` are keys of model providers, which no server may get.
    """
    if len(data) > FILE_BYTES:
        return Read((), (Problem("", f"{path} is larger than {FILE_BYTES >> 20} MiB", "Make it smaller."),))
    try:
        document = json.strict(data, dict[str, Any])
        entries = json.convert(document.get("mcpServers", {}), dict[str, Any])
    except json.JsonError as error:
        fix = 'It holds {"mcpServers": {"name": {"command": "program", "args": []}}}.'
        return Read((), (Problem("", f"{path} is not valid: {error}", fix),))
    servers, problems = list[ServerConfig](), list[Problem]()
    hidden = tuple(value for value in credentials if len(value.encode("utf-8", "surrogatepass")) >= _SHORTEST)
    for name, entry in list(entries.items())[:MOST_SERVERS]:
        try:
            servers.append(_server(name, entry, source, path, env, hidden))
        except _Wrong as wrong:
            problems.append(Problem(name, str(wrong), wrong.fix))
    if len(entries) > MOST_SERVERS:
        problems.append(Problem("", f"{path} names more than {MOST_SERVERS} servers; the rest is left out"))
    return Read(tuple(servers), tuple(problems))


def merge(layers: Iterable[Read]) -> Read:
    """All layers as one, from the weakest to the strongest: of two servers of one name the stronger counts.

    A server that runs the very same command as another is left out as well; both are told as problems.
    """
    found, problems = dict[str, ServerConfig](), list[Problem]()
    for layer in layers:
        problems += layer.problems
        for server in layer.servers:
            key = server.slug.casefold()
            if (other := found.pop(key, None)) is not None:
                problems.append(Problem(other.name, _shadowed(other, server)))
            found[key] = server
    same = dict[str, ServerConfig]()
    for key, server in sorted(found.items(), key=lambda pair: pair[1].source != "argv"):  # the host's stays
        twin = same.setdefault(fingerprint(server), server)
        if twin is not server:
            del found[key]
            problems.append(Problem(server.name, f"it is the same command as {twin.name!r} and is left out"))
    return Read(tuple(found.values()), tuple(problems))


def fingerprint(config: ServerConfig) -> str:
    """SHA-256 in hex of what an approval is bound to: command, arguments, environment and directory as written.

    The values of variables are not in it: a token may be renewed without a new question.
    """
    shown = config.shown
    return hashlib.sha256(json.canonical([shown.command, shown.args, sorted(shown.env), shown.cwd])).hexdigest()


def secret_values(configs: Iterable[ServerConfig]) -> tuple[str, ...]:
    """Values of servers' environments that look like secrets, to be masked like those of our own environment."""
    pairs = ((name, value) for config in configs for name, value in config.env)
    return tuple(dict.fromkeys(value for name, value in pairs if SECRET_NAME.search(name) and is_strong(value)))


class _Wrong(Exception):
    def __init__(self, text: str, fix: str = "") -> None:
        super().__init__(text)
        self.fix = fix


def _shadowed(weaker: ServerConfig, stronger: ServerConfig) -> str:
    where = f" of {weaker.path}" if weaker.path else ""
    by = f" of {stronger.path}" if stronger.path else ""
    return f"the server{where} is hidden by the one named {stronger.name!r}{by}"


def _server(
    name: str, entry: object, source: Source, path: str, env: Mapping[str, str], credentials: tuple[str, ...]
) -> ServerConfig:
    if not name.strip() or len(name.encode()) > NAME_BYTES or "__" in name or not name.isprintable():
        raise _Wrong(f"its name is empty, longer than {NAME_BYTES} bytes or holds __", "Choose another name.")
    if not isinstance(entry, dict):
        raise _Wrong("it is no object", 'Write {"command": "program", "args": []}.')
    fields = cast("dict[str, Any]", entry)
    kind = fields.get("type") or ("http" if "url" in fields else "stdio")
    if kind != "stdio":
        raise _Wrong(f"its type {kind!r} is not supported in this version yet", "Only stdio servers run.")
    written = Written(
        _text(fields, "command", required=True),
        tuple(_texts(fields, "args")),
        tuple(sorted(_environment(fields).items())),
        _text(fields, "cwd"),
    )
    expander = Expander(env, _CREDENTIALS)
    try:
        command, cwd = expander(written.command), expander(written.cwd)
        args = tuple(map(expander, written.args))
        values = tuple((key, expander(value)) for key, value in written.env)
    except Unset as problem:
        raise _Wrong(str(problem), problem.fix) from None
    for value in (command, cwd, *args, *(value for _, value in values)):
        if any(secret in value for secret in credentials):
            raise _Wrong("it would get a model provider's key", "Give the server a key of its own.")
    times = {field: _seconds(fields, field) for field in _TIMES if field in fields}
    return ServerConfig(
        name,
        command,
        args,
        values,
        cwd,
        disabled=_flag(fields, "disabled"),
        max_message_bytes=_size(fields),
        source=source,
        path=path,
        written=written,
        uses=tuple(expander.used),
        **times,
    )


def _text(fields: dict[str, Any], field: str, required: bool = False) -> str:
    value = fields.get(field, "")
    if not isinstance(value, str) or (required and not value.strip()) or "\0" in value:
        raise _Wrong(f"its {field} is {'missing or ' * required}no text", f'Write "{field}": "…".')
    return json.scrub(value)


def _texts(fields: dict[str, Any], field: str) -> list[str]:
    value = fields.get(field, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) and "\0" not in item for item in items):
        raise _Wrong(f"its {field} is no list of texts", f'Write "{field}": ["…"].')
    return [json.scrub(item) for item in cast("list[str]", items)]


def _environment(fields: dict[str, Any]) -> dict[str, str]:
    value: object = fields.get("env") or {}
    pairs = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    for name, text in pairs.items():
        if not name or "=" in name or "\0" in name or not isinstance(text, str) or "\0" in text:
            raise _Wrong("its env is no object of texts", 'Write "env": {"NAME": "value"}.')
        if name in _CREDENTIALS:
            raise _Wrong(f"its env sets {name}, which is a model provider's key", "Leave it out.")
    return {name: json.scrub(text) for name, text in cast("dict[str, str]", pairs).items()}


def _flag(fields: dict[str, Any], field: str) -> bool:
    value = fields.get(field, False)
    if not isinstance(value, bool):
        raise _Wrong(f"its {field} is neither true nor false", f'Write "{field}": true.')
    return value


def _seconds(fields: dict[str, Any], field: str) -> float:
    value = fields[field]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST:
        raise _Wrong(f"its {field} is no number of seconds up to {_LONGEST:,.0f}", f'Write "{field}": 30.')
    return float(value)


def _size(fields: dict[str, Any]) -> int:
    value = fields.get("max_message_bytes", MESSAGE_BYTES)
    low, high = _MESSAGE
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _Wrong(f"its max_message_bytes is not between {low:,} and {high:,}", "Leave it out.")
    return value
