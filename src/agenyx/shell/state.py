"""What a shell keeps from one command to the next: its directory and its exported variables, in a private file.

The file is data, never code: nothing in it is executed, and it is read within bounds. A command that runs can write to
it; with that it reaches no more than by `cd` and `export`. Knows no process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

_VERSION = b"1"
_MAX_BYTES = 4 << 20

_MAX_TEXT = 1 << 20  # characters of variables; above that no program could be started with them

_OWN = frozenset(("PWD", "SHLVL", "_", "AGENYX_RUN"))  # every shell or spawn sets these itself
_BEFORE = (
    "BASH_ENV ENV PROMPT_COMMAND SHELLOPTS BASHOPTS BASH_COMPAT PS4 IFS CDPATH GLOBIGNORE EXECIGNORE BASH_XTRACEFD "
    "BASH_LOADABLES_PATH POSIXLY_CORRECT"
)
_HOOKS = frozenset(_BEFORE.split())

# Variables by which the same words run other code or mean another place.
_LOOKUPS = re.compile(
    r"PATH|HOME|(?:LD|DYLD|GIT|BASH|XDG_CONFIG)_\w+|PYTHON(?!DONTWRITEBYTECODE$|UNBUFFERED$|UTF8$|HASHSEED$|IOENCODING$)\w+|"
    r"(?:NODE|PERL5|RUBY|LUA|JAVA_TOOL|JDK_JAVA|_JAVA)_?(?:OPT|OPTIONS|OPTS|PATH|LIB|DB|INIT)|CLASSPATH|"
    r"(?:|GIT_|MAN|SYSTEMD_)PAGER|(?:\w+_)?EDITOR|VISUAL|BROWSER|SHELL|LESSOPEN|LESSCLOSE|\w*ASKPASS|"
    r"MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|TAR_OPTIONS|RSYNC_RSH|RIPGREP_CONFIG_PATH|GREP_OPTIONS|CURL_HOME|WGETRC|"
    r"RUSTC(?:_WORKSPACE)?(?:_WRAPPER)?|CARGO_BUILD_RUSTC\w*|GOFLAGS|CC|CXX|DOCKER_HOST|KUBECONFIG|"
    r"(?:npm_config|NPM_CONFIG|PIP|UV)_\w+"
)


class State(Struct, frozen=True):
    """`cwd` is absolute, "" when it has vanished; `set` and `unset` are the differences to the environment given."""

    cwd: str = ""
    set: dict[str, str] = {}
    unset: tuple[str, ...] = ()

    def env(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment for the next command."""
        return {name: value for name, value in base.items() if name not in self.unset} | self.set


def harmless(env: Mapping[str, str]) -> dict[str, str]:
    """An environment without what would make a shell run code, or change its ways, before the command starts."""
    return {
        name: value
        for name, value in env.items()
        if name and name not in _HOOKS and name not in _OWN and not name.startswith("BASH_FUNC_")
    }


def parse_dump(data: bytes, base: Mapping[str, str], before: State) -> State | None:
    """Read what the shell left behind when it ended; None when it left nothing.

    The data is the output of `env -0`, then `ok` and NUL if that was whole, then the directory and a newline.
    """
    *records, cwd = data.split(b"\0")
    if not records and not cwd:
        return None
    place = os.fsdecode(cwd.removesuffix(b"\n"))
    if not records or records[-1] != b"ok":
        return State(place, before.set, before.unset)
    pairs = (os.fsdecode(record).partition("=") for record in records[:-1])
    after = harmless({name: value for name, _, value in pairs})
    if sum(map(len, after.values())) > _MAX_TEXT:
        return State(place, before.set, before.unset)
    changed = {name: value for name, value in after.items() if base.get(name) != value}
    return State(place, changed, tuple(name for name in base if name not in after and name not in _OWN))


def load(path: str) -> State:
    """Raises nothing: without a readable file the state is empty."""
    records = read(path).split(b"\0")
    if records[0] != _VERSION or len(records) < 2:
        return State()
    changed: dict[str, str] = {}
    unset: list[str] = []
    for record in map(os.fsdecode, records[2:]):
        name, _, value = record[1:].partition("=")
        if record.startswith("+"):
            changed[name] = value
        else:
            unset.append(name)
    if sum(map(len, changed.values())) > _MAX_TEXT:
        changed = {}
    return State(os.fsdecode(records[1]), harmless(changed), tuple(unset))


def altered(state: State) -> str:
    """Which variables that decide what a command's words mean were changed, as a reason for people; "" for none.

    PATH is not among them: what it does to a name can be told exactly, see Shell.moved.
    """
    names = sorted(name for name in (*state.set, *state.unset) if _LOOKUPS.fullmatch(name) and name != "PATH")
    if not names:
        return ""
    shown = ", ".join(names[:5]) + f" and {len(names) - 5} more" * (len(names) > 5)
    return f"an earlier command changed {shown}"


def steers(name: str) -> bool:
    """Whether a variable of this name makes the same words run other code, or mean another place."""
    return bool(_LOOKUPS.fullmatch(name)) or name in _HOOKS or name in _OWN or name.startswith("BASH_FUNC_")


def save(path: str, state: State) -> None:
    """Replace the file as a whole, mode 0600. Raises OSError."""
    records = [
        _VERSION.decode(),
        state.cwd,
        *(f"+{name}={value}" for name, value in state.set.items()),
        *(f"-{name}" for name in state.unset),
    ]
    fresh = f"{path}.{os.urandom(4).hex()}"
    create(fresh, os.fsencode("\0".join(records)))
    os.replace(fresh, path)


def create(path: str, data: bytes = b"") -> None:
    """A new private file. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)


def read(path: str) -> bytes:
    """The content, b"" when there is none, or too much, or it is no plain file of ours."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
            return data if len(data) <= _MAX_BYTES else b""
    return b""
