"""Whether a server of a workspace may start: a person's yes, bound to what its configuration says.

The store lies in the home. Trust in the workspace comes before; this is asked about each server by itself, as a server
is a program that starts on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from agenyx.agent.ports import Approver, Deferred
from agenyx.app.mcp_sources import Tell, place_of
from agenyx.config.private import read_private, replace_private
from agenyx.config.secrets import SECRET_NAME
from agenyx.core import json
from agenyx.core.approval import Approval
from agenyx.core.errors import ConfigError
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.tty import safe
from agenyx.core.verdict import Reason, Verdict
from agenyx.ext.mcp.config import ServerConfig, fingerprint

FILE = "mcp-approved.json"
_LIMIT = 1 << 20
_REASON = "a server is a program that starts by itself; a yes holds until its configuration changes"


class Approvals:
    """Of one workspace, a real path. Reading and writing raise ConfigError."""

    def __init__(self, home: str, workspace: str) -> None:
        self._home, self._workspace = home, workspace

    def holds(self, config: ServerConfig) -> bool:
        return self._known().get(config.name) == fingerprint(config)

    def changed(self, config: ServerConfig) -> bool:
        """Whether another configuration of it was approved."""
        return self._known().get(config.name, fingerprint(config)) != fingerprint(config)

    def grant(self, *configs: ServerConfig) -> None:
        every = self._all()
        mine = every.setdefault(self._workspace, {})
        mine |= {config.name: fingerprint(config) for config in configs}
        self._write(every)

    def revoke(self, name: str) -> bool:
        """Take it back. False when there was none."""
        every = self._all()
        found = every.get(self._workspace, {}).pop(name, None)
        if found is not None:
            self._write(every)
        return found is not None

    def _known(self) -> dict[str, str]:
        return self._all().get(self._workspace, {})

    def _all(self) -> dict[str, dict[str, str]]:
        data = read_private(self._home, FILE, _LIMIT)
        if data is None:
            return {}
        try:
            return json.convert(json.strict(data, dict[str, Any])["workspaces"], dict[str, dict[str, str]])
        except (json.JsonError, KeyError):
            raise ConfigError(f"{self._home}/{FILE} is damaged", "Remove it; you will be asked again.") from None

    def _write(self, every: dict[str, dict[str, str]]) -> None:
        kept = {path: servers for path, servers in every.items() if servers}
        replace_private(self._home, FILE, json.encode({"version": 1, "workspaces": kept}) + b"\n")


async def approved(
    configs: Sequence[ServerConfig],
    approvals: Approvals,
    approver: Approver | None,
    tell: Tell,
    workspace: str,
    *,
    trusted: bool = False,
) -> tuple[ServerConfig, ...]:
    """Those that may start. Only those of the workspace need a yes; `trusted` is one for this run."""
    found = list[ServerConfig]()
    for config in configs:
        if config.source != "project" or trusted or await _may(config, approvals, approver, tell):
            found.append(config)
        elif not config.disabled:
            tell(
                f"The MCP server {config.name!r} of {place_of(config, workspace)} was left out: it is not approved.",
                f"Look at it with: agenyx mcp get {config.name}; then: agenyx mcp approve {config.name}, or "
                "--trust-workspace for one run.",
            )
    return tuple(found)


async def _may(config: ServerConfig, approvals: Approvals, approver: Approver | None, tell: Tell) -> bool:
    try:
        if approvals.holds(config):
            return True
        if config.disabled:
            return False
        asked = question(config, changed=approvals.changed(config))
    except ConfigError as error:
        tell(f"{error.message}.", error.fix)
        return False
    if approver is None:
        return False
    try:
        answer = await approver.decide(asked)
    except Deferred:
        return False
    if answer.choice != "allow":
        return False
    try:
        approvals.grant(config)
    except ConfigError as error:
        tell(f"Your answer could not be stored: {error.message}.", "You will be asked again.")
    return True


def question(config: ServerConfig, *, changed: bool = False) -> Approval:
    """All that a person needs to say yes or no."""
    about = " (its configuration changed since your yes)" if changed else ""
    return Approval(
        "trust",
        ToolCall("", "", f"Starting the MCP server {safe(config.name)} of this workspace{about}", "{}"),
        Verdict("ask", (Reason("rule", _REASON),)),
        Effects(preview="\n".join(described(config))),
    )


def described(config: ServerConfig) -> list[str]:
    """What it starts and with what, for people. Values of its environment are shown only where they are no secrets."""
    shown = config.shown
    rows = [("program", shown.command)]
    rows += [("argument", arg) for arg in masked(shown.args)]
    rows += [("environment", f"{name}={value}") for name, value in masked_env(shown.env)]
    rows += [("your variable", name) for name in config.uses]
    rows += [("directory", shown.cwd)] if shown.cwd else []
    rows.append(("written in", config.path))
    return [f"{label:<14} {safe(json.encode(value).decode()[1:-1])}" for label, value in rows]


def masked_env(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names with values; of a name that speaks of a secret only whether there is one. A variable is no secret."""
    return [(name, "(hidden)" if is_secret(name, value) else value) for name, value in pairs]


def masked(args: Iterable[str]) -> list[str]:
    """Arguments as they are shown: of `--token=x` and what follows `--token` only the name."""
    found, hide = list[str](), False
    for arg in args:
        name, equals, value = arg.partition("=")
        secret = name.startswith("-") and bool(SECRET_NAME.search(name.lstrip("-").replace("-", "_").upper()))
        if hide and not arg.startswith("-"):
            found.append("(hidden)" if "$" not in arg else arg)
        elif secret and equals:
            found.append(f"{name}={value if '$' in value else '(hidden)'}")
        else:
            found.append(arg)
        hide = secret and not equals
    return found


def is_secret(name: str, value: str) -> bool:
    return bool(SECRET_NAME.search(name)) and bool(value) and not value.startswith("$")


def data_of(config: ServerConfig) -> dict[str, object]:
    """The same for programs."""
    shown = config.shown
    return cast(
        "dict[str, object]",
        {
            "name": config.name,
            "scope": config.source,
            "path": safe(config.path),
            "command": safe(shown.command),
            "args": [safe(arg) for arg in masked(shown.args)],
            "env": {safe(name): safe(value) for name, value in masked_env(shown.env)},
            "cwd": safe(shown.cwd) or None,
            "variables": list(config.uses),
            "disabled": config.disabled,
            "fingerprint": fingerprint(config),
        },
    )
