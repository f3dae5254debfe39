"""Protected paths: files whose change or reading gives away secrets or control. Names only; looks at no file."""

from __future__ import annotations

import os

# Shells, git, package managers and agents act on these or keep credentials in them (reference: AgentX §6.4).
_FILES = frozenset(
    [
        ".gitconfig",
        ".gitmodules",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".profile",
        ".ripgreprc",
        ".mcp.json",
        ".npmrc",
        ".netrc",
        ".pypirc",
        ".envrc",
        ".git-credentials",
        "auth.json",
        "credentials",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
    ]
)
_FOLDERS = frozenset({".git", ".vscode", ".idea", ".agenyx", ".codex", ".claude", ".ssh", ".gnupg", ".aws"})
_ENV_EXAMPLES = (".example", ".sample", ".template", ".dist")


def protection(real: bytes, workspace: str, home: str) -> str:
    """Why the path is protected, or "". `real` is absolute and resolved; `home` is Agenyx's own folder."""
    path = os.fsdecode(real)
    if _within(path, home):
        return "it belongs to Agenyx itself"
    inside = os.path.relpath(path, workspace) if _within(path, workspace) else path
    *folders, name = [part.casefold() for part in inside.split(os.sep) if part not in ("", ".")] or [""]
    for folder in (*folders, name):
        if folder in _FOLDERS:
            return f"{folder} controls tools that run outside Agenyx's rules"
    if name in _FILES or name.endswith("_rsa") or "credentials" in name:
        return f"{name} may hold credentials or start programs"
    if name.startswith(".env") and not name.endswith(_ENV_EXAMPLES):
        return f"{name} may hold secrets"
    return ""


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
