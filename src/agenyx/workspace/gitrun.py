"""Runs git so that nothing of a repository's configuration runs with it, except where a commit is made.

Arguments are lists; the configuration of the repository is read by git itself, and what of it starts programs is
overridden: hooks, fsmonitor, pager, external diffs, text conversions, filters, signing, transports. Knows no tool.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.proc import programs
from agenyx.proc.environment import utf8_locale
from agenyx.proc.spawn import Processes, Spawn
from agenyx.workspace.git import top
from agenyx.workspace.names import show

SECONDS = 30.0
OUTPUT = 4 << 20  # bytes of output that are looked at
_PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TZ", "TMPDIR")
_NO_HOOKS = "core.hooksPath=/dev/null"
# git-config(1): everything here either starts a program, moves what is looked at, or changes the form of the output.
_CONFIG = (
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.pager=cat",
    "safe.bareRepository=explicit",
    "log.showSignature=false",
    "diff.ignoreSubmodules=dirty",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENV = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # No transport at all: a partial clone would fetch what it lacks with programs that its configuration names.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
}
_FILTERS = ("clean", "smudge", "process")
# githooks(5): what a commit, or staging for it, may run
_HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "reference-transaction",
    "post-index-change",
)


class GitProblem(AgenyxError):
    """Git cannot be used as asked."""

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else f"{self.message}."


class Answer(Struct, frozen=True):
    """What git printed. `more` says that only the first OUTPUT bytes are there."""

    code: int
    output: bytes
    errors: str
    more: bool


class Repository:
    """The repository that holds a folder, opened by `open_repository`. Paths are relative to that folder."""

    def __init__(
        self, processes: Processes, program: str, env: Mapping[str, str], folder: bytes, filters: Sequence[str]
    ) -> None:
        self._processes, self._program, self._env, self._folder = processes, program, env, folder
        self.filters = tuple(filters)
        self.top = folder

    @property
    def prefix(self) -> bytes:
        """Where the folder lies in the repository: "" for its top, else a path with `/` at its end."""
        return b"" if self._folder == self.top else os.path.join(os.path.relpath(self._folder, self.top), b"")

    async def look(
        self,
        *words: str | bytes,
        seconds: float = SECONDS,
        stdin: bytes | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run a command with which nothing runs that the repository configures: one that looks, or plumbing.

        `more` is added to its environment. Raises GitProblem.
        """
        off = [f"filter.{name}.{what}=" for name in self.filters for what in _FILTERS]
        off += [f"filter.{name}.required=false" for name in self.filters]
        env = {name: self._env[name] for name in _PASSED if name in self._env}
        return await self._run((_NO_HOOKS, *off), words, stdin, seconds, env | _ENV | dict(more or {}))

    async def act(self, *words: str | bytes, stdin: bytes | None = None, seconds: float = SECONDS) -> Answer:
        """Run a command with the repository's own hooks and filters: they decide what is committed."""
        env = {**self._env, **_ENV}
        del env["GIT_OPTIONAL_LOCKS"]
        return await self._run((), words, stdin, seconds, env)

    async def hooks(self) -> list[str]:
        """The names of the hooks that a commit would run."""
        env = {name: self._env[name] for name in _PASSED if name in self._env}
        answer = await self._run((), ("rev-parse", "--git-path", "hooks"), None, SECONDS, env | _ENV)
        place = os.path.join(self._folder, answer.output.removesuffix(b"\n"))
        return [name for name in _HOOKS if os.access(os.path.join(place, name.encode()), os.X_OK)]

    async def _run(
        self,
        config: Sequence[str],
        words: Sequence[str | bytes],
        stdin: bytes | None,
        seconds: float,
        env: Mapping[str, str],
    ) -> Answer:
        options = [word for setting in (*_CONFIG, *config) for word in ("-c", setting)]
        ended = await self._processes.run(
            Spawn(
                argv=(self._program, "--no-pager", *options, *words),
                cwd=self._folder,
                env={**env, **utf8_locale({})},
                stdin=stdin,
                stderr="separate",
                timeout=seconds,
                head=OUTPUT,
                tail=0,
                stop_after=OUTPUT,
            )
        )
        if ended.timed_out:
            raise GitProblem(f"git did not end within {seconds:g} seconds", "Try a narrower path, or use the shell.")
        errors = show(ended.errors[:4000].strip().replace(b"\n", b"; "))
        return Answer(ended.code, ended.output.head[:OUTPUT], errors, ended.capped)


async def open_repository(processes: Processes, env: Mapping[str, str], folder: bytes) -> Repository:
    """The repository of a workspace folder. Raises GitProblem with what to do next."""
    program = programs.on_path("git", env, os.fsdecode(folder))
    if program is None:
        raise GitProblem("git is not installed", "Ask the user to install it.")
    found = top(folder)
    if found is None:
        raise GitProblem(
            f"{show(folder)} is not in a git repository", "If it should be one, run git init in the shell."
        )
    asking = Repository(processes, program, env, folder, ())
    place = await asking.look("rev-parse", "--show-toplevel")
    if place.code:
        raise GitProblem(f"git cannot use this repository: {place.errors.removeprefix('fatal: ')}", "Tell the user.")
    if os.path.realpath(place.output.removesuffix(b"\n")) != found:
        raise GitProblem(
            f"the configuration of this repository moves its files to {show(place.output.strip())}",
            "Git is not used here; look at core.worktree in .git/config.",
        )
    filters = await asking.look(
        "config", "--local", "--includes", "--null", "--name-only", "--get-regexp", r"^filter\..*"
    )
    names = {name.removeprefix(b"filter.").rpartition(b".")[0] for name in filters.output.split(b"\0") if name}
    if odd := [name for name in names if b"=" in name or b"\n" in name]:
        raise GitProblem(
            f"this repository configures a filter with the name {show(odd[0])}, which cannot be switched off",
            "Git is not used here; look at .git/config.",
        )
    repository = Repository(processes, program, env, folder, sorted(os.fsdecode(name) for name in names))
    repository.top = found
    return repository
