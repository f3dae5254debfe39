"""What an agent was made with, checked, and the settings of a conversation that follow from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from agenyx.api.approving import Approvals, Asked
from agenyx.api.tool import Tool
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile, check_key, clean_url
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.verdict import Choice, Mode
from agenyx.ext.hooks.callback import Callback
from agenyx.llm.request import Provider

Source = Literal["user", "project", "local"]
_FROM_HOME = ("provider", "model", "effort")


class Setup(Struct, frozen=True):
    """`provider` is an id, or the profile or provider itself. `servers` are MCP servers by name, as they were given."""

    settings: Settings
    env: Mapping[str, str]
    provider: str | Profile | Provider
    tools: tuple[Tool[..., Any, Any], ...] = ()
    hooks: tuple[Callback, ...] = ()
    approver: Asked | None = None
    approvals: Approvals = "deny"
    deps: Any = None
    secrets: tuple[str, ...] = ()
    servers: Mapping[str, object] = {}


def rules_of(allow: Sequence[str], ask: Sequence[str], deny: Sequence[str]) -> tuple[tuple[Choice, str, str], ...]:
    """The rules with their decision and where they stand. Raises UsageError for a text in place of a list."""
    given: tuple[tuple[Choice, Sequence[str]], ...] = (("deny", deny), ("ask", ask), ("allow", allow))
    for choice, rules in given:
        if isinstance(rules, str):
            raise UsageError(f"{choice}= is a text, and has to be a list of rules", f'Write {choice}=["{rules}"].')
    return tuple((choice, rule, f"{choice}=") for choice, rules in given for rule in rules)


def mode_of(mode: str | None, allow_bypass: bool) -> Mode:
    """Raises UsageError for what is none, and for bypassPermissions that was not asked for by its name."""
    if mode is not None and mode not in get_args(Mode):
        raise UsageError(f"there is no mode {mode!r}", f"The modes: {', '.join(get_args(Mode))}.")
    if mode == "bypassPermissions" and not allow_bypass:
        raise UsageError(
            "bypassPermissions runs whatever the model wants, so it has to be allowed by its own name",
            "Give allow_bypass=True where nothing can be damaged, or use acceptEdits and rules.",
        )
    return cast("Mode", mode or "default")


def profile_of(provider: str | Profile | Provider) -> str | Profile | Provider:
    """The provider; a profile with its address and key checked. Raises ConfigError."""
    if not isinstance(provider, Profile):
        return provider
    url = clean_url(provider.base_url, f"base_url of the profile {provider.id}")
    return replace(provider, base_url=url, api_key=check_key(provider.api_key, f"api_key of {provider.id}"))


def environment(env: Mapping[str, str] | None, home: str | os.PathLike[str] | None) -> dict[str, str]:
    found = dict(os.environ if env is None else env)
    if home is not None:
        found["AGENYX_HOME"] = os.path.abspath(os.fspath(home))
    return found


def from_home(settings: Settings, env: Mapping[str, str], home: str) -> Settings:
    """The provider, model and effort of the person's settings.toml, where nothing else says one. Raises ConfigError."""
    if not settings.of_person or not os.path.lexists(os.path.join(home, "settings.toml")):
        return settings
    from agenyx.config import settings as files
    from agenyx.config.settings_table import BY_NAME

    found = files.read(files.home_file(home))
    elsewhere = bool(settings.provider or settings.base_url)
    chosen: dict[str, str] = {}
    for name in _FROM_HOME:
        entry, variable = found.get(name), BY_NAME[name].variable if name in BY_NAME else ""
        if entry is None or getattr(settings, name) or (variable and env.get(variable, "").strip()):
            continue
        if not (elsewhere and name in ("provider", "model")):
            chosen[name] = str(entry.value)
    return replace(settings, **chosen, yielding=tuple(chosen))


def split_servers(servers: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """The servers that are started, as the JSON text of a configuration, and those that live in this process."""
    outside: dict[str, object] = {}
    inside: dict[str, object] = {}
    for name, server in servers.items():
        if not name.strip() or "__" in name or not name.isprintable():
            raise UsageError(f"{name!r} cannot be the name of an MCP server", "It is empty or holds __; rename it.")
        if isinstance(server, Mapping):
            outside[name] = dict(cast("Mapping[str, object]", server))
        else:
            inside[name] = server
    return (json.encode({"mcpServers": outside}).decode() if outside else ""), inside
