"""What a child sees of our environment: an allow-list, no secret, nothing that waits for a person.

The lists are data; the functions are pure but for looking which PATH directories exist.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from agenyx.config.secrets import SECRET_NAME

_ALLOWED = (
    # person and place
    "HOME USER LOGNAME SHELL TMPDIR TMP TEMP TEMPDIR TZ LANG LANGUAGE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME "
    "XDG_STATE_HOME "
    # Python
    "VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE "
    "PYTHONUTF8 PYTHONHASHSEED PYTEST_DISABLE_PLUGIN_AUTOLOAD UV_CACHE_DIR PIP_CACHE_DIR "
    # Go and C
    "GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOOS GOARCH GOARM GOAMD64 GOTOOLCHAIN GO111MODULE GOEXPERIMENT CGO_ENABLED "
    "CGO_CFLAGS CGO_CPPFLAGS CGO_CXXFLAGS CGO_LDFLAGS CC CXX "
    # Rust, JVM, Android, Node, Ruby
    "CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN JAVA_HOME GRADLE_USER_HOME MAVEN_HOME NODE_ENV NVM_DIR "
    "NVM_BIN PNPM_HOME VOLTA_HOME BUN_INSTALL DENO_DIR RBENV_ROOT GEM_HOME ASDF_DIR ASDF_DATA_DIR SDKMAN_DIR "
    # looks
    "NO_COLOR COLORTERM LS_COLORS LSCOLORS EZA_COLORS GREP_COLORS"
)
_NAMES = frozenset(_ALLOWED.split())
_PREFIXES = ("LC_", "ANDROID_", "RUST_")

_FIXED = {
    # no pager, no editor, no prompt: nobody is there to answer
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    # a folder that looks like a bare repository is none unless it is named: its configuration could start programs
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    # there is no terminal either
    "TERM": "dumb",
}

_SYSTEM_PATH = (
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/opt/homebrew/bin",
    "/usr/local/go/bin",
)

_MAX_BYTES = 1 << 20
_MAX_COUNT = 512
_MAX_VALUE = 100_000  # Linux refuses a single string above 128 KiB
_CONTAINED = 8  # a shorter secret (a placeholder key) would be found inside ordinary words


def child_env(env: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """The environment for a command. `secrets` are values that must not pass, whole or within another value.

    Loader and interpreter hooks, proxies, agent sockets, GIT_* and exported functions are not on the list. PATH keeps
    its order, so that a project's `python` stays the one that the person has; missing system directories are added
    behind.
    """
    hidden = tuple(secret for secret in secrets if secret)
    child: dict[str, str] = {}
    room = _MAX_BYTES
    for name, value in env.items():
        if not (name in _NAMES or name.startswith(_PREFIXES)) or SECRET_NAME.search(name):
            continue
        if _reveals(value, hidden) or value.startswith("() {") or len(value) > _MAX_VALUE:
            continue
        room -= len(name) + len(value) + 2
        if room < 0 or len(child) + len(_FIXED) + 1 >= _MAX_COUNT:
            break
        child[name] = value
    child["PATH"] = ":".join(part for part in search_path(env.get("PATH", "")) if not _reveals(part, hidden))
    return child | _FIXED


def search_path(path: str) -> list[str]:
    """The directories of a PATH that exist and are absolute, once each in their order, then the system's own."""
    seen: dict[str, None] = {}
    for part in (*path.split(":"), *_SYSTEM_PATH):
        if part.startswith("/") and part not in seen and os.path.isdir(part):
            seen[part] = None
    return list(seen)


def utf8_locale(env: Mapping[str, str]) -> dict[str, str]:
    """What to add so that programs speak UTF-8: nothing when they do already, else `LC_ALL`."""
    chosen = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if chosen.lower().replace("-", "").partition("@")[0].rpartition(".")[2] == "utf8":
        return {}
    return {"LC_ALL": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"}


def _reveals(value: str, secrets: tuple[str, ...]) -> bool:
    return any(value == secret or (len(secret) >= _CONTAINED and secret in value) for secret in secrets)
