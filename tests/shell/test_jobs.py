"""Commands in the background: their log, their end, their group, and what is left of them afterwards."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.redact import MASK, Masker
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import ProcessError, Processes, Spawn
from agenyx.shell import jobs as module
from agenyx.shell.jobs import Job, JobError, Jobs
from agenyx.shell.system import Shell

KEY = "sk-planted-ä-key-0123456789"


class Place:
    """A shell and its jobs, in one event loop."""

    def __init__(self, processes: Processes, root: Path, directory: Path) -> None:
        self.shell = Shell(processes, str(root), str(directory / "state"), child_env(dict(os.environ)))
        self.jobs = Jobs(processes, str(directory / "jobs"), masker=Masker((KEY,)))

    async def start(self, command: str) -> Job:
        return await self.jobs.start(self.shell.detached(command), command)


@pytest.fixture
def place(drive: Any, root: Path, tmp_path: Path):
    def run(body: Callable[[Place], Awaitable[Any]]) -> Any:
        return drive(lambda processes: body(Place(processes, root, tmp_path)))

    return run


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


async def printed(job: Job, text: bytes) -> bytes:
    """Collect output until the text is there."""
    deadline, found = time.monotonic() + 20, b""
    while text not in found:
        assert time.monotonic() < deadline, found
        found += job.read(None, 1 << 20).data
        await asyncio.sleep(0.01)
    return found


def test_output_comes_in_pieces_and_the_end_is_told(place: Any, tmp_path: Path) -> None:
    async def body(here: Place) -> None:
        job = await here.start("echo one; read x < go; echo two; exit 3")
        assert job.id == "b1" and job.running
        assert await printed(job, b"one\n") == b"one\n"
        assert job.read(None, 100).data == b"" and "is running, for" in job.status
        assert (await here.shell.run("echo x >go", 20)).code == 0
        await job.wait(20)
        assert not job.running and job.status.startswith("ended with exit code 3 after ")
        assert job.read(None, 100).data == b"two\n" and job.read(None, 100).data == b""
        assert job.read(0, 100).data == b"one\ntwo\n" and job.read(-4, 100).data == b"two\n"
        assert not await job.stop()

    os.mkfifo(tmp_path / "work space" / "go")
    place(body)
    log = tmp_path / "jobs" / "b1.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600 and log.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE((tmp_path / "jobs").stat().st_mode) == 0o700


def test_stopping_ends_the_whole_group_once(place: Any) -> None:
    async def body(here: Place) -> None:
        job = await here.start("sleep 600 & echo $! $$; trap '' TERM; sleep 600; sleep 600")
        pids = [int(word) for word in (await printed(job, b"\n")).split()]
        first, second = await asyncio.gather(job.stop(), job.stop())
        assert (first, second) == (True, False)
        assert not any(map(alive, pids)) and job.status.startswith("was stopped after ")
        assert not await job.stop()

    place(body)


def test_a_job_lasts_as_long_as_what_it_put_into_the_background(place: Any) -> None:
    async def body(here: Place) -> None:
        job = await here.start("(echo late; exec sleep 600) & exit 5")
        assert await printed(job, b"late\n") == b"late\n"
        await job.wait(0.3)
        assert job.running and await job.stop()

    place(body)


def test_the_shell_is_where_it_was(place: Any) -> None:
    async def body(here: Place) -> None:
        await here.shell.run("cd sub; export A=before", 20)
        job = await here.start("echo $A; pwd; cd deep; export A=after; echo partial")
        await job.wait(20)
        where = f"{here.shell.root}/sub"
        assert job.read(None, 999).data.decode() == f"before\n{where}\npartial\n"
        assert here.shell.cwd == where
        assert (await here.shell.run("echo $A", 20)).output.head == b"before\n"

    place(body)


def test_half_a_line_waits_while_the_command_runs(place: Any) -> None:
    async def body(here: Place) -> None:
        job = await here.start("printf 'whole\\nhal'; exec sleep 600")
        assert await printed(job, b"whole\n") == b"whole\n"
        await job.stop()
        assert job.read(None, 99).data in (b"hal", b"")  # "" when it was stopped before it had printed that
        job = await here.start("printf 'one\\ntwo\\nthree'")
        await job.wait(20)
        assert [job.read(None, 6).data for _ in range(4)] == [b"one\n", b"two\n", b"three", b""]

    place(body)


def test_a_chatty_command_fills_its_log_and_no_more(
    place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOG_BYTES", 1 << 20)

    async def body(here: Place) -> None:
        job = await here.start("seq 1 1000000; echo done >&2")
        await job.wait(30)
        assert "exit code 0" in job.status
        assert job.read(-60, 100).data.endswith(b"\n[more than 1 MiB; the rest is not kept]\n")

    place(body)
    data = (tmp_path / "jobs" / "b1.log").read_bytes()
    assert len(data) < (1 << 20) + 100 and data.startswith(b"1\n2\n3\n")


def test_what_cannot_start_leaves_nothing(place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(here: Place) -> None:
        with pytest.raises(ProcessError):
            await here.jobs.start(Spawn(argv=("/nonexistent/program",), cwd="/", env={}), "x")
        assert here.jobs.find("b1") is None and os.listdir(tmp_path / "jobs") == []
        monkeypatch.setattr(module, "MAX_RUNNING", 2)
        jobs = [await here.start("sleep 600") for _ in range(2)]
        with pytest.raises(JobError, match="2 commands run"):
            await here.start("true")
        await jobs[0].stop()
        assert (await here.start("true")).id == "b3"

    place(body)


def test_no_place_for_the_log_is_an_error(drive: Any, root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    async def body(processes: Processes) -> None:
        jobs = Jobs(processes, str(tmp_path / "file" / "jobs"))
        with pytest.raises(JobError, match="cannot be kept"):
            await jobs.start(Shell(processes, str(root), str(tmp_path / "s"), {}).detached("true"), "true")

    drive(body)


def test_of_an_earlier_process_the_log_is_left_and_numbers_go_on(place: Any) -> None:
    pids: list[int] = []

    async def first(here: Place) -> None:
        job = await here.start("echo $$; exec sleep 600")
        pids.append(int(await printed(job, b"\n")))

    async def second(here: Place) -> None:
        assert not alive(pids[0])  # it ended with the session
        job = here.jobs.find("b1")
        assert job is not None and not job.running and job.status == "ended when Agenyx stopped"
        assert job.read(None, 99).data == b"%d\n" % pids[0]
        assert not await job.stop()
        assert (await here.start("true")).id == "b2"
        for name in ("b0", "b3", "../b1", "b1.log", ""):
            assert here.jobs.find(name) is None

    place(first)
    place(second)


@pytest.mark.parametrize("cut", range(1, len(KEY.encode()), 3))
def test_credentials_never_reach_the_log(place: Any, tmp_path: Path, cut: int) -> None:
    one, two = KEY.encode()[:cut], KEY.encode()[cut:]
    (tmp_path / "work space" / "one").write_bytes(b"\xff\x00a=" + one)
    (tmp_path / "work space" / "two").write_bytes(two + b"!\n" + one)

    async def body(here: Place) -> bytes:
        job = await here.start("cat one; read x < go; cat two")
        await printed(job, b"\xff\x00a=")
        assert (await here.shell.run("echo x >go", 20)).code == 0
        await job.wait(20)
        return job.read(0, 999).data

    os.mkfifo(tmp_path / "work space" / "go")
    # The key comes in two pieces; its beginning alone, at the end, is no key. Bytes that are no text stay as they are.
    assert place(body) == b"\xff\x00a=" + MASK.encode() + b"!\n" + one
    assert KEY.encode() not in (tmp_path / "jobs" / "b1.log").read_bytes()


def test_stopping_ends_what_left_the_group(place: Any) -> None:
    async def body(here: Place) -> None:
        job = await here.start("setsid sleep 600 & echo $!; sleep 600")
        pid = int(await printed(job, b"\n"))
        assert await job.stop() and not alive(pid)

    place(body)


def test_in_the_moment_it_has_ended_all_of_it_is_there(place: Any) -> None:
    async def body(here: Place) -> None:
        for _ in range(10):
            job = await here.start(f"printf %s {KEY[:9]}; exit 3")
            while job.running:  # noqa: ASYNC110 (the very next moment is what is looked at)
                await asyncio.sleep(0)
            assert job.status.startswith("ended with exit code 3 after ")
            assert job.read(0, 99).data == KEY[:9].encode()

    place(body)


def test_closing_stops_all(place: Any) -> None:
    async def body(here: Place) -> None:
        jobs = [await here.start("sleep 600") for _ in range(3)]
        await here.jobs.close()
        assert all(job.status.startswith("was stopped") for job in jobs)

    place(body)
