"""What leaves its process group by `setsid` ends with it all the same, and strangers are left alone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.proc.spawn import MARK, Processes, Spawn
from agenyx.proc.strays import Strays

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")

# Writes the pids of processes that are in no group of ours: a session leader, one that ignores TERM, an orphan's child.
ESCAPE = """
setsid sh -c 'echo $$ >>pids; exec sleep 600' & disown
setsid sh -c "trap '' TERM; echo \\$\\$ >>pids; sleep 600; sleep 600" & disown
setsid -f sh -c 'sh -c "echo \\$\\$ >>pids; sleep 600; :" & wait'
until [ "$(wc -l <pids)" = 3 ]; do sleep 0.01; done 2>/dev/null
echo ready
"""


def escaping(place: Path, then: str, tracked: bool = True, timeout: float | None = None) -> Spawn:
    env = {"PATH": "/usr/bin:/bin"}
    return Spawn(argv=("bash", "-c", ESCAPE + then), cwd=str(place), env=env, tracked=tracked, timeout=timeout)


def pids(place: Path) -> list[int]:
    return [int(line) for line in (place / "pids").read_text("utf-8").split()]


def test_timeout_ends_what_left_the_group(drive, lives, tmp_path):
    ended = drive(lambda p: p.run(escaping(tmp_path, "sleep 600", timeout=3)))
    assert ended.timed_out and len(pids(tmp_path)) == 3
    assert not any(map(lives, pids(tmp_path)))


@pytest.mark.parametrize("twice", [False, True])
def test_cancel_ends_what_left_the_group(drive, lives, until, tmp_path, twice):
    async def body(p: Processes):
        ready = asyncio.Event()
        task = asyncio.create_task(p.run(escaping(tmp_path, "sleep 600"), lambda _: ready.set()))
        await ready.wait()
        task.cancel()
        if twice:
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(pids(tmp_path)) == 3
        if not twice:
            assert not any(map(lives, pids(tmp_path)))

    drive(body)
    until(lambda: not any(map(lives, pids(tmp_path))))


def test_they_outlive_their_command_and_end_at_close(drive, lives, tmp_path):
    async def body(p: Processes):
        ended = await p.run(escaping(tmp_path, ""))
        assert ended.code == 0 and all(map(lives, pids(tmp_path)))
        # Ending another command leaves them alone.
        await p.run(Spawn(argv=("sleep", "600"), cwd="/", env={"PATH": "/bin"}, tracked=True, timeout=0.05))
        assert all(map(lives, pids(tmp_path)))

    drive(body)
    assert not any(map(lives, pids(tmp_path)))


def test_without_tracking_nothing_is_marked(drive, lives, tmp_path):
    def kill_all():
        for pid in pids(tmp_path):
            os.killpg(os.getpgid(pid), signal.SIGKILL)

    drive(lambda p: p.run(escaping(tmp_path, "", tracked=False)))
    try:
        assert all(map(lives, pids(tmp_path)))
    finally:
        kill_all()


AGENT = """
import asyncio, os, sys
from agenyx.proc.spawn import Processes, Spawn

async def main():
    spawn = Spawn(argv=("bash", "-c", sys.argv[1]), cwd=sys.argv[2], env={"PATH": "/usr/bin:/bin"}, tracked=True)
    await Processes().run(spawn, lambda data: os.write(1, data))
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("then", ["sleep 600", ""])
def test_kill_of_the_agent_ends_them(lives, until, tmp_path, then):
    agent = subprocess.Popen((sys.executable, "-c", AGENT, ESCAPE + then, str(tmp_path)), stdout=subprocess.PIPE)
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"ready\n"
    assert len(pids(tmp_path)) == 3 and all(map(lives, pids(tmp_path)))
    agent.kill()
    agent.wait()
    agent.stdout.close()
    until(lambda: not any(map(lives, pids(tmp_path))))


@pytest.fixture
def stranger():
    """A process that leads its own group; started with the given environment."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**env: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(("/bin/sleep", "600"), env=env, start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_only_the_exact_mark_counts(stranger):
    one, two = stranger(**{MARK: "tok.1"}), stranger(**{MARK: "tok.12", "X": "1"})
    stranger(**{"X" + MARK: "tok.1"})
    stranger(X=f"{MARK}=tok.1")
    assert Strays(MARK, "tok.1", lambda: ()).members() == (one.pid,)
    assert set(Strays(MARK, "tok.", lambda: ()).members()) == {one.pid, two.pid}
    Strays(MARK, "tok.1", lambda: ()).signal(signal.SIGTERM)
    assert one.wait(20) == -signal.SIGTERM and two.poll() is None
    assert Strays(MARK, "tok.1", lambda: ()).members() == ()  # neither a zombie nor a reaped one


def test_members_of_known_groups_are_left_to_them(stranger):
    process = stranger(**{MARK: "tok.1"})
    strays = Strays(MARK, "tok.1", lambda: (process.pid,))
    assert not strays.alive()
    strays.signal(signal.SIGKILL)
    assert process.poll() is None


# Its life ends in the moment in which its command has started: nobody has been told the number of that process.
SUDDEN = """
import asyncio, os, signal, subprocess, sys
from agenyx.proc.spawn import Processes, Spawn

start = subprocess.Popen.__init__
def sudden(process, argv, *args, **kwargs):
    start(process, argv, *args, **kwargs)
    if argv[0] == "bash":
        print(process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

subprocess.Popen.__init__ = sudden
spawn = Spawn(argv=("bash", "-c", "exec sleep 600"), cwd="/", env={"PATH": "/usr/bin:/bin"}, tracked=True)
asyncio.run(Processes().run(spawn))
"""


def test_kill_of_the_agent_right_after_a_start_ends_what_it_started(lives, until):
    done = subprocess.run((sys.executable, "-c", SUDDEN), stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    until(lambda: not lives(int(done.stdout)))
