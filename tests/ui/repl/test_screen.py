"""The REPL at a real terminal with the real app: what is written, and what keys do."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.pty_screen import Screen
from support.raw_server import RawServer, Until, begin, chunk, content, event, finish

from .conftest import GREETED
from .served import END, answer, pieces

Start = Callable[..., Screen]
ERASES = (b"\x1b[2J", b"\x1b[3J", b"\x1b[1J", b"\x1bc", b"\x1b[?1049h", b"\x1b[H")


# --- what is written -------------------------------------------------------------------------------------------------


def test_five_hundred_streamed_lines_are_written_once_each(repl: Start) -> None:
    lines = [f"{number:03d} is a line of the answer with some words in it" for number in range(500)]
    with RawServer([pieces("\n".join(lines), 37)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.read()
        before = len(screen.data)
        screen.type("go\r")
        screen.see("1 step")
        written = screen.data[before:]
        screen.type("\x04")
        assert screen.end() == 0
    finished = written.decode()
    assert [finished.count(f"{line}\r") for line in lines] == [1] * 500
    assert not any(erase in screen.data for erase in ERASES)
    assert len(written) <= 3 * len("\n".join(lines))
    shown = screen.everything()
    assert [row for row in shown if row in set(lines)] == lines


def test_markdown_is_rendered_and_foreign_controls_are_not(repl: Start) -> None:
    text = "# Head\n\nsome **bold** \x1b]52;c;QUFB\x07 and \x1b[2J\n\n- 日本 👩‍👩‍👧 item\n"
    with RawServer([pieces(text, 5)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        screen.see("1 step")
        screen.see("• 日")
        screen.see("some bold \\x1b]52;c;QUFB\\x07 and \\x1b[2J")
    assert b"\x1b]" not in screen.data
    assert b"\x1b[2J" not in screen.data
    assert b"\x1b[1mbold\x1b[0m" in screen.data


def test_no_color(repl: Start) -> None:
    with RawServer([answer("# Head\n\n**bold** `code`")]) as server:
        screen = repl(server.url, NO_COLOR="1")
        screen.see(GREETED)
        screen.type("go\r")
        screen.see("bold code")
        screen.see("1 step")
        screen.type("\x04")
        assert screen.end() == 0
    assert b"bold code\r" in screen.data
    assert not any(f"\x1b[{start}{n}".encode() in screen.data for start in ("", "0;", "1;") for n in (31, 35, 36, 90))


@pytest.mark.parametrize(
    "extra",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "ascii"},
        {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_locales_that_are_not_utf8(repl: Start, extra: dict[str, str]) -> None:
    with RawServer([answer("- naïve 日本")]) as server:
        screen = repl(server.url, columns=60, **extra)
        screen.see(GREETED)
        screen.type("grüße\r")
        screen.see("1 step")
        screen.see("na")
        screen.type("\x04")
        assert screen.end() == 0
        assert "grüße" in server.requests[-1].body.decode()


def test_an_idle_repl_neither_writes_nor_works(repl: Start) -> None:
    with RawServer([answer("hello")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        screen.see("1 step")
        seconds = os.sysconf("SC_CLK_TCK")

        def used() -> int:
            fields = Path(f"/proc/{screen.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        def wakes() -> int:
            status = Path(f"/proc/{screen.process.pid}/status").read_text("utf-8")
            return int(status.split("voluntary_ctxt_switches:")[1].split()[0])

        begun = time.monotonic()
        screen.until(lambda: time.monotonic() - begun > 1, "the last drawing is over")
        before, woken, written = used(), wakes(), len(screen.data)
        begun = time.monotonic()
        screen.until(lambda: time.monotonic() - begun > 2, "some time passes")
        assert len(screen.data) == written
        assert wakes() - woken <= 4
        assert (used() - before) / seconds < 0.05


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_paste_of_two_hundred_lines_is_one_input(repl: Start) -> None:
    pasted = "\n".join(f"pasted line {number}" for number in range(200))
    with RawServer([answer("thanks")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type(f"\x1b[200~{pasted}\x1b[31mred\x1b[201~")
        screen.see("pasted line 199[31mred")
        assert not server.requests
        screen.type("\r")
        screen.see("thanks")
        assert len(server.requests) == 1
        assert server.requests[0].json["messages"][-1]["content"] == f"{pasted}[31mred"


def test_a_paste_without_brackets_is_one_input_too(repl: Start) -> None:
    with RawServer([answer("thanks")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        os.write(screen.master, b"one\rtwo\rthree")
        screen.see("three")
        assert not server.requests
        screen.type("\r")
        screen.see("thanks")
        assert server.requests[0].json["messages"][-1]["content"] == "one\ntwo\nthree"


def test_who_types_fast_over_a_slow_line_sends_with_enter(repl: Start) -> None:
    with RawServer([answer("thanks")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        os.write(screen.master, b"fix it\rand mo")
        screen.see("thanks")
        screen.see("> and mo")
        assert server.requests[0].json["messages"][-1]["content"] == "fix it"


def test_a_paste_that_ends_itself_sends_nothing(repl: Start) -> None:
    with RawServer([answer("thanks")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        os.write(screen.master, b"\x1b[200~harmless\x1b[201~\rharmful\r\x04\x1b[201~")
        screen.see("harmful")
        screen.type("!")
        screen.see("  !")
        assert not server.requests
        screen.type("\r")
        screen.see("thanks")
        assert server.requests[0].json["messages"][-1]["content"] == "harmless\nharmful\n!"


def test_new_lines_and_history(repl: Start, home: Path) -> None:
    with RawServer([answer("fine")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("one\ntwo\x1b\rthree\r")
        screen.see("1 step")
        assert server.requests[0].json["messages"][-1]["content"] == "one\ntwo\nthree"
        screen.type("\x04")
        assert screen.end() == 0
        stored = home / ".agenyx" / "history.jsonl"
        assert stored.stat().st_mode & 0o777 == 0o600
        again = repl(server.url)
        again.see(GREETED)
        again.type("\x12two")  # Ctrl+R
        again.see("three")
        again.type("\r\r")
        again.until(lambda: len(server.requests) == 2, "the found input is sent")
        assert server.requests[1].json["messages"][-1]["content"] == "one\ntwo\nthree"


def test_completion_of_commands_and_files(repl: Start, work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "configuration.py").write_text("x", "utf-8")
    (work / "ignored.log").write_text("x", "utf-8")
    (work / ".gitignore").write_text("*.log\n", "utf-8")
    with RawServer([answer("fine")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("/stat")
        screen.see("session, model, mode and tokens")
        screen.type("\t\r")  # the first Enter takes the completion
        screen.see("> /status")
        screen.type("\r")
        screen.see("workspace")
        screen.type("look at @srcconf")
        screen.see("src/configuration.py")
        screen.type("\t")
        screen.see("> look at @src/configuration.py")
        screen.type("\x03@log")
        screen.see("> @log")
        assert not screen.shows("ignored.log")


def test_commands_and_mistakes_never_reach_the_model(repl: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        for typed, shown in (
            ("/help", "/resume [ID|TITLE]"),
            ("/hepl", "Did you mean /help?"),
            ("/mode plan", "mode plan: only looks"),
            ("/mode bypassPermissions", "! bypassPermissions needs"),
            ("/diff", "run git init"),
        ):
            screen.type(f"{typed}\r")
            screen.see(shown)
        screen.see("m · plan")
        assert not server.requests
        screen.type("/exit\r")
        assert screen.end() == 0


def test_doctor_checks_from_within(repl: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = repl(server.url, rows=50)
        screen.see(GREETED)
        screen.type("/doctor\r")
        screen.see("ok    rg")
        screen.see("round trip")
        screen.type("\x04")
        assert screen.end() == 0


def test_queued_input_is_shown_and_sent_after_the_turn(repl: Start) -> None:
    go = threading.Event()
    with RawServer([[begin(content("first ")), Until(go), chunk(event(finish())) + END], answer("second")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("one\r")
        screen.see("answering")
        screen.type("two\r")
        screen.see("queued: two")
        assert len(server.requests) == 1
        go.set()
        screen.see("second")
        assert not screen.shows("queued:")
        assert server.requests[1].json["messages"][-1]["content"] == "two"


def test_an_earlier_session_goes_on(repl: Start) -> None:
    with RawServer([answer("one"), answer("two")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("first\r")
        screen.see("one")
        screen.type("/clear\r")
        screen.see("a new session")
        screen.type("/resume\r")
        screen.see("/resume ID goes on")
        listed = next(row for row in screen.rows() if row.endswith("first") and not row.startswith(">")).split()[0]
        screen.type("/resume FIRST\r")
        screen.see("goes on with m")
        screen.type("second\r")
        screen.see("two")
        said = [message["content"] for message in server.requests[1].json["messages"]]
        assert said[-3:] == ["first", "one", "second"]
        screen.type("\x04")
        assert screen.end() == 0
        assert f"To go on with this session: agenyx --resume {listed}" in screen.text
