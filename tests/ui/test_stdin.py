"""Standard input of every kind, into a real process."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import UsageError
from agenyx.ui.stdin import Stdin

MANY = 8 << 20


def take(data: bytes, *, whole: bool = True, limit: int = MANY) -> str | None:
    """What a pipe that holds `data` and is closed gives."""
    read, write = os.pipe()

    def feed() -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(write, rest) :]
        except BrokenPipeError:
            pass
        os.close(write)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        return asyncio.run(Stdin(read, limit).take(whole=whole))
    finally:
        os.close(read)
        feeder.join()


def test_line_ends_become_line_feeds() -> None:
    assert take(b"a\r\nb\rc\nd") == "a\nb\nc\nd"


def test_a_byte_order_mark_is_no_text() -> None:
    assert take(b"\xef\xbb\xbfhi") == "hi"


def test_empty() -> None:
    assert take(b"") == ""


def test_the_limit_counts_bytes() -> None:
    assert take(b"x" * 1000, limit=1000) == "x" * 1000
    with pytest.raises(UsageError, match="more than"):
        take(b"x" * 1001, limit=1000)


@pytest.mark.parametrize("data", [b"\xff", b"ok \xc3", "é".encode("latin-1")])
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        take(data)


def test_a_silent_pipe_is_not_waited_for_but_data_that_is_there_is_read_to_its_end() -> None:
    read, write = os.pipe()
    stdin = Stdin(read)
    stdin.start()
    assert asyncio.run(stdin.take(whole=False)) is None
    os.write(write, b"late ")

    async def rest() -> str | None:
        taking = asyncio.create_task(stdin.take(whole=False))
        await asyncio.sleep(0)
        os.write(write, b"but whole")
        os.close(write)
        return await taking

    assert asyncio.run(rest()) == "late but whole"
    os.close(read)


def test_data_that_came_just_now_is_never_missed() -> None:
    for _ in range(200):
        read, write = os.pipe()
        stdin = Stdin(read)
        stdin.start()
        os.write(write, b"x")
        os.close(write)
        assert asyncio.run(stdin.take(whole=False)) == "x"
        os.close(read)


def test_a_silent_socket_is_like_a_silent_pipe() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stdin = Stdin(ours.fileno())
        assert asyncio.run(stdin.take(whole=False)) is None
        theirs.close()
        # The reader must have ended before its descriptor is closed: the number may be given away at once.
        assert asyncio.run(stdin.take(whole=True)) == ""


# --- whole programs ------------------------------------------------------------------------------------------------


def test_piped_text_is_added_below_the_prompt(fake: Any) -> None:
    assert fake.run("echo", "-p", "review", "this", input=b"diff\r\n")[:2] == (0, "<review this\ndiff\n>\n")


@pytest.mark.parametrize("argv", [["-p"], ["run"], ["-"], ["-p", "-"], []])
def test_piped_text_alone_is_the_prompt(fake: Any, argv: list[str]) -> None:
    assert fake.run("echo", *argv, input=b"do it")[:2] == (0, "<do it>\n")


def test_a_file(fake: Any, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"from a file")
    with open(tmp_path / "in", "rb") as file:
        assert fake.run("echo", "-p", "read", stdin=file)[:2] == (0, "<read\nfrom a file>\n")


def test_the_null_device(fake: Any) -> None:
    assert fake.run("echo", "-p", "hi") == (0, "<hi>\n", "")


def test_a_closed_descriptor(fake: Any) -> None:
    done = fake.run("echo", "-p", "hi", stdin=None, preexec_fn=lambda: os.close(0))
    assert done == (0, "<hi>\n", "")


def test_a_silent_open_pipe_is_left_behind_with_a_word(fake: Any) -> None:
    read, write = os.pipe()
    try:
        code, out, err = fake.run("echo", "-p", "hi", stdin=read)
    finally:
        os.close(read)
        os.close(write)
    assert (code, out) == (0, "<hi>\n")
    assert "nothing had come on standard input" in err
    assert "Add - to wait" in err


def test_a_dash_waits_for_slow_input(fake: Any) -> None:
    with fake.start("echo", "-p", "sum up", "-", stdin=subprocess.PIPE) as process:
        process.stdin.write(b"part one, ")
        process.stdin.flush()
        process.stdin.write(b"part two")
        out, _ = process.communicate(timeout=60)
    assert out == b"<sum up\npart one, part two>\n"


@pytest.mark.parametrize("argv", [["-p"], ["-p", ""], ["-p", " "], ["-"], ["-p", "--"]])
@pytest.mark.parametrize("given", [b"", b" \n"])
def test_nothing_to_do_is_a_usage_error(fake: Any, argv: list[str], given: bytes) -> None:
    code, out, err = fake.run("echo", *argv, input=given)
    assert (code, out) == (2, "")
    assert "the prompt is empty" in err


def test_bytes_that_are_no_text(fake: Any) -> None:
    code, out, err = fake.run("echo", "-p", "hi", input=b"\xff\xfe")
    assert (code, out) == (2, "")
    assert "not UTF-8" in err and "iconv" in err
    assert "closed" in fake.notes


def test_too_much(fake: Any) -> None:
    code, _, err = fake.run("echo", "-p", "hi", input=b"x" * (MANY + 1))
    assert code == 2
    assert "more than 8 MiB" in err


def test_a_terminal_is_not_read(tty: Callable[..., Any]) -> None:
    screen = tty("echo", "-p", "hi")
    assert screen.end() == 0
    assert b"<hi>\r\n" in screen.screen


def test_a_terminal_without_a_prompt_is_told_what_to_do(tty: Callable[..., Any]) -> None:
    screen = tty("echo", "-p")
    assert screen.end() == 2
    assert b'agenyx -p "explain this project"' in screen.screen


def test_a_dash_reads_a_terminal_to_its_end(tty: Callable[..., Any]) -> None:
    screen = tty("echo", "-p", "-")
    screen.type("typed\n\x04")
    assert screen.end() == 0
    assert b"<typed\r\n>" in screen.screen
