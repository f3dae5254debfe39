"""/rename in an open conversation, and what a command from outside says meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenyx.session.load import load, sessions_of
from support.mock import agenyx, command_env
from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]


def test_a_session_is_named_while_it_is_open_and_its_holder_is_named_to_others(
    repl: Start, home: Path, work: Path
) -> None:
    def sessions(*argv: str) -> Any:
        return agenyx("sessions", *argv, cwd=work, env=command_env(home))

    with RawServer([answer("hello there"), answer("still here")]) as server:
        screen = repl(server.url, TERM="dumb", columns=200)
        screen.see(GREETED)
        screen.type("/rename too early\r")
        screen.see("there is nothing to name yet")
        screen.type("look at the parser\r")
        screen.see("hello there")
        screen.type("/rename\r")
        screen.see("the session is called: look at the parser")
        screen.type("/rename  the lexer   bug\r")
        screen.see("the session is now called: the lexer bug")
        (row,) = json.loads(sessions("list", "--json").stdout)["sessions"]
        assert row["title"] == "the lexer bug"
        refused = sessions("rename", row["session_id"], "mine")
        assert refused.returncode == 1
        assert f"process {screen.process.pid}" in refused.stderr and "agenyx chat" in refused.stderr
        assert "/rename TITLE" in refused.stderr and "--continue" not in refused.stderr
        screen.type("and now\r")
        screen.see("still here")
        screen.type("\x04")
        assert screen.end() == 0
    assert sessions("rename", "the lexer bug", "mine").returncode == 0
    state = load(f"{sessions_of(str(home / '.agenyx'), str(work))}/{row['session_id']}")
    assert (state.title, state.problems) == ("mine", [])
    assert len(server.requests) == 2, "no model was asked for it"
