"""A number the system gave away again is never signalled: here a stranger has the number of a reaped leader."""

from __future__ import annotations

import asyncio
import signal
import subprocess

import pytest

from agenyx.proc.group import Group, end
from agenyx.proc.janitor import Janitor


@pytest.fixture
def leader():
    process = subprocess.Popen(("sleep", "600"), start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_group_of_a_living_leader(leader):
    group = Group(leader.pid)
    assert group.members() == (leader.pid,)
    asyncio.run(end((group,)))
    assert leader.wait() == -signal.SIGTERM


def test_stranger_with_a_reaped_number_is_left_alone(leader):
    group = Group(leader.pid)
    group.reaped = True
    assert not group.alive()
    group.signal(signal.SIGKILL)
    asyncio.run(end((group,)))
    assert leader.poll() is None


def test_janitor_ends_what_is_registered(leader):
    janitor = Janitor()
    janitor.add(leader.pid)
    process = janitor.close()
    assert process is not None
    process.wait(20)
    assert leader.wait(20) == -signal.SIGTERM


@pytest.mark.parametrize("what", ["removed", "reaped"])
def test_janitor_leaves_the_rest_alone(leader, what):
    janitor = Janitor()
    janitor.add(leader.pid)
    if what == "removed":
        janitor.remove(leader.pid)
    else:
        janitor.reaped(leader.pid)
    process = janitor.close()
    assert process is not None
    process.wait(20)
    assert leader.poll() is None
