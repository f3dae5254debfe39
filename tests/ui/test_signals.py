"""Signals to real processes: the first one fixes the exit code, the second one ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.core.json import decode
from agenyx.ui.signals import GRACE

CODES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("number", "code"), CODES)
def test_the_first_signal_cancels_the_turn_and_closes_the_session(fake: Any, number: int, code: int) -> None:
    with fake.start("wait", "-p", "hi") as process:
        fake.wait_for("running")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert (out, err) == (b"", b"agenyx: Stopped by the user.\n")
    assert fake.notes == ["running", "closed"]


def test_the_record_is_written_before_the_end(fake: Any) -> None:
    with fake.start("wait", "-p", "hi", "--output-format", "json") as process:
        fake.wait_for("running")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 143
    record = decode(out)
    assert (record["stop_reason"], record["is_error"]) == ("cancelled", True)


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_second_signal_ends_it_with_the_code_of_the_first(fake: Any, number: int, code: int) -> None:
    with fake.start("stubborn", "-p", "hi") as process:
        fake.wait_for("running")
        process.send_signal(number)
        fake.wait_for("cancelled")
        process.send_signal(signal.SIGTERM if number != signal.SIGTERM else signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == code


def test_a_second_signal_also_ends_a_loop_that_hangs(fake: Any) -> None:
    with fake.start("deaf", "-p", "hi") as process:
        fake.wait_for("running")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode in (130, 143)  # two signals that are pending together come in the order of their numbers


def test_what_does_not_end_within_the_grace_is_ended() -> None:
    program = (
        "import asyncio, os, signal; from agenyx.ui.signals import Signals; signals = Signals(grace=0.2);"
        "loop = asyncio.new_event_loop(); signals.install(); signals.attach(loop, lambda: os.write(1, b'cancelled'));"
        "os.kill(os.getpid(), signal.SIGTERM); loop.run_forever()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=50, check=False)
    assert (done.returncode, done.stdout) == (143, b"cancelled")
    assert GRACE == 6.0


def test_a_write_that_nobody_reads_does_not_hold_the_process(fake: Any) -> None:
    with fake.start("long", "-p", "hi") as process:
        fake.wait_for("closed")  # the answer was shown as far as the pipe takes it, and the session closed
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
        process.stdout.close()


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_signal_while_waiting_for_input_ends_it(fake: Any, number: int, code: int) -> None:
    with fake.start("echo", "-p", "-", stdin=subprocess.PIPE) as process:
        process.stdin.write(b"x" * (1 << 20))  # more than a pipe takes: it returns because the program reads
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        process.stdin.close()


def test_a_signal_that_the_parent_ignores_stays_ignored(fake: Any) -> None:
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    with fake.start("wait", "-p", "hi", preexec_fn=ignore) as process:
        fake.wait_for("running")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143


def test_ctrl_c_at_the_terminal(tty: Callable[..., Any], fake: Any) -> None:
    screen = tty("wait", "-p", "hi")
    fake.wait_for("running")
    screen.type("\x03")
    assert screen.end() == 130
    assert b"Traceback" not in screen.screen
