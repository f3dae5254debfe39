"""The Bash tool: one command in the session's shell, told to the model as text."""

from __future__ import annotations

import signal
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.limits import SHELL_CHARS
from agenyx.core.messages import Status, Text
from agenyx.core.tools import Effects, ToolSet
from agenyx.proc.spawn import Capture
from agenyx.shell.system import ShellResult
from agenyx.tools.spec import Context, Look, Outcome

_SPILL_CAP = 32 << 20  # as Spawn.spill_cap
_TRAILER = 600  # characters for what is said about the output


class BashArgs(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, description="The bash command to run")]
    timeout: Annotated[int, Meta(ge=1, le=600_000, description="Milliseconds until it is stopped")] = 120_000
    description: Annotated[str, Meta(description="What it does, in a few words")] = ""


class Bash:
    name: ClassVar[str] = "Bash"
    aliases: ClassVar[tuple[str, ...]] = ("bash", "run_command", "shell")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "small")
    args: ClassVar[type[BashArgs]] = BashArgs

    async def project(self, args: BashArgs, look: Look) -> Effects:
        """The commands as far as they are seen. Always opaque: nothing judges the parts of a command yet."""
        from agenyx.shell.parse import parse  # not needed before the first command

        shell = look.shell
        parsed = await parse(shell.processes, args.command, shell.env, outside=shell.root)
        return Effects(
            commands=parsed.commands,
            opaque=parsed.opaque or "a shell command is not yet judged in parts",
            preview=args.command,
        )

    async def run(self, args: BashArgs, ctx: Context) -> Outcome:
        limit = min(ctx.result_chars, SHELL_CHARS)
        keep = limit - min(_TRAILER, limit // 4)
        try:
            result = await ctx.shell.run(args.command, args.timeout / 1000, ctx.output, ctx.spill, keep)
        except AgenyxError as error:
            return Outcome.error(f"The command was not run: {error.message}. {error.fix}".strip())
        status: Status = "timed_out" if result.timed_out else "error" if result.code else "ok"
        lines = [_text(result.output), *_remarks(result, args.timeout)]
        return Outcome(status, (Text("\n".join(filter(None, lines))),), spill=result.output.spill)


def _text(output: Capture) -> str:
    """What was printed, without its last line end; the middle is left out where it was too long."""
    if not output.total:
        return "(no output)"
    if not output.tail:
        return output.head.decode("utf-8", "replace").rstrip("\n")
    head, tail = _whole_characters(output.head, output.tail)
    where = ""
    if output.spill is not None:
        whole = "the whole output" if output.total <= _SPILL_CAP else f"its first {_SPILL_CAP >> 20} MiB"
        where = f"; {whole}: {output.spill}"
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
            "the background with its output in a file]"
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
