"""Commands that run in the background of a session: their ids, what they print, how they end.

A job is a process group with a log file of its own, in which credentials are masked before it is written; it ends with
the session. Its id is good as long as this process lives; of an earlier process only the log is left. Knows neither
tools nor how a command is made; others may put what is theirs into the same list.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.redact import Masker
from agenyx.proc.spawn import Ended, Processes, Spawn

if TYPE_CHECKING:
    from agenyx.core.masked_output import OutputMasker

MAX_RUNNING = 64
LOG_BYTES = 64 << 20
_ID = re.compile(r"b[1-9][0-9]{0,8}")
_SUFFIX = ".log"
_WHOLE_LINES = 1 << 16  # how far back from the end of a piece its last line end is looked for


class JobError(AgenyxError):
    """A command could not be put into the background."""


class Piece(Struct, frozen=True):
    """A part of a log: `data` is what stands from byte `start` to `end`, of `total` written so far."""

    data: bytes
    start: int
    end: int
    total: int


class Background(Protocol):
    """Something that runs beside the conversation: a command, or what another layer has (see `Jobs.adopt`)."""

    @property
    def id(self) -> str: ...

    @property
    def command(self) -> str:
        """What it is, for people; "" when only its output is left."""
        ...

    @property
    def running(self) -> bool: ...

    @property
    def status(self) -> str: ...

    async def wait(self, seconds: float) -> None: ...

    def read(self, offset: int | None, most: int) -> Piece: ...

    async def stop(self) -> bool: ...


class Job:
    """One command in the background. `told` is the byte up to which its output was handed out."""

    def __init__(self, id: str, command: str, path: str, clock: Callable[[], float]) -> None:
        self.id, self.command, self.path, self.told = id, command, path, 0
        self._clock, self._began, self._seconds = clock, clock(), -1.0
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._ended: Ended | None = None

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def status(self) -> str:
        """How it stands, in words: "is running", "ended with exit code 0", with the time it took."""
        if self._task is None:
            return "ended when Agenyx stopped"
        seconds = self._clock() - self._began if self._seconds < 0 else self._seconds
        took = f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"
        if self.running:
            return f"is running, for {took} so far"
        if self._ended is None:
            return f"was stopped after {took}"
        code, left = self._ended.code, self._ended.survivors
        how = f"ended with exit code {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"
        more = f"; it left behind: {', '.join(map(str, left[:20]))}" if left else ""
        return f"{how} after {took}{more}"

    async def wait(self, seconds: float) -> None:
        """Return when it has ended, or after so many seconds. Cancelling the wait does not touch the job."""
        if self._task is not None and not self._task.done():
            await asyncio.wait((self._task,), timeout=seconds)

    def read(self, offset: int | None, most: int) -> Piece:
        """What it printed from byte `offset` on (None: since the last piece; negative: counted from the end).

        At most `most` bytes, cut behind a line end where there is one. Moves `told`. Raises OSError.
        """
        with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            total = os.fstat(file.fileno()).st_size
            start = self.told if offset is None else offset if offset >= 0 else max(0, total + offset)
            start = min(start, total)
            file.seek(start)
            data = file.read(min(most, total - start))
        # A line that is still being written waits for its end, so that nobody sees the half of a word.
        if start + len(data) < total or self.running:
            cut = data.rfind(b"\n", max(0, len(data) - _WHOLE_LINES)) + 1
            data = data[:cut] if cut else data
        self.told = start + len(data)
        return Piece(data, start, self.told, total)

    async def follow(self, run: Coroutine[None, None, Ended], log: _Log) -> None:
        """The run that this job stands for. With it end the log and the clock: nobody sees it half ended."""
        try:
            ended = await run
            self._ended = None if self._stopped else ended
        finally:
            self._seconds = self._clock() - self._began
            log.close()

    def started(self, task: asyncio.Task[None]) -> None:
        """The task of `follow`."""
        self._task = task

    async def stop(self) -> bool:
        """End the group and wait for it. False when it had ended, or another caller stops it already."""
        task = self._task
        if task is None or task.done() or self._stopped:
            return False
        self._stopped = True
        task.cancel()
        await asyncio.wait((task,))
        return True


class Jobs:
    """The jobs of one session. `directory` is a private folder for their logs; it outlives the process."""

    def __init__(
        self,
        processes: Processes,
        directory: str,
        clock: Callable[[], float] = time.monotonic,
        masker: Masker | None = None,
    ) -> None:
        self._processes, self._directory, self._clock, self._masker = processes, directory, clock, masker
        self._jobs: dict[str, Background] = {}
        self.elsewhere: Callable[[str], Background | None] = lambda _: None  # finds what another layer has by its id

    async def start(self, spawn: Spawn, command: str) -> Job:
        """Start a process; `command` is its name for people. Raises JobError and ProcessError."""
        running = [job.id for job in self._jobs.values() if isinstance(job, Job) and job.running]
        if len(running) >= MAX_RUNNING:
            raise JobError(f"{MAX_RUNNING} commands run in the background already", "Stop one of them first.")
        id, log = self._log()
        job = Job(id, command, log.path, self._clock)
        task = asyncio.create_task(job.follow(self._processes.run(spawn, log.feed), log))
        await asyncio.sleep(0)  # it has started now, or failed to
        if task.done() and (error := task.exception()) is not None:
            os.unlink(log.path)
            raise error
        job.started(task)
        self._jobs[id] = job
        return job

    def adopt(self, job: Background) -> None:
        """Take something else into the list; it is stopped at the end like all that runs. Its id is none of ours."""
        self._jobs[job.id] = job

    def find(self, id: str) -> Background | None:
        """A job of this session; also one of an earlier process, of which only the log is left."""
        if (job := self._jobs.get(id)) is not None:
            return job
        if not _ID.fullmatch(id):
            return self.elsewhere(id)
        path = os.path.join(self._directory, id + _SUFFIX)
        if not os.path.isfile(path):
            return None
        self._jobs[id] = Job(id, "", path, self._clock)
        return self._jobs[id]

    def known(self) -> list[Background]:
        """The jobs that this process started, in their order."""
        return [job for job in self._jobs.values() if job.command]

    async def close(self) -> None:
        """Stop all that runs."""
        await asyncio.gather(*(job.stop() for job in self._jobs.values()))

    def _log(self) -> tuple[str, _Log]:
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            number = max(
                (int(name[1 : -len(_SUFFIX)]) for name in os.listdir(self._directory) if _is_log(name)), default=0
            )
            while True:
                number += 1
                try:
                    return f"b{number}", _Log(os.path.join(self._directory, f"b{number}{_SUFFIX}"), self._masker)
                except FileExistsError:
                    continue
        except OSError as error:
            raise JobError(
                f"its output cannot be kept: {error.strerror}", "Free space, or run it in the foreground."
            ) from error


def _is_log(name: str) -> bool:
    return name.endswith(_SUFFIX) and _ID.fullmatch(name.removesuffix(_SUFFIX)) is not None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Log:
    """Everything a job prints, masked, up to LOG_BYTES and then a mark. Raises OSError when it cannot be made.

    What may be the beginning of a credential waits for what follows, or for the end.
    """

    def __init__(self, path: str, masker: Masker | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.path, self._file, self._room = path, os.open(path, flags, 0o600), LOG_BYTES
        self._masker: OutputMasker | None = None
        if masker is not None:
            from agenyx.core.masked_output import OutputMasker  # not needed before the first job

            self._masker = OutputMasker(masker)

    def feed(self, data: bytes) -> None:
        if self._file >= 0:
            self._write(data if self._masker is None else self._masker.feed(data))

    def close(self) -> None:
        if self._file < 0:
            return
        if self._masker is not None:
            self._write(self._masker.end())
        self._shut()

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            return
        self._room -= len(data)
        if self._room < 0:
            data = data[: self._room] + b"\n[more than %d MiB; the rest is not kept]\n" % (LOG_BYTES >> 20)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self._room = -1  # a full disk ends the log, never the command
        if self._room < 0:
            self._shut()

    def _shut(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
