"""/diff: what changed in the workspace since the last commit, without running anything that a repository configures."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.core.errors import AgenyxError
from agenyx.proc import programs
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Spawn
from agenyx.ui.repl.commands.context import Context
from agenyx.workspace import git

_SECONDS = 20.0
_BYTES = 256 << 10
_QUIET = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "core.pager": "cat",
    "diff.external": "",
}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")


async def diff(ctx: Context, args: str) -> None:
    """`args` are paths. Raises AgenyxError where there is no repository."""
    program = programs.find("git", ctx.env, ctx.workspace)
    if program is None:
        raise AgenyxError("git is not installed", "Install it, or put it on the PATH.")
    config = _QUIET | await _filters(ctx, program)
    status = await _git(ctx, program, config, "status", "--short", "--branch", "--ignore-submodules=all")
    facts = git.facts(ctx.workspace)
    since = ("--cached",) if facts is not None and not facts.head else ("HEAD",)
    changed = await _git(ctx, program, config, "diff", *_PLAIN, *since, "--", *args.split())
    ctx.out.say(status.rstrip())
    if changed.strip():
        ctx.out.diff(changed)


async def _filters(ctx: Context, program: str) -> dict[str, str]:
    """Settings that switch off the content filters which the repository configures: they are programs."""
    listing = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    ended = await ctx.processes.run(_spawn(ctx, program, _QUIET, *listing))
    names = {name for name in ended.output.head.decode("utf-8", "replace").split("\0") if name}
    off = {"clean": "", "process": "", "required": "false"}
    return {f"{name.rpartition('.')[0]}.{key}": value for name in names for key, value in off.items()}


async def _git(ctx: Context, program: str, config: Mapping[str, str], *words: str) -> str:
    ended = await ctx.processes.run(_spawn(ctx, program, config, *words))
    if ended.timed_out:
        raise AgenyxError(f"git took longer than {_SECONDS:.0f} s", "Name a path: /diff src")
    if ended.code and not ended.capped:
        errors = ended.errors.decode("utf-8", "replace").strip().splitlines()
        raise AgenyxError(errors[0].removeprefix("fatal: ") if errors else f"git ended with {ended.code}")
    text = ended.output.head.decode("utf-8", "replace")
    return text + ("\n... the rest is cut; name a path: /diff src\n" if ended.capped else "")


def _spawn(ctx: Context, program: str, config: Mapping[str, str], *words: str) -> Spawn:
    env = child_env(ctx.env) | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    env["GIT_CONFIG_COUNT"] = str(len(config))
    for index, (key, value) in enumerate(config.items()):
        env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = key, value
    return Spawn(
        (program, "--no-pager", "--no-optional-locks", *words),
        ctx.workspace,
        env,
        stderr="separate",
        timeout=_SECONDS,
        head=_BYTES,
        tail=0,
        stop_after=_BYTES,
    )
