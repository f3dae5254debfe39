"""Looks at everything a run needs, and says what is wrong and what to do about it. Writes no session."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from agenyx.app.models import find_profile, open_model
from agenyx.app.roundtrip import Trip, round_trip
from agenyx.app.settings import Settings
from agenyx.config.configured import everything
from agenyx.config.environment import named
from agenyx.config.home import home_path
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError
from agenyx.proc import programs
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes, Spawn

State = Literal["ok", "warn", "fail"]
VERSION_SECONDS = 5.0
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Check(Struct, frozen=True):
    """One line. `fix` says what to do next, "" when all is well."""

    name: str
    state: State
    text: str
    fix: str = ""


async def examine(settings: Settings, env: Mapping[str, str], *, offline: bool) -> list[Check]:
    """All checks, in the order in which they are shown. `offline` sends no request to a model. Does not raise."""
    processes = Processes()
    try:
        checks = [_version()]
        try:
            home = home_path(env)
        except AgenyxError as error:
            return [*checks, Check("home", "fail", error.message, error.fix)]
        checks += [_home(home), _settings(home, settings.cwd)]
        checks += await _models(settings, env, home, processes, offline=offline)
        checks += [_embedded(home), _sandbox()]
        checks += await _programs(env, settings.cwd, processes)
        return [*checks, _proxies(env), _certificates(env)]
    finally:
        await processes.close()


def _version() -> Check:
    try:
        from agenyx._version import DESCRIBE as version
    except ImportError:
        version = "unknown"
    system = os.uname()
    return Check("agenyx", "ok", f"{version}, Python {platform.python_version()}, {system.sysname} {system.machine}")


def _home(home: str) -> Check:
    fix = "Make it writable, or set AGENYX_HOME to another directory; until then sessions are kept in memory only."
    try:
        found = os.stat(home)
    except FileNotFoundError:
        parent = home
        while not os.path.exists(parent):
            parent = os.path.dirname(parent)
        if os.path.isdir(parent) and os.access(parent, os.W_OK | os.X_OK):
            return Check("home", "ok", f"{home} will be made")
        return Check("home", "fail", f"{home} cannot be made: {parent} is not a writable directory", fix)
    except OSError as error:
        return Check("home", "fail", f"{home}: {error.strerror}", fix)
    if not os.path.isdir(home) or not _writable(home):
        return Check("home", "fail", f"{home} cannot be written", fix)
    if found.st_mode & 0o077:
        return Check("home", "warn", f"{home} is open to other users", f"Run: chmod 700 {home}")
    return Check("home", "ok", f"{home} is private and writable")


def _writable(directory: str) -> bool:
    """By trying it: the mode says nothing of a read-only or full disk."""
    path = os.path.join(directory, f".doctor-{os.getpid()}")
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(b"-")
        os.unlink(path)
    except OSError:
        return False
    return True


def _settings(home: str, workspace: str) -> Check:
    from agenyx.config.settings import home_file, load, workspace_file

    try:
        files = load(home, workspace, trusted=False)
    except AgenyxError as error:
        return Check("settings", "fail", error.message, error.fix)
    text = f"{home_file(home)}: {', '.join(files.home)}" if files.home else "no settings.toml, defaults hold"
    if os.path.lexists(workspace_file(workspace)):
        text += f"; {workspace_file(workspace)} counts with --trust-workspace"
    return Check("settings", "ok", text)


async def _models(
    settings: Settings, env: Mapping[str, str], home: str, processes: Processes, *, offline: bool
) -> list[Check]:
    try:
        profile = await find_profile(settings.provider, settings.base_url, env, home)
    except AgenyxError as error:
        return [Check("provider", "fail", error.message, error.fix)]
    checks = [Check("provider", "ok", f"{profile.id} ({profile.type}) {_why(profile, settings, env, home)}")]
    if offline:
        known = settings.model or env.get("AGENYX_MODEL", "") or profile.model
        return [*checks, Check("model", "ok", f"{known or 'not looked up'} (offline: nothing was asked)")]
    try:
        model = await open_model(settings, env, home, processes, None)
    except AgenyxError as error:
        return [*checks, Check("model", "fail", error.message, error.fix)]
    try:
        effort = f", effort {model.options.effort}" if model.options.effort else ""
        checks.append(Check("model", "ok", f"{model.name} at {profile.host}{effort}"))
        checks.append(_told(model.name, await round_trip(model.provider, model.name, model.options)))
    finally:
        await model.close()
    return checks


def _why(profile: Profile, settings: Settings, env: Mapping[str, str], home: str) -> str:
    """Why this one, and what else is there."""
    if settings.base_url:
        return "by --base-url"
    if profile.origin == "auth.json":
        count = len(everything(env, home))
        how = "asked for by name" if settings.provider else "the default" if profile.default else "the only profile"
        return f"from auth.json: {how}{f', of {count}' if count > 1 else ''}"
    if settings.provider:
        return f"asked for by name ({profile.origin})"
    others = [row.key_variable for row in named(env) if row.id != profile.id]
    unused = f"; not used: {', '.join(others)}" if others else ""
    if profile.origin.isupper():
        return f"because {profile.origin} is set{unused}"
    return f"because nothing is configured and it is {profile.origin}"


def _told(model: str, trip: Trip) -> Check:
    if trip.failure is not None:
        return Check("round trip", "fail", trip.failure.message, trip.failure.fix)
    times = f"first event after {trip.first:.2f} s, {trip.total:.2f} s in all"
    if not trip.called:
        fix = "Use a model that can call tools; with a local server, look at its options for tools and chat templates."
        return Check("round trip", "fail", f"{model} did not call the tool that it was asked to call; {times}", fix)
    if not trip.parsed:
        fix = "Use a stronger model: this one would fail at most tasks."
        return Check("round trip", "fail", f"{model} called the tool with wrong arguments; {times}", fix)
    streamed = f"streamed in {trip.pieces} pieces" if trip.pieces > 1 else "in one piece"
    text = f"call parsed, {'result taken up' if trip.answered else 'no answer after it'}, {streamed}; {times}"
    return Check("round trip", "ok" if trip.answered else "warn", text)


def _embedded(home: str) -> Check:
    from agenyx.llm.local import paths, slots

    found = paths.installed(home)
    if found is None:
        return Check("local model", "ok", "not installed; for offline use: agenyx local install")
    if paths.runtime_missing():
        return Check(
            "local model", "warn", f"{found.name} is there, its runtime is not", "Run: pip install 'agenyx[local]'"
        )
    try:
        names = os.listdir(paths.slots(home))
    except OSError:
        names = []
    keys = [name.removesuffix(".slot") for name in names if name.endswith(".slot")]
    count = sum(os.path.exists(os.path.join(paths.slots(home), slots.file_name(key) + ".sha256")) for key in keys)
    warm = f"warm start: {count} saved prompt{'' if count == 1 else 's'}" if count else "the first start will be cold"
    return Check("local model", "ok", f"{found.name}, {found.size / 1e9:.1f} GB; {warm}")


def _sandbox() -> Check:
    return Check(
        "sandbox",
        "warn",
        "none: an allowed command runs with your rights",
        "Look at what is asked, or run Agenyx in a container.",
    )


async def _programs(env: Mapping[str, str], workspace: str, processes: Processes) -> list[Check]:
    wanted: tuple[tuple[str, State, str], ...] = (
        ("bash", "fail", "Install bash: the Bash tool needs it."),
        ("rg", "warn", "Install it again with: pip install --force-reinstall 'ripgrep>=14.1,<15'; search needs it."),
        ("shfmt", "warn", "Install it again with: pip install --force-reinstall shfmt-py; without it all is asked."),
        ("git", "warn", "Install git: without it nothing is known of branches and changes."),
    )
    checks: list[Check] = []
    for name, state, fix in wanted:
        path = programs.find(name, env, workspace)
        if path is None:
            checks.append(Check(name, state, "not found", fix))
            continue
        spawn = Spawn((path, "--version"), "/", child_env(env), timeout=VERSION_SECONDS, head=4096, tail=0)
        try:
            ended = await processes.run(spawn)
        except AgenyxError as error:
            checks.append(Check(name, state, f"{path}: {error.message}", fix))
            continue
        said = ended.output.head.decode("utf-8", "replace").strip().splitlines()
        if ended.code != 0 or not said:
            checks.append(Check(name, state, f"{path} does not run (exit {ended.code})", fix))
        else:
            checks.append(Check(name, "ok", f"{said[0][:80]} ({path})"))
    return checks


def _proxies(env: Mapping[str, str]) -> Check:
    from urllib.parse import urlsplit

    from agenyx.llm.http_errors import ProxyRefused
    from agenyx.llm.http_proxy import proxy_for

    found: list[str] = []
    for name in PROXIES:
        value = (env.get(name.lower()) or env.get(name) or "").strip()
        if value and name != "NO_PROXY":
            host = urlsplit(value if "://" in value else f"http://{value}").hostname or "?"
            found.append(f"{name} ({host})")  # without the password that may stand in it
        elif value:
            found.append(f"NO_PROXY ({value})")
    try:
        proxy_for("host.invalid", 443, env)
    except ProxyRefused as error:
        return Check("proxy", "fail", error.message, error.hint)
    return Check("proxy", "ok", ", ".join(found) or "none")


def _certificates(env: Mapping[str, str]) -> Check:
    from agenyx.llm import http_tls
    from agenyx.llm.http_errors import TlsFailed

    used = ", ".join(f"{name}={env[name]}" for name in CERTIFICATES if env.get(name))
    try:
        http_tls.context(env)
    except TlsFailed as error:
        return Check("certificates", "fail", error.message, error.hint)
    return Check("certificates", "ok", used or "the system's")
