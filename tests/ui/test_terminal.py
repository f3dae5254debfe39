"""Keys and lines from a pseudo-terminal: what counts as an answer and what does not."""

from __future__ import annotations

import array
import fcntl
import os
import pty
import select
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from agenyx.ui.terminal import Closed, Terminal, find_terminal


class Pair:
    """A terminal and the keyboard before it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.found = termios.tcgetattr(self.slave)
        self.terminal = Terminal(self.slave, self.slave)

    def type(self, keys: bytes) -> None:
        """Type and wait until the keys stand in the terminal's queue."""
        before = self.queued()
        os.write(self.master, keys)
        self.wait(lambda: self.queued() == before + len(keys))

    def queued(self) -> int:
        size = array.array("i", [0])
        fcntl.ioctl(self.slave, termios.FIONREAD, size)
        return size[0]

    def taken(self) -> None:
        """Wait until a reader has taken what was typed."""
        self.wait(lambda: self.queued() == 0)

    def pressed(self, key: bytes, reader: threading.Thread) -> bool:
        """Press a key, alone, until the reader has it."""
        if not reader.is_alive():
            return True
        if self.queued() == 0:
            os.write(self.master, key)
            select.select([], [], [], 0.05)  # a key comes alone
        return False

    @staticmethod
    def wait(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end
            select.select([], [], [], 0.005)


@pytest.fixture
def pair() -> Iterator[Pair]:
    one = Pair()
    yield one
    os.close(one.master)
    os.close(one.slave)


@pytest.mark.parametrize("paste", [b"yes please\n", b"\x1b[A", b"yy", "ÿ".encode()])
def test_one_byte_is_a_key_and_a_paste_is_none(pair: Pair, paste: bytes) -> None:
    keys: list[str] = []
    pair.terminal.keys()
    pair.type(paste)
    reader = threading.Thread(target=lambda: keys.append(pair.terminal.key()), daemon=True)
    reader.start()
    pair.taken()
    pair.wait(lambda: pair.pressed(b"N", reader))
    assert keys == ["n"]


def test_a_long_paste_is_none_to_its_last_byte(pair: Pair) -> None:
    keys: list[str] = []
    pair.terminal.keys()
    pair.type(b"x" * 64 + b"y")
    reader = threading.Thread(target=lambda: keys.append(pair.terminal.key()), daemon=True)
    reader.start()
    pair.taken()
    pair.wait(lambda: pair.pressed(b"n", reader))
    assert keys == ["n"]


def test_an_arrow_that_comes_in_pieces_is_none(pair: Pair) -> None:
    class Slow(Terminal):
        """The rest of a sequence comes as soon as its beginning was read."""

        def _read(self, size: int) -> bytes:
            data = super()._read(size)
            if data == b"\x1b":
                pair.type(b"[A")
                whole.set()
            return data

    keys: list[str] = []
    whole = threading.Event()
    terminal = Slow(pair.slave, pair.slave)
    terminal.keys()
    pair.type(b"\x1b")
    reader = threading.Thread(target=lambda: keys.append(terminal.key()), daemon=True)
    reader.start()
    pair.wait(whole.is_set)  # only one types at a time
    pair.wait(lambda: pair.pressed(b"n", reader))
    assert keys == ["n"]


def test_the_size_is_read_anew(pair: Pair) -> None:
    assert pair.terminal.size() == (80, 24)  # a terminal that does not say
    fcntl.ioctl(pair.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 15, 60, 0, 0))
    assert pair.terminal.size() == (60, 15)


def test_what_was_typed_before_and_meanwhile_is_thrown_away(pair: Pair) -> None:
    class Hasty(Terminal):
        """Somebody hits a key as soon as the terminal is deaf."""

        def _wait(self, seconds: float | None, *, for_input: bool) -> None:
            if not for_input:
                pair.type(b"y")
            else:
                super()._wait(seconds, for_input=for_input)

    terminal = Hasty(pair.slave, pair.slave)
    terminal.keys()
    pair.type(b"y")
    terminal.deaf(0.01)
    assert pair.queued() == 0
    os.write(pair.master, b"n")
    assert terminal.key() == "n"


def test_type_ahead_is_gone_once_keys_are_wanted(pair: Pair) -> None:
    os.write(pair.master, b"y\n")
    pair.wait(lambda: pair.queued() > 0)
    pair.terminal.keys()
    assert pair.queued() == 0


def test_a_withdrawn_question_reads_no_more(pair: Pair) -> None:
    failed: list[type[BaseException]] = []

    def read() -> None:
        try:
            pair.terminal.key()
        except Closed as error:
            failed.append(type(error))

    pair.terminal.keys()
    reader = threading.Thread(target=read)
    reader.start()
    pair.terminal.withdraw()
    reader.join(30)
    assert failed == [Closed]
    pair.terminal.settle()
    os.write(pair.master, b"y")
    assert pair.terminal.key() == "y"


def test_lines_are_edited_by_the_terminal(pair: Pair) -> None:
    pair.terminal.keys()
    pair.terminal.lines()
    os.write(pair.master, "wrang\x7f\x7f\x7fong näme \n".encode())
    assert pair.terminal.line() == "wrong näme"


def test_modes_are_left_as_found(pair: Pair) -> None:
    pair.terminal.keys()
    assert termios.tcgetattr(pair.slave) != pair.found
    pair.terminal.restore()
    assert termios.tcgetattr(pair.slave) == pair.found


def test_a_terminal_that_hung_up_is_closed() -> None:
    master, slave = pty.openpty()
    terminal = Terminal(slave, slave)
    terminal.keys()
    os.close(master)
    with pytest.raises(Closed):
        terminal.key()
    terminal.restore()  # must not raise
    os.close(slave)


def test_without_a_terminal_nobody_is_asked() -> None:
    assert find_terminal(lambda fd: False) is None
