"""MCP servers outside a conversation: what is configured and whether it may start, and trying one.

Reading what a workspace writes down needs no trust, as nothing of it acts; starting it does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from msgspec import Struct

from agenyx.app.extensions import Extensions
from agenyx.app.mcp_approval import Approvals, data_of
from agenyx.app.mcp_sources import configured, told
from agenyx.app.release import version
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.config.home import home_path
from agenyx.config.secrets import secrets
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Host
from agenyx.ext.mcp.model import McpError
from agenyx.ext.mcp.names import tool_names
from agenyx.ext.mcp.server import Server
from agenyx.ext.mcp.tools import McpTool
from agenyx.proc.spawn import Processes


class Entry(Struct, frozen=True):
    """`why` says what keeps it from starting in a conversation, "" for nothing."""

    config: ServerConfig
    why: str = ""

    @property
    def data(self) -> dict[str, object]:
        return {**data_of(self.config), "starts": not self.why, "why": self.why or None}


class Tool(Struct, frozen=True):
    """`size` is what it takes in each request, in bytes."""

    name: str
    size: int
    text: str


class Trial(Struct, frozen=True):
    """How a server did. Times in seconds; `error` says what went wrong and what to do, "" when nothing did."""

    name: str
    error: str = ""
    fix: str = ""
    revision: str = ""
    title: str = ""
    start: float = 0.0
    ping: float = 0.0
    stop: float = 0.0
    tools: tuple[Tool, ...] = ()
    resources: int = 0
    prompts: int = 0
    problems: tuple[str, ...] = ()


class McpBench:
    """For one workspace. `entries` are the servers, `problems` sentences about what is left out."""

    def __init__(self, env: Mapping[str, str], cwd: str, *, trust: bool = False) -> None:
        """Raises UsageError."""
        self.env, self.home, self.workspace = env, home_path(env), os.path.realpath(cwd or os.curdir)
        if not os.path.isdir(self.workspace):
            raise UsageError(f"{cwd} is not a directory", "Name an existing one with --cwd.")
        self._trust = trust
        self.approvals = Approvals(self.home, self.workspace)
        self.entries: tuple[Entry, ...] = ()
        self.problems: tuple[str, ...] = ()

    async def open(self) -> McpBench:
        """Read everything. Raises ConfigError."""
        person = os.path.realpath(self.env["HOME"]) if self.env.get("HOME") else ""
        settings = Settings(self.workspace, trust=True)
        notes = list[str]()
        looking = Gate(settings, self.env, self.home, self.workspace, None, lambda _: None)
        await looking.open(resumed=True)  # what instructions take in is no matter here
        read = configured(
            Extensions(looking, self.home, person, lambda body: notes.append(getattr(body, "text", ""))),
            "",
            self.env,
            self.home,
        )
        self.trusted = self._trust
        if not self.trusted and any(config.source == "project" for config in read.servers):
            gate = Gate(Settings(self.workspace), self.env, self.home, self.workspace, None, lambda _: None)
            self.trusted = await gate.open(resumed=True)
        self.entries = tuple(Entry(config, self._why(config)) for config in read.servers)
        self.problems = (*notes, *(" ".join(told(problem)).strip() for problem in read.problems))
        return self

    def entry(self, name: str) -> Entry:
        """Raises UsageError."""
        found = next((one for one in self.entries if one.config.name.casefold() == name.casefold()), None)
        if found is None:
            why = next((problem for problem in self.problems if f"{name!r}" in problem), "")
            known = ", ".join(one.config.name for one in self.entries) or "none"
            raise UsageError(f"there is no MCP server named {name!r}", why or f"The servers are: {known}.")
        return found

    def _why(self, config: ServerConfig) -> str:
        if config.disabled:
            return "it is disabled"
        if config.source != "project" or self._trust:
            return ""
        if not self.approvals.holds(config):
            changed = "its configuration changed since it was" if self.approvals.changed(config) else "it is not"
            return f"{changed} approved: agenyx mcp approve {config.name}"
        return "" if self.trusted else "the workspace is not trusted: agenyx trust add"

    async def test(self, config: ServerConfig) -> Trial:
        """Start it, ask what it has, and stop it."""
        processes = Processes()
        hidden = secrets(self.env, self.home)
        host = Host(processes, self.workspace, self.env, hidden, version())
        server = Server(config, host, lambda server, what: None)
        begun = time.monotonic()
        try:
            try:
                await server.connect()
                up = time.monotonic()
                await server.ping()
                pinged = time.monotonic()
                resources, prompts = len(await server.resources()), len(await server.prompts())
            except McpError as error:
                return Trial(config.name, error.message, error.fix)
            names = tool_names(config.slug, (info.name for info in server.tools()))
            tools = tuple(_tool(McpTool(names[info.name], server, info)) for info in server.tools())
            standing, stopping = server.standing, time.monotonic()
            await server.close()
            return Trial(
                config.name,
                revision=standing.revision,
                title=standing.title,
                start=up - begun,
                ping=pinged - up,
                stop=time.monotonic() - stopping,
                tools=tools,
                resources=resources,
                prompts=prompts,
                problems=standing.problems,
            )
        finally:
            await server.close()
            await processes.close()


def _tool(tool: McpTool) -> Tool:
    text = " ".join(tool.info.description.split())
    return Tool(tool.name, len(json.encode(tool.spec)), text)
