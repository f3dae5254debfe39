"""Protected paths: files whose reading gives away secrets, or whose change gives away control. Names only, no file.

Three uses are told apart. "read": the path was named for reading. "write": it was named to be changed or removed.
"tree": it would be taken along by something that reads a whole folder; only secrets count there, or every search in a
repository would ask for `.git`. The reasons, and what is deliberately free, stand in docs/paths.md.
"""

from __future__ import annotations

import os
from typing import Literal

Use = Literal["read", "write", "tree"]

# Reference: AgentX §6.4; what else is there holds keys, passwords, cookies or typed commands of common programs.
_SECRETS = frozenset(
    {
        ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".mcp.json", ".envrc", ".pgpass", ".my.cnf",
        ".vault-token", ".boto", ".s3cfg", ".htpasswd", ".dockercfg", ".bash_history", ".zsh_history",
        ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", "fish_history",
        "auth.json", "credentials", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
        "service-account.json", "kubeconfig", "cookies.sqlite", "logins.json", "key4.db", "login data",
    }
)  # fmt: skip
_SECRET_ENDS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn")
_KEY_ENDS = ("_rsa", "_dsa", "_ecdsa", "_ed25519")
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".password-store"})
_SECRET_PLACES = (
    ".kube/config", ".docker/config.json", ".config/gh", ".config/gcloud", ".config/op", ".config/containers/auth.json",
    ".mozilla/firefox", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge",
    "application support/google/chrome", "application support/firefox", "etc/ssl/private",
    ".local/share/keyrings", "library/keychains",
)  # fmt: skip
_SECRET_HEADS = frozenset(place.partition("/")[0] for place in _SECRET_PLACES)
_SECRET_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/security/opasswd")
# Public certificates, and code that speaks about credentials: asking for each would bury the real question.
_PUBLIC = frozenset({"cacert.pem", "ca.pem", "chain.pem", "fullchain.pem", "cert.pem", "dhparam.pem", "ca-bundle.pem"})
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_CODE = (
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".rb", ".php", ".c", ".h",
    ".cc", ".cpp", ".cs", ".swift", ".md", ".rst", ".html", ".css", ".pyc",
)  # fmt: skip
SUPPLIED = frozenset({"node_modules", "site-packages", "dist-packages"})  # published code: nobody keeps secrets there

# Shells, git, editors and agents act on these: AgentX asks for reading them as well.
_CONTROLS = frozenset(
    {
        ".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".zshrc", ".zprofile",
        ".zshenv", ".zlogin", ".profile", ".ripgreprc",
    }
)  # fmt: skip
_CONTROL_FOLDERS = frozenset({".git", ".vscode", ".idea", ".agenyx", ".codex", ".claude"})

