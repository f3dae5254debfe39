"""What terminals send for the keys of the input, as the toolkit's key names; and pastes without marks."""

from __future__ import annotations

import pytest
from textual.events import Key, Paste

from agenyx.ui.tui.keys import Keys


def heard(data: str) -> list[str]:
    keys = Keys()
    events = [*keys.feed(data.encode()), *keys.tick()]
    return [
        f"paste {event.text}" if isinstance(event, Paste) else event.key
        for event in events
        if isinstance(event, Key | Paste)
    ]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\r", ["enter"]),
        ("\n", ["ctrl+j"]),
        ("\x1b\r", ["alt+enter"]),
        ("\x1b[13;2u", ["shift+enter"]),
        ("\x1b[13;3u", ["alt+enter"]),
        ("\x1b[27;2;13~", ["shift+enter"]),
        ("\x1b[27;3;13~", ["alt+enter"]),
        ("\x1b[27;5;106~", ["ctrl+j"]),
        ("\x1f", ["ctrl+underscore"]),
        ("\x1bb", ["ctrl+left"]),
        ("\x1b[1;3A", ["alt+up"]),
        ("\x18\x05", ["ctrl+x", "ctrl+e"]),
    ],
)
def test_keys(sent: str, keys: list[str]) -> None:
    assert heard(sent) == keys


def test_many_lines_at_once_send_nothing() -> None:
    body = "".join(f"line {number} of a paste\r" for number in range(20))
    assert heard(body) == [f"paste {body}".replace("\r", "\n")]
    assert "enter" not in heard("one\rtwo\rthree\r")


def test_a_marked_paste_of_a_megabyte_is_one_event() -> None:
    body = "\n".join("x" * 99 for _ in range(10_000))
    keys, found = Keys(), []
    data = f"\x1b[200~{body}\x1b[201~".encode()
    for at in range(0, len(data), 4_096):
        found += keys.feed(data[at : at + 4_096])
    assert [event.text for event in found if isinstance(event, Paste)] == [body]
    assert not [event for event in found if isinstance(event, Key)]
