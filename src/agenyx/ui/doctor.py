"""`agenyx doctor`: shows what app.doctor found, as lines or as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from agenyx.app.doctor import Check, examine
from agenyx.app.settings import Settings
from agenyx.app.trust import settled
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.tty import safe
from agenyx.ui.arguments import arguments
from agenyx.ui.cli import apply_settings
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.flags import Options
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx doctor [--json] [--offline] [--provider ID] [--model NAME] [--base-url URL] [--effort LEVEL]

Looks at everything that a run needs, and says what to do where something is wrong. It tries the model with one small
tool round-trip (two requests); --offline leaves that out. Exit code 1 when something fails, 0 else.

  --json        one JSON object, for programs
"""
VALUES = ("--provider", "--model", "--base-url", "--effort")


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError."""
    given = arguments("doctor", argv, switches=("--json", "--offline"), values=VALUES)
    if given.help:
        show(HELP)
        return OK
    import asyncio

    options = Options()
    options.provider, options.model = given.value("--provider"), given.value("--model")
    options.base_url, options.effort = given.value("--base-url"), given.value("--effort")
    with suppress(AgenyxError):  # a wrong settings.toml or home is told by its own check
        apply_settings(options, env)
    settings = Settings(
        os.path.abspath(os.curdir),
        provider=options.provider,
        model=options.model,
        base_url=options.base_url,
        effort=options.effort,
        yielding=options.yielding,
    )
    with suppress(AgenyxError):
        settings = asyncio.run(settled(settings, env, home_path(env)))
    checks = asyncio.run(examine(settings, env, offline=given.on("--offline")))
    failed = any(check.state == "fail" for check in checks)
    text = as_json(checks, failed) if given.on("--json") else as_lines(checks)
    show(masker(env).text(text))
    return FAILED if failed else OK


def as_lines(checks: Sequence[Check]) -> str:
    """A line a check, and under it what to do."""
    lines: list[str] = []
    for check in checks:
        lines.append(f"{check.state.ljust(5)} {check.name.ljust(13)} {check.text}")
        lines += [f"{' ' * 20}{line}" for line in check.fix.splitlines()]
    count = {state: sum(check.state == state for check in checks) for state in ("ok", "warn", "fail")}
    lines.append(f"{count['ok']} ok, {count['warn']} to know, {count['fail']} failed")
    return safe("\n".join(lines)) + "\n"


def as_json(checks: Sequence[Check], failed: bool) -> str:
    """One line."""
    return json.encode({"ok": not failed, "checks": checks}).decode() + "\n"