# Free to read, and asked for before a change, with the danger as the reason.
_RUNS = {
    "package.json": "its scripts run with npm",
    "conftest.py": "pytest runs it by itself",
    "sitecustomize.py": "every Python runs it at its start",
    "usercustomize.py": "every Python runs it at its start",
    ".pre-commit-config.yaml": "git hooks come from it",
    "lefthook.yml": "git hooks come from it",
    ".lefthook.yml": "git hooks come from it",
    ".gitlab-ci.yml": "it runs on the build servers, with their secrets",
    "jenkinsfile": "it runs on the build servers, with their secrets",
    "azure-pipelines.yml": "it runs on the build servers, with their secrets",
    ".travis.yml": "it runs on the build servers, with their secrets",
    ".mise.toml": "the shell runs what it names on entering the folder",
    "mise.toml": "the shell runs what it names on entering the folder",
    "agents.md": "agents take instructions from it",
    "claude.md": "agents take instructions from it",
    "claude.local.md": "agents take instructions from it",
    "gemini.md": "agents take instructions from it",
    ".cursorrules": "agents take instructions from it",
    "copilot-instructions.md": "agents take instructions from it",
    ".vimrc": "an editor runs it at its start",
    ".exrc": "an editor runs it at its start",
    ".emacs": "an editor runs it at its start",
    ".gdbinit": "the debugger runs it at its start",
    ".inputrc": "shells read their keys from it",
    ".tmux.conf": "tmux runs what it names",
    ".curlrc": "curl takes options from it",
    ".wgetrc": "wget takes options from it",
    ".pythonrc": "Python runs it at its start",
    ".xprofile": "it runs at every login",
    ".xinitrc": "it runs at every login",
    ".pam_environment": "it sets variables at every login",
    "crontab": "it runs by the clock",
    "pip.conf": "it says where packages come from",
    ".yarnrc.yml": "it names programs that yarn runs",
    ".pnpmfile.cjs": "pnpm runs it",
}
_RUN_FOLDERS = {
    ".husky": "git hooks lie there",
    ".githooks": "git hooks lie there",
    ".circleci": "it runs on the build servers, with their secrets",
    ".buildkite": "it runs on the build servers, with their secrets",
    ".devcontainer": "editors start what it names",
    ".cursor": "it steers an agent",
    ".agents": "it steers an agent",
    ".gemini": "it steers an agent",
    "launchagents": "macOS starts what lies there by itself",
    "launchdaemons": "macOS starts what lies there by itself",
}
_RUN_PLACES = {
    ".github/workflows": "it runs on the build servers, with their secrets",
    ".github/actions": "it runs on the build servers, with their secrets",
    ".config/systemd": "systemd starts what lies there by itself",
    ".config/autostart": "the desktop starts what lies there by itself",
    ".config/environment.d": "it sets variables at every login",
    ".config/git": "git runs programs that it names",
    ".config/fish": "the shell runs it at its start",
    ".config/pip": "it says where packages come from",
    ".cargo/config.toml": "cargo runs programs that it names",
    ".cargo/config": "cargo runs programs that it names",
    "var/spool/cron": "it runs by the clock",
}
# A `*` at the end stands for whatever follows, folders too.
_RUN_SYSTEM = {
    "/etc/cron*": "it runs by the clock",
    "/etc/anacrontab": "it runs by the clock",
    "/etc/systemd/*": "systemd starts what lies there by itself",
    "/lib/systemd/*": "systemd starts what lies there by itself",
    "/usr/lib/systemd/*": "systemd starts what lies there by itself",
    "/etc/init.d/*": "it runs when the system starts",
    "/etc/rc*": "it runs when the system starts",
    "/etc/udev/*": "the system runs programs that it names",
    "/etc/profile*": "every shell runs it at its start",
    "/etc/bash*": "every shell runs it at its start",
    "/etc/zsh*": "every shell runs it at its start",
    "/etc/environment": "it sets variables at every login",
    "/etc/ld.so*": "every program loads what it names",
    "/etc/sudoers*": "it says who may become root",
    "/etc/pam.d/*": "it says who may log in",
    "/etc/passwd": "it says who may log in",
    "/etc/group": "it says who may do what",
    "/etc/ssh/*": "it says who may log in",
    "/boot/*": "the system starts from it",
    "/proc/*": "it changes the running system",
    "/sys/*": "it changes the running system",
}


def protection(real: bytes, workspace: str, home: str, use: Use = "read") -> str:
    """Why the path is protected from this use, or "". `real` is absolute; `home` is Agenyx's own folder."""
    path = os.fsdecode(real)
    if _within(path, home):
        return "it belongs to Agenyx itself"
    inside = path[len(workspace.rstrip("/")) + 1 :] if _within(path, workspace) else path
    parts = _folded_parts(inside)
    if why := _secret(parts, inside, use == "tree"):
        return why
    if use == "tree":
        return ""
    if not _CONTROL_FOLDERS.isdisjoint(parts):
        folder = next(part for part in parts if part in _CONTROL_FOLDERS)
        return f"{folder} controls tools that run outside Agenyx's rules"
    if parts[-1] in _CONTROLS:
        return f"{parts[-1]} controls programs that run outside Agenyx's rules"
    return _runs(parts, inside) if use == "write" else ""


