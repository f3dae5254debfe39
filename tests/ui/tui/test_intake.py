"""What is typed at a terminal becomes keys and pastes, and frames are drawn no oftener than eyes see."""

from __future__ import annotations

import asyncio

from textual.events import Key, Paste
from textual.message import Message

from agenyx.ui.tui.frames import Frames
from agenyx.ui.tui.keys import Keys


def names(events: list[Message]) -> list[str]:
    return [
        event.key if isinstance(event, Key) else f"paste:{event.text}"
        for event in events
        if isinstance(event, Key | Paste)
    ]


def fed(keys: Keys, *reads: bytes) -> list[str]:
    return [name for data in reads for name in names(list(keys.feed(data)))]


def test_an_enter_that_was_typed_before_the_terminal_was_ours_is_an_enter() -> None:
    assert fed(Keys(cooked=3), b"hi\n", b"x\n") == ["h", "i", "enter", "x", "ctrl+j"]


def test_a_paste_is_one_event_wherever_it_is_cut() -> None:
    whole = "\x1b[200~one\r\ntwo é\x1b[201~".encode()
    for at in range(1, len(whole)):
        assert fed(Keys(), whole[:at], whole[at:]) == ["paste:one\ntwo é"], at


def test_a_paste_cannot_press_keys() -> None:
    assert fed(Keys(), b"\x1b[200~a\x1b[201~\r\x03b\x1b[201~") == ["paste:a\nb"]


def test_a_long_burst_without_marks_is_a_paste() -> None:
    assert fed(Keys(), b"word " * 40) == ["paste:" + "word " * 40]


def test_an_escape_alone_waits_for_what_may_follow() -> None:
    keys = Keys()
    assert fed(keys, b"\x1b") == []
    assert keys.waits
    assert fed(keys, b"[A") == ["up"]
    assert not keys.waits


def test_keys_of_the_protocol_of_kitty() -> None:
    assert fed(Keys(), b"\x1b[99;5u", b"\x1b[13;2u", b"\x1b[9;2u") == ["ctrl+c", "shift+enter", "shift+tab"]


async def test_many_requests_make_few_frames() -> None:
    drawn: list[float] = []
    loop = asyncio.get_running_loop()
    frames = Frames(lambda: drawn.append(loop.time()), frame=0.01)
    for _ in range(1000):
        frames.request()
        if not len(drawn) % 2:
            await asyncio.sleep(0)
    while len(drawn) < 2:
        frames.request()
        await asyncio.sleep(0)
    assert len(drawn) < 100
