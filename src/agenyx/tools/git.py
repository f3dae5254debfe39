"""The git tools: status, diff, log, commit. Own what is shown of a repository; how git is run lies in workspace."""

from __future__ import annotations

import os
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Command, Concern, Effects, PathRef, ToolSet
from agenyx.tools.paths import judged, left_out
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace.files import FileProblem
from agenyx.workspace.names import parse
from agenyx.workspace.root import Root

_FULL: tuple[ToolSet, ...] = ("full",)
_SHOWN = 500  # files that a list names
_COMMIT_SECONDS = 600.0  # hooks run tests


class GitStatusArgs(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class GitDiffArgs(Struct, frozen=True, forbid_unknown_fields=True):
    staged: bool = False
    path: str = ""


class GitLogArgs(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    path: str = ""


class GitCommitArgs(Struct, frozen=True, forbid_unknown_fields=True):
    message: Annotated[str, Meta(min_length=1, max_length=100_000)]
    all: bool = False


class GitStatus:
    name: ClassVar[str] = "GitStatus"
    aliases: ClassVar[tuple[str, ...]] = ("git_status",)
    sets: ClassVar[tuple[ToolSet, ...]] = _FULL
    args: ClassVar[type[GitStatusArgs]] = GitStatusArgs

    async def project(self, args: GitStatusArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref("."),), parallel=True)

    async def run(self, args: GitStatusArgs, ctx: Context) -> Outcome:
        from agenyx.workspace import gitview

        try:
            lines = await gitview.status(await _repository(ctx))
        except AgenyxError as problem:
            return _failed(problem)
        more = [f"[{len(lines) - _SHOWN:,} more files]"] if len(lines) > _SHOWN else []
        clean = ["(nothing has changed)"] if len(lines) == 1 else []
        return Outcome.ok("\n".join([*lines[:_SHOWN], *clean, *more]))


class GitDiff:
    name: ClassVar[str] = "GitDiff"
    aliases: ClassVar[tuple[str, ...]] = ("git_diff",)
    sets: ClassVar[tuple[ToolSet, ...]] = _FULL
    args: ClassVar[type[GitDiffArgs]] = GitDiffArgs

    async def project(self, args: GitDiffArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.path or "."),), parallel=True)

    async def run(self, args: GitDiffArgs, ctx: Context) -> Outcome:
        from agenyx.workspace import gitview

        try:
            asked = judged(ctx, "read")
        except FileProblem as problem:
            return Outcome.error(str(problem))
        open_all = bool(ctx.root.found(asked.real).protected)  # the user was asked for it

        def hidden(path: bytes) -> bool:
            ref = ctx.root.found(path)
            return bool(ref.problem or (ref.protected and not open_all))

        try:
            diff = await gitview.diff(await _repository(ctx), _below(ctx.root, asked), args.staged, hidden)
        except AgenyxError as problem:
            return _failed(problem)
        notes: list[str] = []
        if diff.hidden:
            notes.append(f"[{left_out(list(diff.hidden))}, and GitDiff with it as path]")
        if diff.more:
            notes.append("[the diff goes on; name a path to see less]")
        where = "" if asked.shown == "." else f" in {asked.shown}"
        nothing = f"Nothing is staged{where}." if args.staged else f"No tracked file has uncommitted changes{where}."
        return Outcome.ok("\n".join([diff.text or nothing, *notes]))


class GitLog:
    name: ClassVar[str] = "GitLog"
    aliases: ClassVar[tuple[str, ...]] = ("git_log",)
    sets: ClassVar[tuple[ToolSet, ...]] = _FULL
    args: ClassVar[type[GitLogArgs]] = GitLogArgs

    async def project(self, args: GitLogArgs, look: Look) -> Effects:
        return Effects(reads=(look.root.ref(args.path or "."),), parallel=True)

    async def run(self, args: GitLogArgs, ctx: Context) -> Outcome:
        from agenyx.workspace import gitview

        try:
            asked = judged(ctx, "read")
            lines = await gitview.log(await _repository(ctx), _below(ctx.root, asked), args.limit)
        except AgenyxError as problem:
            return _failed(problem)
        return Outcome.ok("\n".join(lines) or "There are no commits.")


class GitCommit:
    """Hooks and filters of the repository take part in a commit. They are code, so the call is never quite clear."""

    name: ClassVar[str] = "GitCommit"
    aliases: ClassVar[tuple[str, ...]] = ("git_commit",)
    sets: ClassVar[tuple[ToolSet, ...]] = _FULL
    args: ClassVar[type[GitCommitArgs]] = GitCommitArgs

    async def project(self, args: GitCommitArgs, look: Look) -> Effects:
        from agenyx.workspace import gitview
        from agenyx.workspace.gitrun import open_repository

        words = ("git", "commit", *(("--all",) if args.all else ()), "-m", args.message)
        try:
            repository = await open_repository(look.shell.processes, look.shell.env, look.root.real)
            files = await gitview.to_commit(repository, args.all)
            code = [f"hook {name}" for name in await repository.hooks()]
            code += [f"filter {name}" for name in repository.filters]
        except AgenyxError as problem:
            return Effects(commands=(Command(words),), preview=f"This would fail: {problem.message}.")
        opaque = f"code of the repository runs with a commit: {', '.join(code)}" if code else ""
        listed = [*files[:_SHOWN], *([f"… {len(files) - _SHOWN:,} more"] if len(files) > _SHOWN else [])]
        preview = "\n".join(
            [f"git commit{' --all' * args.all}", "", args.message.strip(), "", *(listed or ["(no files)"])]
        )
        return Effects(commands=(Command(words),), opaque=opaque, preview=preview, concerns=_secrets(look.root, files))

    async def run(self, args: GitCommitArgs, ctx: Context) -> Outcome:
        from agenyx.workspace import gitview

        message = args.message.strip()
        if not message or "\0" in message:
            return Outcome.error("The message is empty or holds a NUL character. Say what the commit does.")
        try:
            repository = await _repository(ctx)
            return Outcome.ok(await gitview.commit(repository, message, args.all, _COMMIT_SECONDS))
        except AgenyxError as problem:
            return _failed(problem)


def _secrets(root: Root, files: list[str]) -> tuple[Concern, ...]:
    """The concern about what a commit would publish: protected files among its `M path` lines."""
    changed = [parse(name) for kind, _, name in (line.partition(" ") for line in files) if kind != "D"]
    refs = [root.found(os.path.normpath(os.path.join(root.real, name))) for name in changed]
    found = [ref for ref in refs if ref.protected]
    return tuple(Concern("always", f"it would commit {ref.shown}: {ref.protected}", ref.shown) for ref in found[:20])


async def _repository(ctx: Context):
    from agenyx.workspace.gitrun import open_repository  # not needed before the first call

    return await open_repository(ctx.processes, ctx.shell.env, ctx.root.real)


def _below(root: Root, asked: PathRef) -> bytes:
    return os.path.relpath(asked.real, root.real)


def _failed(problem: AgenyxError) -> Outcome:
    text = f"{problem.message}. {problem.fix}".strip()
    return Outcome.error(text[:1].upper() + text[1:])
