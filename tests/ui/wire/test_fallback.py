"""--fallback-model: when another model goes on, for how long, and when never. With the program as a process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.raw_server import CLOSE, RawServer, begin, chunk, content, event, plain
from support.wire_host import Host, calls, says

FLAGS = ("--fallback-model", "second-model")


def refuses(status: int, message: str = "overloaded") -> list[Any]:
    """A reply that is not tried again."""
    return [plain(status, {"error": {"message": message}}, "x-should-retry: false")]


def models(server: RawServer) -> list[str]:
    return [request.json["model"] for request in server.requests]


def bindings(tmp_path: Path) -> list[tuple[str, str]]:
    found = next((tmp_path / "home").rglob("transcript.jsonl")).read_text("utf-8").splitlines()
    bodies = [json.loads(line)["body"] for line in found]
    return [(body["model"], body.get("instead", "")) for body in bodies if body["kind"] == "binding"]


@pytest.mark.parametrize("status", [429, 503, 529, 500, 502])
def test_another_model_goes_on_for_the_turn_and_the_chosen_one_is_tried_again(tmp_path: Path, status: int) -> None:
    script = [refuses(status), calls("LS"), says("Second."), says("First.")]
    with RawServer(script) as server, Host(tmp_path, server, *FLAGS) as host:
        host.prompt("go")
        assert host.result()["result"] == "Second."
        host.prompt("again")
        assert host.result()["result"] == "First."
        assert models(server) == ["served-model", "second-model", "second-model", "served-model"]
    told = [one for one in host.seen if one.get("subtype") == "informational"]
    assert "second-model goes on with this turn" in told[0]["content"]
    assert "served-model again" in told[0]["content"]
    assert "second-model goes on" in host.errors
    first = ("served-model", "")
    assert bindings(tmp_path) == [first, ("second-model", "served-model"), first]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "bad key"),
        (403, "no"),
        (400, "content policy"),
        (404, "no such model"),
        (500, "flagged by safety"),
        (400, "maximum context length"),
    ],
)
def test_no_other_model_goes_on_after_a_failure_that_is_ours(tmp_path: Path, status: int, message: str) -> None:
    with RawServer([refuses(status, message), says()]) as server, Host(tmp_path, server, *FLAGS) as host:
        host.prompt("go")
        assert host.result()["is_error"] is True
        assert models(server) == ["served-model"]


def test_without_the_flag_the_turn_fails(tmp_path: Path) -> None:
    with RawServer([refuses(503), says()]) as server, Host(tmp_path, server) as host:
        host.prompt("go")
        assert host.result()["is_error"] is True
        assert models(server) == ["served-model"]


def test_a_model_that_had_begun_to_answer_is_not_replaced(tmp_path: Path) -> None:
    broken = begin(content("Half an")) + chunk(event({"error": {"message": "overloaded"}})) + b"0\r\n\r\n"
    with RawServer([[broken, CLOSE], says()]) as server, Host(tmp_path, server, *FLAGS) as host:
        host.prompt("go")
        assert host.result()["is_error"] is True
        assert models(server) == ["served-model"]


def test_the_turn_fails_where_none_answers(tmp_path: Path) -> None:
    with RawServer([refuses(503)]) as server, Host(tmp_path, server, "--fallback-model", "second, third") as host:
        host.prompt("go")
        assert host.result()["is_error"] is True
        assert models(server) == ["served-model", "second", "third"]


def test_a_session_that_goes_on_tries_the_chosen_model(tmp_path: Path) -> None:
    with RawServer([refuses(503), says(), says()]) as server:
        with Host(tmp_path, server, *FLAGS) as host:
            host.prompt("go")
            session = host.result()["session_id"]
            host.close()
            host.end()
        with Host(tmp_path, server, f"--resume={session}", env={"AGENYX_MODEL": ""}) as host:
            host.prompt("go on")
            host.result()
        assert models(server) == ["served-model", "second-model", "served-model"]


def test_a_model_that_the_host_chooses_stays(tmp_path: Path) -> None:
    script = [says(), refuses(503), says(), says()]
    with RawServer(script) as server, Host(tmp_path, server, *FLAGS) as host:
        host.initialize()
        host.prompt("one")
        host.result()
        host.request("set_model", model="third-model")
        host.prompt("two")
        host.result()
        host.prompt("three")
        host.result()
        assert models(server) == ["served-model", "third-model", "second-model", "third-model"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--fallback-model", "served-model"), "which is the model itself"),
        (("--fallback-model", "second-model", "--max-budget-usd", "1"), "price"),
    ],
)
def test_a_model_that_may_not_stand_in_stops_the_start(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go")
        host.close()
        assert host.end() != 0
        assert server.requests == []
    assert words in host.errors