def _folded_parts(path: str) -> list[str]:
    """The names in a path, folded; at least one. Fast for the plain ones: a search asks for every file it meets."""
    low = path.lower()
    odd = not low.isascii() or "./" in low or " /" in low or "//" in low or low.endswith((".", " ", "/"))
    if odd or low.startswith("/") or not low:
        return [folded(part) for part in path.split("/") if part not in ("", ".")] or [""]
    return low.split("/")


def _secret(parts: list[str], path: str, tree: bool) -> str:
    name = parts[-1]
    if not _SECRET_FOLDERS.isdisjoint(parts):
        folder = next(part for part in parts if part in _SECRET_FOLDERS)
        return f"{folder} holds keys or passwords"
    if path.startswith("/etc/") and path in _SECRET_SYSTEM:
        return "it holds the passwords of the system"
    if not _SECRET_HEADS.isdisjoint(parts):
        place = f"/{'/'.join(parts)}/"
        for secret in _SECRET_PLACES:
            if f"/{secret}/" in place:
                return f"{secret} holds keys, passwords or cookies"
    if name in _SECRETS or name.endswith(_KEY_ENDS):
        return f"{name} may hold credentials"
    if name.startswith(".env"):
        return "" if name.endswith(_EXAMPLES) else f"{name} may hold secrets"
    if tree and (name.endswith(_CODE) or not SUPPLIED.isdisjoint(parts)):
        return ""
    if "credentials" in name and not name.endswith(_EXAMPLES):
        return f"{name} may hold credentials"
    if name.endswith(_SECRET_ENDS) and name not in _PUBLIC:
        return f"{name} may hold a private key"
    return ""


def _runs(parts: list[str], path: str) -> str:
    name = parts[-1]
    if why := _RUNS.get(name):
        return f"{name} acts outside Agenyx's rules: {why}"
    for folder in parts:
        if why := _RUN_FOLDERS.get(folder):
            return f"{folder} acts outside Agenyx's rules: {why}"
    if name.endswith(".pth"):
        return f"{name} acts outside Agenyx's rules: every Python runs it at its start"
    if name.endswith(".code-workspace"):
        return f"{name} acts outside Agenyx's rules: an editor starts what it names"
    place = f"/{'/'.join(parts)}/"
    for where, why in _RUN_PLACES.items():
        if f"/{where}/" in place:
            return f"{where} acts outside Agenyx's rules: {why}"
    for pattern, why in _RUN_SYSTEM.items() if path.startswith("/") else ():
        if path == pattern or (pattern.endswith("*") and path.startswith(pattern[:-1])):
            return f"{path} acts outside Agenyx's rules: {why}"
    return ""


def folded(name: str) -> str:
    """A name as file systems that fold names compare it: case, composed accents, invisible marks, dots at its end."""
    if not name.isascii():
        from unicodedata import category, normalize  # rare, and 1 MB

        name = normalize("NFC", name)
        name = "".join(char for char in name if category(char) != "Cf")
        name = normalize("NFC", name.casefold())
    return name.lower().rstrip(". ") or name


def known_files(workspace: str, home: str, user: str) -> tuple[bytes, ...]:
    """Files whose other names are looked for by identity; `/*` at the end stands for every file of a folder.

    `user` is the person's home directory, `home` Agenyx's own.
    """
    own = ("auth.json", "settings.toml", "trust.json")
    control = (".git/config", ".git/hooks/*")
    theirs = (
        ".ssh/*", ".aws/*", ".gnupg/*", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".kube/config",
        ".docker/config.json", ".config/gh/hosts.yml", ".vault-token",
    )  # fmt: skip
    paths = [os.path.join(home, name) for name in own] + [os.path.join(workspace, name) for name in control]
    paths += [os.path.join(user, name) for name in theirs]
    return tuple(os.fsencode(path) for path in (*paths, "/etc/shadow"))


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
