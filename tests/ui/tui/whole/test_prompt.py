"""The input of the full screen in the whole program: what reaches the model of what was typed, pasted and edited."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from support.pictures import png
from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]


def last_prompt(server: RawServer, number: int) -> str:
    """The last words of the person in a request."""
    said = [message for message in server.requests[number].json["messages"] if message["role"] == "user"]
    content = said[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def test_a_pasted_megabyte_reaches_the_model_whole(tui: Start) -> None:
    body = "\n".join(f"{number:06} {'paste ' * 15}" for number in range(10_400))
    assert len(body) > 1_000_000
    with RawServer([answer("read it")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("look: ")
        screen.type(f"\x1b[200~{body}\x1b[201~")
        screen.see("look: [Pasted text #1, 10,400 lines]")
        screen.type("\r")
        screen.see("read it")
        assert last_prompt(server, 0) == f"look: {body}"


def test_a_paste_without_marks_waits_for_enter(tui: Start) -> None:
    with RawServer([answer("read it")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("first line of a paste\rsecond line of a paste\rthird line of a paste")
        screen.see("third line")
        screen.type("\x1b\rfourth\nfifth")
        screen.see("fifth")
        assert server.requests == []
        screen.type("\r")
        screen.see("read it")
        lines = "first line of a paste\nsecond line of a paste\nthird line of a paste\nfourth\nfifth"
        assert last_prompt(server, 0) == lines


def test_an_editor_of_ones_own(tui: Start, tmp_path: Path) -> None:
    seen, editor = tmp_path / "seen", tmp_path / "my editor"
    editor.write_text(
        f'#!/bin/sh\nstat -c %a "$2" > {seen}\necho "$1" >> {seen}\ncat "$2" >> {seen}\necho >> "$2"\n'
        'echo "more words" >> "$2"\n'
    )
    editor.chmod(0o755)
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url, EDITOR=f"'{editor}' --wait", VISUAL="")
        screen.see(GREETED)
        screen.type("some words\x07")
        screen.see("more words")
        screen.type("\r")
        screen.see("fine")
        assert last_prompt(server, 0) == "some words\nmore words"
    assert seen.read_text("utf-8") == "600\n--wait\nsome words"
    assert not [name for name in os.listdir("/tmp") if name.startswith("agenyx-") and _ours(f"/tmp/{name}/prompt.md")]


def _ours(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and "some words" in Path(path).read_text("utf-8")
    except OSError:
        return False


def test_an_editor_that_fails_is_told_and_the_text_stays(tui: Start) -> None:
    with RawServer([]) as server:
        screen = tui(server.url, EDITOR="false", VISUAL="")
        screen.see(GREETED)
        screen.type("some words\x18\x05")
        screen.see("the editor false ended with 1")
        screen.see("> some words")


def test_own_commands_files_and_images(tui: Start, work: Path) -> None:
    (work / "notes with blank.txt").write_text("x", "utf-8")
    (work / "shot.png").write_bytes(png(2, 2))
    with RawServer([answer("fine"), answer("seen")]) as server:
        screen = tui(server.url, "--model", "gpt-4o")
        screen.see(GREETED)
        screen.type("!echo from-$((40+2)); touch made\r")
        screen.see("from-42")
        assert (work / "made").exists()
        screen.type("read @notes")
        screen.see("> notes with blank.txt")
        screen.type("\tand tell\r")
        screen.see("fine")
        assert last_prompt(server, 0) == "read @notes\\ with\\ blank.txt and tell"
        assert "from-42" in server.requests[0].body.decode()


def test_what_was_typed_in_an_earlier_session(tui: Start, home: Path) -> None:
    with RawServer([answer("one is over"), answer("again")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("count the beans\r")
        screen.see("one is over")
        screen.type("\x04")
        assert screen.end() == 0
        second = tui(server.url)
        second.see(GREETED)
        second.type("\x12bea")
        second.see("> count the beans")
        second.type("\r")
        second.until(lambda: not second.shows("search earlier"), "the list is closed")
        second.type("\r")
        second.see("again")
    assert (home / ".agenyx" / "history.jsonl").stat().st_mode & 0o777 == 0o600 if (home / ".agenyx").exists() else True


def test_keys_of_vi(tui: Start, home: Path) -> None:
    settings = next((path for path in (home / ".agenyx", home) if path.exists()), home)
    settings.joinpath("settings.toml").write_text('editor_mode = "vim"\n', "utf-8")
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url, AGENYX_HOME=str(settings))
        screen.see(GREETED)
        screen.type("one two three\x1b")
        screen.see("N one two three")
        screen.type("bdw0cwfirst")
        screen.see("> first two")
        screen.type("\r")
        screen.see("fine")
        assert last_prompt(server, 0) == "first two "
