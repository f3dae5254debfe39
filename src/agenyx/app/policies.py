"""The policy that a conversation starts with. Costs one look where no rule is set anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from agenyx.agent import context
from agenyx.app.settings import Settings
from agenyx.policy.decide import Policy

if TYPE_CHECKING:
    from agenyx.config.settings import Found
    from agenyx.core.verdict import Rule
    from agenyx.shell.program import Choice


class Chosen(Struct, frozen=True):
    """`problems` are sentences about rules that do not count; `shell` is the setting shell.program,
    `context` what was set about the context window, `agents` the seconds of a subagent in all and without a sign,
    `mcp_wait` the seconds that the first request waits for MCP servers, `images` the setting of that name."""

    policy: Policy
    problems: tuple[str, ...] = ()
    shell: Choice = "auto"
    context: context.Choice = context.Choice()
    agents: tuple[int, int] = (0, 0)
    mcp_wait: float = 1.5
    images: str = ""


def choose(
    settings: Settings,
    home: str,
    workspace: str,
    person: str,
    inside: Mapping[str, Found],
) -> Chosen:
    """`workspace` is its real path, `person` the home directory of the user, `inside` what a trusted workspace sets.

    Raises UsageError for a flag, ConfigError for a file.
    """
    plain = Policy(settings.mode, settings.unsafe, workspace=workspace, home_dir=person)
    own = os.path.lexists(os.path.join(home, "settings.toml"))
    flags = settings.allowed or settings.disallowed or settings.rules
    if not (own or inside or flags):
        return Chosen(plain)
    from msgspec.structs import replace

    from agenyx.app.rules import collect
    from agenyx.config import settings as files
    from agenyx.tools.builtin import builtin_tools
    from agenyx.tools.registry import Registry

    found = files.Files(files.read(files.home_file(home)), dict(inside))
    rules, problems = collect(settings, found, Registry(builtin_tools()).aliases())

    said = {name: str(entry.value) for name, entry in found.home.items()}
    read_only = said.get("permissions.read_only_shell", plain.read_only_shell)
    policy = replace(plain, rules=rules, read_only_shell=read_only, identities=identities(rules, workspace, person))
    shell = cast("Choice", said.get("shell.program", "auto"))
    limits = (int(said.get("agents.deadline", "0")), int(said.get("agents.silence", "0")))
    wait, images = int(said.get("mcp.wait", "1500")) / 1000, said.get("images", "")
    return Chosen(policy, problems, shell, _context(said), limits, wait, images)


def _context(said: Mapping[str, str]) -> context.Choice:
    window, warn, auto = (int(said.get(f"context.{name}", "0")) for name in ("window", "warn", "auto"))
    return context.Choice(window, warn, auto, said.get("context.history", ""))


def identities(rules: tuple[Rule, ...], workspace: str, person: str) -> dict[str, frozenset[tuple[int, int]]]:
    """What rules with a plain path name now, so that another name of the same file does not get round them."""
    from agenyx.policy.match_path import place
    from agenyx.policy.rules import CHANGERS, LOOKERS

    found: dict[str, frozenset[tuple[int, int]]] = {}
    for rule in rules:
        if rule.decision == "allow" or rule.tool not in (*CHANGERS, *LOOKERS) or not rule.pattern:
            continue
        spot = place(rule.pattern)
        if not spot.plain:
            continue
        base = {"workspace": workspace, "any": workspace, "home": person, "root": "/"}[spot.anchor]
        with suppress(OSError, ValueError):
            facts = os.stat(os.path.join(base, rule.pattern.lstrip("~/")))
            found[rule.text] = frozenset({(facts.st_dev, facts.st_ino)})
    return found
