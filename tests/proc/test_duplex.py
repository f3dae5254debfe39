from __future__ import annotations

import asyncio
import os
import sys
import time

import pytest

from agenyx.proc.duplex import ERRORS_KEPT, UNSENT, Full
from agenyx.proc.spawn import ProcessError, Processes, Spawn

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="strays are found on Linux only")


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what happens is seen from outside only
            await asyncio.sleep(0.005)


def test_it_is_talked_with(drive, bash):
    async def body(p: Processes):
        heard = bytearray()
        child = await p.talk(bash('while read -r line; do echo "<$line>"; done; exit 5'), heard.extend)
        child.write(b"one\ntw")
        child.write(b"o\n")
        await until(lambda: heard == b"<one>\n<two>\n")
        await child.stop(grace=5)
        assert child.exited.result() == 5 and child.over.done()
        child.write(b"to nobody\n")
        await child.stop()

    drive(body)


def test_much_goes_both_ways(drive):
    data = os.urandom(3_000_000)

    async def body(p: Processes):
        heard = bytearray()
        child = await p.talk(Spawn(argv=("cat",), cwd="/", env={"PATH": "/usr/bin:/bin"}), heard.extend)
        for at in range(0, len(data), 100_000):
            child.write(data[at : at + 100_000])
        await until(lambda: len(heard) == len(data))
        assert heard == data
        await child.stop()

    drive(body)


def test_one_that_does_not_read_is_noticed(drive, bash):
    async def body(p: Processes):
        child = await p.talk(bash("exec sleep 600"), lambda data: None)
        child.write(b"x" * UNSENT)
        with pytest.raises(Full):
            child.write(b"x" * 200_000)
        await child.stop()

    drive(body)


def test_it_ends_by_itself(drive, bash):
    async def body(p: Processes):
        child = await p.talk(bash("echo last words >&2; exit 3"), lambda data: None)
        await child.over
        assert await child.exited == 3
        await until(lambda: child.errors == b"last words\n")
        child.write(b"x" * 1000)

    drive(body)


def test_its_end_is_seen_though_another_holds_the_pipe(drive, bash, lives):
    async def body(p: Processes):
        heard = bytearray()
        child = await p.talk(bash("sleep 600 & echo $!"), heard.extend)
        await child.over
        await child.stop()
        return int(heard)

    pid = drive(body)
    assert not lives(pid)


CHATTY = """
import os, sys, threading
count = 0
def spew():
    global count
    while True:
        count += os.write(2, b"noise..." * 8192)
threading.Thread(target=spew, daemon=True).start()
for line in sys.stdin:
    print(count, flush=True)
"""


def test_stderr_that_never_ends_keeps_its_last_bytes_and_costs_little(drive):
    async def body(p: Processes):
        heard = bytearray()
        begun = time.monotonic()
        child = await p.talk(Spawn(argv=(sys.executable, "-ISc", CHATTY), cwd="/", env={}), heard.extend)
        await until(lambda: len(child.errors) == ERRORS_KEPT)
        await asyncio.sleep(0.5)
        child.write(b"how much?\n")
        await until(lambda: heard.endswith(b"\n"))
        # After the first megabyte it is read at 6.25 MiB a second, however fast it writes.
        assert int(heard) <= (2 << 20) + (time.monotonic() - begun) * (8 << 20)
        await child.stop()

    drive(body)


@LINUX
def test_stopping_ends_the_group_and_what_has_left_it(drive, lives):
    async def body(p: Processes):
        heard = bytearray()
        script = "setsid sleep 600 & echo $!; (trap '' TERM; echo $BASHPID; exec sleep 600) & cat"
        spawn = Spawn(argv=("bash", "-c", script), cwd="/", env={"PATH": "/usr/bin:/bin"}, tracked=True)
        child = await p.talk(spawn, heard.extend)
        await until(lambda: heard.count(b"\n") == 2)
        pids = [*map(int, heard.split()), child.pid]
        assert all(map(lives, pids))
        await child.stop(grace=0.2)
        assert not any(map(lives, pids))

    drive(body)


def test_closing_everything_ends_it_too(drive, bash, lives):
    async def body(p: Processes):
        child = await p.talk(bash("exec sleep 600"), lambda data: None)
        await p.close()
        assert child.over.done()
        return child.pid

    assert not lives(drive(body))


def test_what_cannot_start(drive):
    with pytest.raises(ProcessError, match="was not found"):
        drive(lambda p: p.talk(Spawn(argv=("/no/such/program",), cwd="/", env={}), lambda data: None))
