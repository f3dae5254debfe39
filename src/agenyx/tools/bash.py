"""The Bash tool: one command in the session's shell, told to the model as text."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from agenyx.core.errors import AgenyxError
from agenyx.core.limits import SHELL_CHARS
from agenyx.core.messages import Status, Text
from agenyx.core.tools import Effects, ToolSet
from agenyx.proc.spawn import Capture
from agenyx.shell.system import ShellResult
from agenyx.tools.spec import Context, Look, Outcome

if TYPE_CHECKING:
    from agenyx.tools.commands import Analyses

_SPILL_CAP = 32 << 20  # as Spawn.spill_cap
_TRAILER = 600  # characters for what is said about the output


class BashArgs(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, description="The bash command to run")]
    timeout: Annotated[int, Meta(ge=1, le=600_000, description="Milliseconds until it is stopped")] = 120_000
    description: Annotated[str, Meta(description="What it does, in a few words")] = ""
    run_in_background: Annotated[
        bool,
        Meta(
            description="Return at once with a task_id for TaskOutput and TaskStop; no time limit",
            extra_json_schema={"sets": ("full",)},
        ),
    ] = False


class Bash:
    name: ClassVar[str] = "Bash"
    aliases: ClassVar[tuple[str, ...]] = ("bash", "run_command", "shell")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[BashArgs]] = BashArgs

    def __init__(self) -> None:
        self._analyses: Analyses | None = None

    async def project(self, args: BashArgs, look: Look) -> Effects:
        from agenyx.tools.commands import Analyses, effects_of  # not needed before the first command

        self._analyses = self._analyses or Analyses()
        effects = await effects_of(args.command, look, self._analyses)
        preview = args.command + "\n(in the background)" * args.run_in_background
        return replace(effects, preview=preview)

    async def run(self, args: BashArgs, ctx: Context) -> Outcome:
        if args.run_in_background:
            return await _start(args.command, ctx)
        limit = min(ctx.result_chars, SHELL_CHARS)
        keep = limit - min(_TRAILER, limit // 4)
        if ctx.spill is not None:
            with suppress(OSError):  # without its folder there is no spill, which is told with the output
                os.makedirs(os.path.dirname(ctx.spill), mode=0o700, exist_ok=True)
        try:
            result = await ctx.shell.run(args.command, args.timeout / 1000, ctx.output, ctx.spill, keep)
        except AgenyxError as error:
            return _not_run(error)
        status: Status = "timed_out" if result.timed_out else "error" if result.code else "ok"
        lines = [_text(result.output, ctx.call), *_remarks(result, args.timeout)]
        return Outcome(status, (Text("\n".join(filter(None, lines))),), spill=result.output.spill)


async def _start(command: str, ctx: Context) -> Outcome:
    if ctx.jobs is None:
        return Outcome.error("Nothing can run in the background here. Run the command without run_in_background.")
    try:
        job = await ctx.jobs.start(ctx.shell.detached(command), command)
    except AgenyxError as error:
        return _not_run(error)
    return Outcome.ok(f"Started in the background with task_id {job.id}. It ends with this program at the latest.")


def _not_run(error: AgenyxError) -> Outcome:
    return Outcome.error(f"The command was not run: {error.message}. {error.fix}".strip())


def _text(output: Capture, call: str) -> str:
    """What was printed, without its last line end; the middle is left out where it was too long."""
    if not output.total:
        return "(no output)"
    if not output.tail:
        return output.head.decode("utf-8", "replace").rstrip("\n")
    head, tail = _whole_characters(output.head, output.tail)
    where = ""
    if output.spill is not None:
        whole = "the whole output" if output.total <= _SPILL_CAP else f"its first {_SPILL_CAP >> 20} MiB"
        where = f"; {whole}: {f'ToolResultRead with tool_use_id {call}' if call else output.spill}"
    omitted = output.total - len(head) - len(tail)
    mark = f"[… {omitted} bytes omitted{where}]"
    return f"{head.decode('utf-8', 'replace')}\n{mark}\n{tail.decode('utf-8', 'replace')}".rstrip("\n")


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Cut back to whole UTF-8 characters where head ends and tail begins."""
    for size in range(1, min(4, len(head) + 1)):
        lead = head[-size]
        if lead >= 0xC0:  # the first byte of a character of 2, 3 or 4 bytes
            needed = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            head = head if size >= needed else head[:-size]
            break
        if lead < 0x80:
            break
    start = 0
    while start < min(3, len(tail)) and 0x80 <= tail[start] < 0xC0:
        start += 1
    return head, tail[start:]


def _remarks(result: ShellResult, timeout: int) -> list[str]:
    remarks: list[str] = []
    if result.timed_out:
        remarks.append(
            f"[timed out after {timeout} ms; all that it had started was ended. Give a longer timeout, or start it in "
            "the background]"
        )
    elif result.code > 0:
        remarks.append(f"[exit code {result.code}]")
    elif result.code < 0:
        remarks.append(f"[killed by {_signal_name(-result.code)}]")
    if result.survivors:
        pids = ", ".join(map(str, result.survivors[:20]))
        remarks.append(f"[still running in the background: {pids}. What they print from now on is not shown]")
    if result.note:
        remarks.append(f"[{result.note}]")
    return remarks


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
