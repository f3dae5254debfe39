"""Git repositories made by git itself, apart from the person's configuration; also one with a hostile configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "Ann Author",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "Ann Author",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_AUTHOR_DATE": "2026-05-04T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-05-04T12:00:00Z",
}


def git(folder: Path, *words: str | bytes, check: bool = True) -> str:
    done = subprocess.run(["git", *words], cwd=folder, env=ENV, capture_output=True, text=True, check=check, timeout=60)
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """A repository on the branch main, with an identity to commit as."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann Author")
    git(folder, "config", "user.email", "a@b")
    return folder


def make_hostile(folder: Path, witness: Path) -> None:
    """Configure everything that makes git start a program; each program writes its name into the folder `witness`."""
    witness.mkdir()
    bait = folder / ".git" / "bait"

    def program(name: str) -> str:
        path = bait.with_name(f"bait-{name}")
        path.write_text(f"#!/bin/sh\ntouch '{witness}/{name}'\ncat 2>/dev/null\nexit 0\n", "utf-8")
        path.chmod(0o755)
        return str(path)

    hooks = folder / ".git" / "evil-hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        path = hooks / hook
        path.write_text(f"#!/bin/sh\ntouch '{witness}/hook-{hook}'\n", "utf-8")
        path.chmod(0o755)
    settings = {
        "core.fsmonitor": program("fsmonitor"),
        "core.hooksPath": str(hooks),
        "core.pager": program("pager"),
        "core.sshCommand": program("ssh"),
        "core.askPass": program("askpass"),
        "core.editor": program("editor"),
        "core.alternateRefsCommand": program("alternate"),
        "pager.diff": program("pager-diff"),
        "pager.log": "true",
        "pager.status": "true",
        "diff.external": program("external"),
        "diff.evil.command": program("diff-command"),
        "diff.evil.textconv": program("textconv"),
        "filter.evil.clean": program("clean"),
        "filter.evil.smudge": program("smudge"),
        "filter.evil.process": program("process"),
        "filter.evil.required": "true",
        "filter.o dd.clean": program("odd"),
        "alias.status": f"!{program('alias-status')}",
        "alias.diff": f"!{program('alias-diff')}",
        "alias.log": f"!{program('alias-log')}",
        "log.showSignature": "true",
        "gpg.program": program("gpg"),
        "commit.gpgSign": "true",
        "credential.helper": f"!{program('credential')}",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{program('transport')}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
        "diff.submodule": "log",
        "diff.noprefix": "true",
        "interactive.diffFilter": program("interactive"),
        "merge.evil.driver": program("merge"),
    }
    git(folder, "config", "core.repositoryFormatVersion", "1")
    for key, value in settings.items():
        git(folder, "config", key, value)
    included = folder / ".git" / "more-config"
    included.write_text(f'[filter "hidden"]\n\tclean = {program("included")}\n', "utf-8")
    git(folder, "config", "include.path", str(included))
