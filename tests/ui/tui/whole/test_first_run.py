"""From nothing to a model that answers: every step can be left, and every error has a way on."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer, Step, plain

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]
KEY = "sk-test-0123456789abcdef"
NOWHERE = {"OLLAMA_HOST": "http://127.0.0.1:9"}


def models(*names: str) -> list[Step]:
    return [plain(200, json.dumps({"data": [{"id": name} for name in names]}).encode())]


def refused() -> list[Step]:
    return [plain(401, json.dumps({"error": {"message": "Incorrect API key.", "code": "invalid_api_key"}}).encode())]


def to_the_key(screen: Screen, url: str) -> None:
    screen.see("No model is set up yet")
    screen.type("9")
    screen.see("Address")
    screen.type(f"{url}/v1\r")
    screen.see("Key (not shown):")


def test_a_key_is_tried_stored_for_the_owner_alone_and_used(tui: Start, home: Path) -> None:
    with RawServer([models("only-one"), models("only-one"), models("only-one"), answer("hello from it")]) as server:
        screen = tui("", **NOWHERE)
        to_the_key(screen, server.url)
        screen.type(f"{KEY}\r")
        screen.see(GREETED)
        screen.type("hi\r")
        screen.see("hello from it")
        assert KEY.encode() not in screen.data
        screen.type("\x04")
        assert screen.end() == 0
    stored = home / ".agenyx" / "auth.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert KEY in stored.read_text("utf-8")


def test_a_wrong_key_is_told_and_can_be_typed_again(tui: Start, home: Path) -> None:
    with RawServer([refused(), models("a", "b"), models("a", "b"), answer("hello from it")]) as server:
        screen = tui("", **NOWHERE)
        to_the_key(screen, server.url)
        screen.type("wrong-key-0123456789\r")
        screen.see("Try again")
        assert not (home / ".agenyx" / "auth.json").exists()
        screen.type("\r")
        screen.see("Key (not shown):")
        screen.type(f"{KEY}\r")
        screen.see("Which model?")
        screen.type("2")
        screen.see("b · server" if screen.shows("server") else GREETED)


def test_a_server_that_is_not_there_has_a_way_on(tui: Start, home: Path) -> None:
    screen = tui("", **NOWHERE)
    to_the_key(screen, "http://127.0.0.1:9")
    screen.type(f"{KEY}\r")
    screen.see("Store it untried")
    screen.type("\x1b")
    screen.see("Key (not shown):")
    screen.type("\x1b")
    screen.see("No model is set up yet")
    assert not (home / ".agenyx" / "auth.json").exists()
    screen.type("\x1b")
    assert screen.end() == 1
    assert "agenyx login" in screen.text and "agenyx local install" in screen.text
    assert screen.modes() == screen.found


def test_a_wrong_address_is_told(tui: Start) -> None:
    screen = tui("", **NOWHERE)
    screen.see("No model is set up yet")
    screen.type("9")
    screen.see("Address")
    screen.type("not an address\r")
    screen.see("Try again")


def test_the_embedded_model_is_offered_with_its_size(tui: Start) -> None:
    screen = tui("", **NOWHERE)
    screen.see("No model is set up yet")
    screen.see("The embedded model")
    screen.see("1.1 GB to fetch")


def test_login_in_a_conversation_opens_it(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url, **NOWHERE)
        screen.see(GREETED)
        screen.type("/login\r")
        screen.see("Choose where answers come from")
        screen.type("\x1b")
        screen.see(GREETED)
        screen.type("hello\r")
        screen.see("fine")
