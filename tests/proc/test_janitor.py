"""A real program with real children is killed by KILL; nothing of it may stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

AGENT = """
import asyncio, os, signal, sys
from agenyx.proc.spawn import Processes, Spawn

def spawn(script):
    return Spawn(argv=("bash", "-c", script), cwd="/", env={"PATH": "/usr/bin:/bin"})

def show(data):
    os.write(1, data)

async def main():
    processes = Processes()
    await processes.run(spawn("sleep 600 & echo $!"), show)  # a daemon that a finished call left behind
    if sys.argv[1] == "janitor-killed":
        os.kill(processes.janitor_pid, signal.SIGKILL)
    await processes.start(spawn("sleep 600"))
    tree = "(trap '' TERM; sleep 600 & echo $!; wait) & sleep 600 & echo $!; echo $$; wait"
    await processes.run(spawn(tree), show)

asyncio.run(main())
"""


@pytest.mark.parametrize("case", ["plain", "janitor-killed"])
def test_kill_of_the_agent_ends_its_children(lives, until, case):
    agent = subprocess.Popen((sys.executable, "-c", AGENT, case), stdout=subprocess.PIPE)
    assert agent.stdout is not None
    printed = b""
    while len(printed.split()) < 4 or not printed.endswith(b"\n"):
        data = os.read(agent.stdout.fileno(), 4096)
        assert data, "the agent ended early"
        printed += data
    pids = [int(word) for word in printed.split()]
    assert all(map(lives, pids))
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    agent.stdout.close()
    until(lambda: not any(map(lives, pids)))


def test_nothing_stays_after_an_ordinary_end(lives, until):
    code = AGENT.partition("    if sys")[0].replace("main():\n", "main():\n    global processes\n") + (
        "    janitor = processes.janitor_pid\n    await processes.close()\n    print(janitor)\nasyncio.run(main())\n"
    )
    done = subprocess.run((sys.executable, "-c", code), stdout=subprocess.PIPE, timeout=60, check=True)
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    until(lambda: not any(map(lives, pids)))
