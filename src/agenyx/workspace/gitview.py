"""What git says about a repository, as text for the model: status, diff, log, commit. Runs git only through gitrun.

Names are shown escaped, so that none can pass for another line; everything is limited to the workspace folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from agenyx.workspace.gitrun import Answer, GitProblem, Repository
from agenyx.workspace.names import show
from agenyx.workspace.text import printable

# No program of the repository takes part in making a diff, and nothing of a submodule is looked into.
_PLAIN = (
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--relative",
    "--no-color",
)
_HIDDEN_MOST = 500


class Diff(Struct, frozen=True):
    """`hidden` names the files whose changes were left out; `more` says that the text is cut."""

    text: str
    hidden: tuple[str, ...]
    more: bool


async def status(repository: Repository) -> list[str]:
    """The branch, then a line for each changed or new file. Raises GitProblem."""
    answer = _good(
        await repository.look(
            "status",
            "--porcelain=v1",
            "--branch",
            "-z",
            "--ignore-submodules=dirty",
            "--untracked-files=normal",
            "--",
            ".",
        )
    )
    parts = answer.output.split(b"\0")[:-1]
    lines: list[str] = []
    waiting = iter(parts)
    for part in waiting:
        if part.startswith(b"## "):
            lines.append(show(part))
            continue
        shown = _seen(repository, part[3:])
        if b"R" in part[:2] or b"C" in part[:2]:
            shown = f"{_seen(repository, next(waiting, b''))} -> {shown}"
        lines.append(f"{show(part[:2])} {shown}")
    return lines


async def diff(repository: Repository, path: bytes, staged: bool, hide: Callable[[bytes], bool]) -> Diff:
    """The changes since the last commit, or those staged. `hide` says of an absolute path that it is not for show."""
    against = ("--cached",) if staged else (await _head(repository),)
    names = _good(
        await repository.look("diff", *_PLAIN, "--name-only", "--no-renames", "-z", *against, "--", _literal(path))
    )
    folder = os.path.join(repository.top, repository.prefix)
    hidden = [name for name in names.output.split(b"\0")[:-1] if hide(os.path.join(folder, name))]
    if len(hidden) > _HIDDEN_MOST:
        raise GitProblem("too many protected files have changed", "Name a path.")
    out = tuple(b":(exclude,literal)" + name for name in hidden)
    answer = _good(await repository.look("diff", *_PLAIN, *against, "--", _literal(path), *out))
    text = printable(answer.output.decode("utf-8", "surrogateescape")).rstrip("\n")
    return Diff(text, tuple(show(name) for name in hidden), answer.more)


async def log(repository: Repository, path: bytes, limit: int) -> list[str]:
    """`hash date author: subject` of commits, newest first. Raises GitProblem."""
    if not await _committed(repository):
        return []
    everything = path == b"." and not repository.prefix
    words = ("--no-show-signature", "--no-notes", "--no-color", "--encoding=UTF-8", "--no-patch", "--no-ext-diff")
    answer = _good(
        await repository.look(
            "log",
            *words,
            "-z",
            f"--max-count={limit}",
            "--format=%h %cs %an: %s",
            "--",
            *(() if everything else (_literal(path),)),
        )
    )
    return [show(line) for line in answer.output.split(b"\0") if line]


async def to_commit(repository: Repository, every: bool) -> list[str]:
    """`M path` lines of what a commit would hold. Raises GitProblem."""
    against = (await _head(repository),) if every else ("--cached",)
    answer = _good(
        await repository.look(
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--name-status",
            "-z",
            "--no-renames",
            *against,
        )
    )
    parts = answer.output.split(b"\0")[:-1]
    pairs = zip(parts[::2], parts[1::2], strict=False)
    return [f"{show(kind)} {_seen(repository, name)}" for kind, name in pairs]


async def commit(repository: Repository, message: str, every: bool, seconds: float) -> str:
    """Commit what is staged, with `every` after staging what is tracked below the folder. Returns what git says."""
    if every:
        _good(await repository.act("add", "--update", "--", ".", seconds=seconds))
    answer = await repository.act(
        "commit",
        "--no-gpg-sign",  # nobody is there to unlock a key, and the repository may name the program
        "--cleanup=whitespace",
        "--file=-",
        stdin=message.encode("utf-8", "replace"),
        seconds=seconds,
    )
    said = printable(answer.output.decode("utf-8", "surrogateescape")).strip()
    if answer.code:
        told = "\n".join(filter(None, (said, answer.errors)))
        raise GitProblem(f"nothing was committed (exit code {answer.code}): {told or 'git gave no reason'}".rstrip("."))
    signing = await repository.look("config", "--type=bool", "--get", "commit.gpgSign")
    note = "\n[commit.gpgSign is set, but this commit is not signed]" if signing.output.strip() == b"true" else ""
    return said + (f"\n{answer.errors}" if answer.errors else "") + note


def _good(answer: Answer) -> Answer:
    if answer.code and not answer.more:
        raise GitProblem(
            f"git failed: {answer.errors.removeprefix('fatal: ') or f'exit code {answer.code}'}".rstrip(".")
        )
    return answer


async def _committed(repository: Repository) -> bool:
    return (await repository.look("rev-parse", "--quiet", "--verify", "HEAD^{commit}")).code == 0


async def _head(repository: Repository) -> str:
    """What uncommitted changes are compared with: the last commit, or the empty tree before the first."""
    if await _committed(repository):
        return "HEAD"
    return _good(await repository.look("hash-object", "-t", "tree", "/dev/null")).output.decode().strip()


def _literal(path: bytes) -> bytes:
    return b":(literal)" + path


def _seen(repository: Repository, name: bytes) -> str:
    """A path of the repository as it is seen from the workspace folder."""
    inside = name.removeprefix(repository.prefix) if name.startswith(repository.prefix) else b""
    return show(
        inside or os.path.relpath(os.path.join(repository.top, name), os.path.join(repository.top, repository.prefix))
    )
