"""A subagent in the background, as one of the jobs of its session: what it has given, how it stands, how it is ended.

Its answer lies in a file beside its transcript; of an earlier process only these are left.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from agenyx.agent.child import Pulse, Report, report_of
from agenyx.core.errors import AgenyxError
from agenyx.session import load
from agenyx.shell.jobs import Piece

ANSWER = "answer.txt"


class Errand:
    """`directory` is that of its session, `workspace` the parent's. `heard` is told, in the loop, once the model has
    read how it ended."""

    def __init__(
        self, id: str, agent: str, task: str, directory: str, workspace: str, heard: Callable[[], None]
    ) -> None:
        self.id, self.agent = id, agent
        self._workspace, self._loop = workspace, asyncio.get_running_loop()
        self.command = f"subagent {agent}: {' '.join(task.split())[:200]}" if task else ""
        self.pulse: Pulse | None = None
        self.report: Report | None = None
        self._directory, self._heard, self._told = directory, heard, 0
        self._task: asyncio.Task[None] | None = None
        self._seconds = 0.0
        self._stopped = False

    def started(self, task: asyncio.Task[None]) -> None:
        self._task = task

    def ended(self, report: Report) -> None:
        """Keep the answer on disk and only how it ended here."""
        self._seconds = self.pulse.seconds if self.pulse else 0.0
        path = os.path.join(self._directory, ANSWER)
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
                file.write(report.told(self.agent, self.id).encode("utf-8", "replace"))
        except OSError as error:
            report = Report(report.kind, f"its answer could not be kept: {error.strerror}", "", report.steps)
        self.report = Report(report.kind, report.why, "", report.steps, report.cost)
        self.pulse = None

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def status(self) -> str:
        if self.running:
            if self.pulse is None:
                return "waits for its turn: so many subagents work already"
            doing = f"; it calls {self.pulse.doing}" if self.pulse.doing else ""
            return f"is running, for {self.pulse.seconds:.0f} s so far{doing}"
        if self.report is None:
            return "ended when Agenyx stopped"
        return f"ended after {self._seconds:.0f} s: {self.report.line}"

    async def wait(self, seconds: float) -> None:
        if self._task is not None and not self._task.done():
            await asyncio.wait((self._task,), timeout=seconds)

    def read(self, offset: int | None, most: int) -> Piece:
        """The answer, nothing before there is one; also in a thread. Raises OSError."""
        if self.running:
            return Piece(b"", 0, 0, 0)
        data = self._answer()
        start = self._told if offset is None else offset if offset >= 0 else len(data) + offset
        start = min(max(start, 0), len(data))
        end = min(start + most, len(data))
        if end == len(data):
            self._loop.call_soon_threadsafe(self._heard)
        else:
            end = data.rfind(b"\n", start, end) + 1 or end
        self._told = end
        return Piece(data[start:end], start, end, len(data))

    def _answer(self) -> bytes:
        try:
            with open(os.open(os.path.join(self._directory, ANSWER), os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read()
        except FileNotFoundError:
            pass
        try:
            state = load.load(self._directory)
        except AgenyxError:
            return b""
        place = state.opened.workspace if state.opened else self._workspace
        stays = place != self._workspace and os.path.isdir(place)
        more = f"[its work tree stays in {place}, on the branch agenyx/{self.id}]" if stays else ""
        return report_of(None, state, None, "", more).told(self.agent, self.id).encode("utf-8", "replace")

    async def stop(self) -> bool:
        """End it and wait for that. False when it had ended, or another caller stops it already."""
        task = self._task
        if task is None or task.done() or self._stopped:
            return False
        self._stopped = True
        task.cancel()
        await asyncio.wait((task,))
        return True
