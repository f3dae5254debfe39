"""The checks of what lies around a run: home, settings, keys, programs, proxy. Each is one line of the doctor."""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Mapping
from typing import Literal, cast

from msgspec import Struct

from agenyx.app.settings import Settings
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.proc.environment import child_env
from agenyx.proc.programs import find
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


def version() -> Check:
    """What runs, and on what."""
    try:
        from agenyx._version import DESCRIBE as described
    except ImportError:
        described = "unknown"
    system = os.uname()
    return Check("agenyx", "ok", f"{described}, Python {platform.python_version()}, {system.sysname} {system.machine}")


def place(home: str) -> Check:
    """The home: there, ours, private and writable."""
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
    if found.st_uid != os.geteuid():
        return Check("home", "warn", f"{home} belongs to another user", "Make it your own, or set AGENYX_HOME.")
    if above := _open_above(home):
        return Check(
            "home",
            "warn",
            f"other users may write {above}, and so put another folder in the place of {home}",
            f"Run: chmod go-w {above}",
        )
    return Check("home", "ok", f"{home} is private and writable")


def _open_above(path: str) -> str:
    """The nearest folder above that others may write, without the bit that keeps names their owners'; "" for none."""
    while (parent := os.path.dirname(path)) != path:
        path = parent
        mode = os.stat(path).st_mode
        if mode & 0o022 and not mode & stat.S_ISVTX:
            return path
    return ""


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


def settings(home: str, workspace: str) -> Check:
    """The settings files."""
    from agenyx.config.settings import home_file, load, workspace_file

    try:
        files = load(home, workspace, trusted=False)
    except AgenyxError as error:
        return Check("settings", "fail", error.message, error.fix)
    text = f"{home_file(home)}: {', '.join(files.home)}" if files.home else "no settings.toml, defaults hold"
    if os.path.lexists(workspace_file(workspace)):
        text += f"; {workspace_file(workspace)} {_counts(home, workspace)}"
    return Check("settings", "ok", text)


def _counts(home: str, workspace: str) -> str:
    from agenyx.app.trust import is_trusted

    try:
        trusted = is_trusted(home, os.path.realpath(workspace))
    except AgenyxError as error:
        return f"does not count: {error.message}"
    return "counts: it is trusted" if trusted else "does not count: it is not trusted (see agenyx trust --help)"


def keys(env: Mapping[str, str], home: str) -> Check:
    """Whether every configured key can be kept out of what is shown."""
    from agenyx.config.configured import keys as configured
    from agenyx.config.configured import too_short

    try:
        count, short = len(configured(env, home)), too_short(env, home)
    except AgenyxError:
        return Check("keys", "ok", "not looked at: auth.json is wrong, see provider")
    if short:
        return Check(
            "keys",
            "warn",
            f"shorter than 8 bytes, and therefore not masked in output: {', '.join(short)}",
            "Fine for the placeholder key of a server on this machine; a real key is longer.",
        )
    return Check("keys", "ok", f"{count} masked in all output" if count else "none")


def sandbox() -> Check:
    """What keeps a command that was allowed from more."""
    return Check(
        "sandbox",
        "warn",
        "none: an allowed command runs with your rights",
        "Look at what is asked, or run Agenyx in a container.",
    )


async def shell(env: Mapping[str, str], home: str, workspace: str, processes: Processes) -> Check:
    """The shell of the Bash tool, by the setting shell.program of the home."""
    from agenyx.config import settings
    from agenyx.shell import program

    try:
        chosen = settings.read(settings.home_file(home)).get("shell.program")
        found = program.find(cast("program.Choice", chosen.value if chosen else "auto"), env, workspace)
    except ConfigError as error:
        return Check("shell", "fail", error.message, error.fix)
    except program.ShellError as error:
        return Check("shell", "fail", error.message, error.fix)
    if found.dialect == "posix":
        return Check(
            "shell",
            "warn",
            f"POSIX sh ({found.path}): there is no bash, and the model is told so",
            "Install bash (3.2 or later): models write bash.",
        )
    return await _version_of("shell", found.path, env, processes, "fail", "Install bash (3.2 or later).")


async def hooks(settings: Settings, env: Mapping[str, str], home: str) -> list[Check]:
    """Whether the hooks could run; nothing where there are none. Runs none of them."""
    from agenyx.app.hook_bench import hook_bench
    from agenyx.workspace.acting import candidates

    workspace = os.path.realpath(settings.cwd)
    if not (os.path.isfile(os.path.join(home, "hooks.json")) or candidates(workspace, frozenset({"hooks"}))):
        return []
    try:
        async with hook_bench(settings, env) as bench:
            rows, problems = bench.rows(), bench.problems
    except AgenyxError as error:
        return [Check("hooks", "fail", error.message, error.fix)]
    wrong = [f"{row.runs}: {row.state}" for row in rows if row.state != "ok"]
    text = "1 hook" if len(rows) == 1 else f"{len(rows)} hooks"
    if wrong or problems:
        return [Check("hooks", "warn", f"{text}; {'; '.join((*wrong, *problems))}", "See: agenyx hooks list")]
    return [Check("hooks", "ok", f"{text}, all of whose programs are there; agenyx hooks test EVENT tries them")]


async def programs(env: Mapping[str, str], workspace: str, processes: Processes) -> list[Check]:
    """The other programs that tools use."""
    wanted = (
        ("rg", "Install it again with: pip install --force-reinstall 'ripgrep>=14.1,<15'; search needs it."),
        ("shfmt", "Install it again with: pip install --force-reinstall shfmt-py; without it all is asked."),
        ("git", "Install git: without it nothing is known of branches and changes."),
    )
    checks: list[Check] = []
    for name, fix in wanted:
        path = find(name, env, workspace)
        if path is None:
            checks.append(Check(name, "warn", "not found", fix))
        else:
            checks.append(await _version_of(name, path, env, processes, "warn", fix))
    return checks


async def _version_of(
    name: str, path: str, env: Mapping[str, str], processes: Processes, state: State, fix: str
) -> Check:
    """The first line that it says about itself; `state` and `fix` where it does not run."""
    spawn = Spawn((path, "--version"), "/", child_env(env), timeout=VERSION_SECONDS, head=4096, tail=0)
    try:
        ended = await processes.run(spawn)
    except AgenyxError as error:
        return Check(name, state, f"{path}: {error.message}", fix)
    said = ended.output.head.decode("utf-8", "replace").strip().splitlines()
    if ended.code != 0 or not said:
        return Check(name, state, f"{path} does not run (exit {ended.code})", fix)
    return Check(name, "ok", f"{said[0][:80]} ({path})")


def proxies(env: Mapping[str, str]) -> Check:
    """What stands between us and the servers."""
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


def certificates(env: Mapping[str, str]) -> Check:
    """Whom we believe that a server is who it says."""
    from agenyx.llm import http_tls
    from agenyx.llm.http_errors import TlsFailed

    used = ", ".join(f"{name}={env[name]}" for name in CERTIFICATES if env.get(name))
    try:
        http_tls.context(env)
    except TlsFailed as error:
        return Check("certificates", "fail", error.message, error.hint)
    return Check("certificates", "ok", used or "the system's")
