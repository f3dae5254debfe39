"""--resume-session-at: messages by the uuid that a host was told, also by another process. With the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.raw_server import RawServer
from support.wire_host import Host, calls, says

FIRST = "019a0000-0000-7000-8000-000000000001"
SECOND = "019a0000-0000-7000-8000-000000000002"
NONE = "019a0000-0000-7000-8000-00000000000f"


class Told:
    """A session of two turns, the first with a call, and what of it was told."""

    def __init__(self, tmp_path: Path, server: RawServer) -> None:
        server.script[:] = [calls("LS"), says("One."), says("Two."), says("More.")]
        with Host(tmp_path, server) as host:
            host.prompt("first", uuid=FIRST)
            host.result()
            host.prompt("second", uuid=SECOND)
            self.session = host.result()["session_id"]
            host.close()
            host.end()
        self.said = {
            block.get("text") or block["name"]: one["uuid"]
            for one in host.seen
            if one["type"] == "assistant"
            for block in one["message"]["content"]
        }
        self.result = next(one["uuid"] for one in host.seen if one["type"] == "user")


@pytest.fixture
def server() -> Any:
    with RawServer([says()]) as running:
        yield running


@pytest.fixture
def told(tmp_path: Path, server: RawServer) -> Told:
    return Told(tmp_path, server)


def goes_on(tmp_path: Path, server: RawServer, told: Told, uuid: str, *flags: str) -> tuple[list[Any], str]:
    """The messages of the next request, and the session in which it was made."""
    with Host(tmp_path, server, f"--resume={told.session}", f"--resume-session-at={uuid}", *flags) as host:
        host.prompt("go on")
        session = host.result()["session_id"]
        host.close()
        host.end()
    return server.requests[-1].json["messages"], session


def kinds(messages: list[Any]) -> str:
    """What was said, in short: p prompt, c call, r result, a answer."""
    words = ""
    for one in messages:
        text = one["content"] if isinstance(one.get("content"), str) else json.dumps(one.get("content"))
        if one["role"] == "assistant":
            words += "c" if one.get("tool_calls") else "a"
        elif one["role"] == "tool":
            words += "r"
        elif text in ("first", "second", "go on"):
            words += "p"
    return words


def test_the_session_goes_on_after_the_answer_that_was_named(tmp_path: Path, server: RawServer, told: Told) -> None:
    messages, session = goes_on(tmp_path, server, told, told.said["One."])
    assert (kinds(messages), session) == ("pcrap", told.session)
    assert "second" not in [one.get("content") for one in messages]


@pytest.mark.parametrize("part", ["call", "result"])
def test_a_part_of_a_step_stands_for_the_whole_step(tmp_path: Path, server: RawServer, told: Told, part: str) -> None:
    messages, _ = goes_on(tmp_path, server, told, told.said["LS"] if part == "call" else told.result)
    assert kinds(messages) == "pcrp"


def test_the_last_message_leaves_nothing_behind(tmp_path: Path, server: RawServer, told: Told) -> None:
    messages, _ = goes_on(tmp_path, server, told, told.said["Two."])
    assert kinds(messages) == "pcrapap"


def test_a_copy_goes_on_and_the_session_stays_as_it_is(tmp_path: Path, server: RawServer, told: Told) -> None:
    messages, session = goes_on(tmp_path, server, told, told.said["One."], "--fork-session")
    assert kinds(messages) == "pcrap"
    assert session != told.session
    messages, _ = goes_on(tmp_path, server, told, told.said["Two."])
    assert kinds(messages) == "pcrapap"


def test_what_was_left_behind_can_still_be_named(tmp_path: Path, server: RawServer, told: Told) -> None:
    goes_on(tmp_path, server, told, told.said["One."])
    messages, _ = goes_on(tmp_path, server, told, told.said["Two."])
    assert kinds(messages) == "pcrapap"


@pytest.mark.parametrize(
    ("uuid", "words"), [(NONE, "is no message of this session"), (FIRST, "is a prompt, and a session goes on after")]
)
def test_what_is_no_message_is_an_error_and_nothing_is_asked(
    tmp_path: Path, server: RawServer, told: Told, uuid: str, words: str
) -> None:
    before = len(server.requests)
    with Host(tmp_path, server, f"--resume={told.session}", f"--resume-session-at={uuid}") as host:
        host.prompt("go on")
        host.close()
        assert host.end() != 0
    assert words in host.errors
    assert len(server.requests) == before
    messages, _ = goes_on(tmp_path, server, told, told.said["Two."])
    assert kinds(messages) == "pcrapap"


def test_a_call_whose_result_is_missing_is_no_place_to_go_on(tmp_path: Path, server: RawServer) -> None:
    server.script[:] = [calls("Write", file_path="a", content="x"), says()]
    with Host(tmp_path, server, "--permission-prompt-tool", "stdio") as host:
        host.prompt("go")
        host.asked()
        uuid = next(one["uuid"] for one in host.seen if one["type"] == "assistant")
        session = host.seen[0]["session_id"]
        host.process.kill()
        host.end()
    with Host(tmp_path, server, f"--resume={session}", f"--resume-session-at={uuid}") as host:
        host.prompt("go on")
        host.close()
        assert host.end() != 0
    assert "no result" in host.errors


def test_only_the_turn_that_was_named_may_be_left_behind(tmp_path: Path, server: RawServer, told: Told) -> None:
    drops = f"--resume-drops-turn={SECOND}"
    with Host(tmp_path, server, f"--resume={told.session}", f"--resume-session-at={told.result}", drops) as host:
        host.prompt("go on")
        host.close()
        host.end()
    assert "Resume rejected by --resume-drops-turn:" in host.seen[-1]["errors"][0]
    messages, _ = goes_on(tmp_path, server, told, told.said["One."], drops)
    assert kinds(messages) == "pcrap"


def test_it_needs_a_session(tmp_path: Path, server: RawServer) -> None:
    with Host(tmp_path, server, f"--resume-session-at={NONE}") as host:
        host.close()
        assert host.end() == 2
    assert "--resume-session-at needs --continue or --resume" in host.errors
