"""Starts processes: the one primitive that everything else uses.

Each child leads its own session and group, has a closed environment and no terminal, and ends with its group. Knows
argv, bytes and signals; nothing of shells, tools or models.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core.errors import AgenyxError
from agenyx.core.redact import Masker
from agenyx.proc import exit, group
from agenyx.proc.capture import Capture, Recorder
from agenyx.proc.child import Child
from agenyx.proc.group import Family, Group
from agenyx.proc.janitor import Janitor
from agenyx.proc.pipes import DRAIN, driven

if TYPE_CHECKING:
    from agenyx.core.masked_output import OutputMasker
    from agenyx.proc.duplex import Duplex

ERROR_BYTES = 65536
MARK = "AGENYX_RUN"  # the environment variable that tracked processes bear


class ProcessError(AgenyxError):
    """A process could not be started."""


class Spawn(Struct, frozen=True):
    """What to start and how much to keep of what it prints. Sizes in bytes, times in seconds.

    `argv[0]` is looked up on the PATH of `env`, which is the whole environment of the child. `stdin` None is
    /dev/null. `spill` is a file, not yet there, that gets the whole output up to `spill_cap` once `head` + `tail`
    overflow. `stop_after` ends the group once so much was printed. `interrupt` puts an INT before the TERM of the
    kill ladder. `tracked` puts a mark into the environment, by which processes that leave the group are found and
    ended too (see proc.strays). `masker` takes credentials out of what is kept, in memory and in `spill`.
    """

    argv: tuple[str | bytes, ...]
    cwd: str | bytes
    env: Mapping[str, str]
    stdin: bytes | None = None
    stderr: Literal["merge", "drop", "separate"] = "merge"
    timeout: float | None = None
    head: int = 65536
    tail: int = 65536
    spill: str | None = None
    spill_cap: int = 32 << 20
    stop_after: int | None = None
    interrupt: bool = False
    tracked: bool = False
    masker: Masker | None = None


class Ended(Struct, frozen=True):
    """What became of it. `code` is the exit code, or a negative signal number.

    `errors` is stderr when it was kept apart, its first 64 KiB. `survivors` are the pids of the group that were
    alive after the leader's exit; they live on until they end, until `Processes.close`, or until this program ends.
    """

    code: int
    timed_out: bool
    capped: bool
    output: Capture
    errors: bytes
    seconds: float
    survivors: tuple[int, ...]


class Processes:
    """All processes of one runtime. `way` chooses how an exit is noticed, None for the best the system has."""

    def __init__(self, way: exit.Way | None = None) -> None:
        self._way: exit.Way | None = way
        self._janitor = Janitor()
        self._groups: set[Group] = set()  # every group that may still hold a process
        self._children: set[Child | Duplex] = set()
        self._token, self._marks = os.urandom(12).hex() + ".", 0
        self.heard: Callable[[str, dict[str, int]], None] | None = None  # told of each begin and end, for diagnostics

    @property
    def janitor_pid(self) -> int:
        """The janitor's pid, 0 before the first child."""
        return self._janitor.pid

    async def run(self, spawn: Spawn, on_output: Callable[[bytes], None] | None = None) -> Ended:
        """Run to the exit of the process itself; processes that it leaves behind are not waited for.

        `on_output` gets the bytes of standard output as they come and must not raise. Raises ProcessError when it
        cannot start. When the task is cancelled the whole group is ended before CancelledError is raised.
        """
        started = time.monotonic()
        process, members, exited = self._launch(spawn, separate=spawn.stderr == "separate")
        family = self._family(members, spawn)
        output = Recorder(spawn.head, spawn.tail, spawn.spill, spawn.spill_cap, _mask(spawn.masker))
        errors = Recorder(ERROR_BYTES, 0)
        capped: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def feed(data: bytes) -> None:
            if capped.done():
                return
            output.feed(data)
            if spawn.stop_after is not None and output.total >= spawn.stop_after:
                capped.set_result(None)
            if on_output is not None:
                on_output(data)

        with driven(process, spawn.stdin, feed, errors.feed) as readers:
            try:
                await asyncio.wait((exited, capped), timeout=spawn.timeout, return_when="FIRST_COMPLETED")
                timed_out = not exited.done() and not capped.done()
                if not exited.done():
                    await group.end(family, spawn.interrupt)
                    await asyncio.wait((exited,), timeout=group.REAP)
                survivors = members.members()
                deadline = time.monotonic() + DRAIN
                for reader in readers:
                    await reader.drain(max(0.0, deadline - time.monotonic()))
            except asyncio.CancelledError:
                await group.end(family, spawn.interrupt)
                await asyncio.wait((exited,), timeout=group.REAP)
                raise
            finally:
                capture = output.finish()
        return Ended(
            code=exited.result() if exited.done() else -9,
            timed_out=timed_out,
            capped=capped.done(),
            output=capture,
            errors=errors.finish().head,
            seconds=time.monotonic() - started,
            survivors=survivors,
        )

    async def start(self, spawn: Spawn) -> Child:
        """Start a child that lives on. Of `spawn`, stdin, timeout and the fields about output are not used.

        Its stderr is merged or dropped. Raises ProcessError.
        """
        process, members, exited = self._launch(spawn, separate=False)
        child = Child(process, members, exited)
        self._children.add(child)
        child.ended.add_done_callback(lambda _: self._children.discard(child))
        return child

    async def talk(self, spawn: Spawn, feed: Callable[[bytes], None]) -> Duplex:
        """Start a child that lives on and is talked with; `feed` gets what it prints and must not raise.

        Of `spawn`, stdin, stderr, timeout and the fields about output are not used. Raises ProcessError.
        """
        from agenyx.proc.duplex import Duplex  # most sessions talk with none

        process, members, exited = self._launch(replace(spawn, stdin=b""), separate=True)
        child = Duplex(process, self._family(members, spawn), exited, feed)
        self._children.add(child)
        child.over.add_done_callback(lambda _: self._children.discard(child))
        return child

    async def close(self) -> None:
        """End every group that still lives, and the janitor."""
        try:
            await group.end((*self._groups, *self._strays(self._token)) if self._marks else self._groups)
            for child in tuple(self._children):
                await child.stop()
        finally:
            self._prune()
            self._janitor.mark("")
            if (janitor := self._janitor.close()) is not None:
                gone = exit.watch(janitor, self._way or exit.best_way())
                await asyncio.wait((gone,), timeout=group.REAP)

    def abandoning(self) -> Callable[[], None]:
        """What ends everything at once and without a loop, where nobody can wait any more. It does not raise, reaps
        nothing, and holds none of the futures of these processes."""
        groups, janitor = self._groups, self._janitor

        def abandon() -> None:
            for members in tuple(groups):
                members.signal(signal.SIGKILL)
            janitor.close()  # which looks for what has left its group

        return abandon

    def _launch(self, spawn: Spawn, separate: bool) -> tuple[subprocess.Popen[bytes], Group, asyncio.Future[int]]:
        self._prune()
        if self._way is None:
            self._way = exit.best_way()
        env = spawn.env
        if spawn.tracked:
            self._marks += 1
            env = {**env, MARK: f"{self._token}{self._marks}"}
            self._janitor.mark(self._token)  # before it starts: who is killed right after that cannot tell its number
        try:
            process = subprocess.Popen(
                spawn.argv,
                bufsize=0,
                cwd=spawn.cwd,
                env=env,
                stdin=subprocess.DEVNULL if spawn.stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE
                if separate
                else subprocess.STDOUT
                if spawn.stderr == "merge"
                else subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _cannot_start(spawn, error) from error
        members = Group(process.pid)
        self._groups.add(members)
        self._janitor.add(process.pid)
        exited = exit.watch(process, self._way)
        exited.add_done_callback(lambda _: self._exited(members))
        if self.heard is not None:
            self._tell(self.heard, process.pid, exited)
        return process, members, exited

    def _tell(self, heard: Callable[[str, dict[str, int]], None], pid: int, exited: asyncio.Future[int]) -> None:
        began = time.monotonic()
        heard("process started", {"pid": pid})

        def ended(_: object) -> None:
            if not (exited.cancelled() or exited.exception()):
                took = round((time.monotonic() - began) * 1000)
                heard("process ended", {"pid": pid, "code": exited.result(), "duration_ms": took})

        exited.add_done_callback(ended)

    def _family(self, members: Group, spawn: Spawn) -> tuple[Family, ...]:
        """What ends with a process: its group, and what has left it."""
        return (members, *self._strays(f"{self._token}{self._marks}")) if spawn.tracked else (members,)

    def _strays(self, mark: str) -> tuple[Family, ...]:
        if not sys.platform.startswith("linux"):
            return ()
        from agenyx.proc.strays import Strays  # not needed before the first command

        return (Strays(MARK, mark, lambda: {members.pgid for members in self._groups}),)

    def _exited(self, members: Group) -> None:
        members.reaped = True
        if members.alive():
            self._janitor.reaped(members.pgid)
        else:
            self._drop(members)

    def _prune(self) -> None:
        """Forget the groups of processes left behind that have ended since."""
        for members in tuple(self._groups):
            if members.reaped and not members.alive():
                self._drop(members)

    def _drop(self, members: Group) -> None:
        if members in self._groups:
            self._groups.remove(members)
            self._janitor.remove(members.pgid)


def _mask(masker: Masker | None) -> OutputMasker | None:
    if masker is None or not masker.longest:
        return None
    from agenyx.core.masked_output import OutputMasker  # not needed before the first command

    return OutputMasker(masker)


def _cannot_start(spawn: Spawn, error: OSError | ValueError) -> ProcessError:
    name = os.fsdecode(spawn.argv[0]) if spawn.argv else ""
    match error:
        case FileNotFoundError() | NotADirectoryError() if not os.path.isdir(spawn.cwd):
            return ProcessError(
                f"the directory {os.fsdecode(spawn.cwd)!r} does not exist",
                "Start in a directory that exists.",
            )
        case FileNotFoundError():
            return ProcessError(f"the program {name!r} was not found", "Install it, or put it on the PATH.")
        case PermissionError():
            return ProcessError(
                f"the program {name!r} may not be executed", "Check its permissions and its directory's."
            )
        case OSError(errno=7):  # E2BIG
            return ProcessError(
                f"the arguments and environment of {name!r} are too long for the system",
                "Write the long text to a file and name the file.",
            )
        case OSError():
            return ProcessError(f"{name!r} could not be started: {error.strerror or error}", "Try again.")
        case _:
            return ProcessError(
                f"{name!r} could not be started: its arguments or environment hold a NUL or another character that "
                "cannot be passed on",
                "Leave that character out.",
            )
