"""What the screen shows when another conversation goes on, or this one elsewhere; and what is asked on the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.mock import command_env
from support.pty_screen import Screen
from support.raw_server import RawServer
from support.tui import see, text, until
from support.tui_app import full

from .conftest import GREETED
from .served import alive, answer, pressed, tool

Start = Callable[..., Screen]


def env_of(home: Path, url: str) -> dict[str, str]:
    return command_env(
        home,
        OPENAI_API_KEY="k" * 20,
        OPENAI_BASE_URL=f"{url}/v1",
        AGENYX_MODEL="m",
        OLLAMA_HOST="http://127.0.0.1:9",
        TERM="xterm",
    )


async def test_rewound_and_cleared(home: Path, work: Path) -> None:
    with RawServer([answer("the first answer"), answer("the second answer")]) as server:
        async with full(work, env_of(home, server.url)) as (pilot, wiring):
            await see(pilot, GREETED)
            for words, said in (("one", "the first answer"), ("two", "the second answer")):
                wiring.chat.submit(words)
                await see(pilot, said)
                await until(pilot, lambda: not wiring.chat.running, "the turn is over")
            wiring.chat.submit("/rewind 2")
            await until(pilot, lambda: "the second answer" not in text(wiring.app), "what was rewound is gone")
            assert "the first answer" in text(wiring.app)
            assert wiring.app.parts.prompt.text == "two"
            wiring.chat.submit("/tree 2")
            await see(pilot, "the second answer")
            wiring.chat.submit("/clear")
            await see(pilot, "a new session")
            assert "the first answer" not in text(wiring.app)


async def test_an_earlier_session_brings_its_history(home: Path, work: Path) -> None:
    with RawServer([answer("the first answer")]) as server:
        env = env_of(home, server.url)
        async with full(work, env) as (pilot, wiring):
            await see(pilot, GREETED)
            wiring.chat.submit("one")
            await see(pilot, "the first answer")
            await until(pilot, lambda: not wiring.chat.running, "the turn is over")
            assert wiring.chat.last is not None
            before = wiring.chat.last.session_id
            wiring.chat.submit("/clear")
            await see(pilot, "a new session")
            wiring.chat.submit(f"/resume {before}")
            await see(pilot, "goes on with")
            assert "the first answer" in text(wiring.app)


def test_what_works_in_the_background_is_asked_about_before_it_ends(tui: Start, work: Path) -> None:
    script = [tool("Bash", command="echo $$ > pid; sleep 300", run_in_background=True), answer("it works away")]
    with RawServer(script) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pressed(screen, "y")
        screen.see("it works away")
        pid = work / "pid"
        screen.until(lambda: pid.exists() and pid.read_text("utf-8").endswith("\n"), "it runs")
        screen.type("\x04")
        screen.see("Leave?")
        screen.type("n")
        screen.until(lambda: not screen.shows("Leave?"), "it stays")
        assert alive(int(pid.read_text("utf-8")))
        screen.type("\x04")
        pressed(screen, "y", "Leave?")
        assert screen.end() == 0
    assert not alive(int(pid.read_text("utf-8")))


def test_trust_is_asked_with_what_would_act(tui: Start, work: Path) -> None:
    (work / "AGENTS.md").write_text("Always answer in verse.\n", "utf-8")
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url)
        screen.see("AGENTS.md")
        screen.see("Always answer in verse.")
        pressed(screen, "y", "[y] trust")
        screen.see(GREETED)
        screen.type("hello\r")
        screen.see("fine")
        assert b"Always answer in verse." in server.requests[0].body
