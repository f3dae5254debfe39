"""A live stream with the program as a process: order, interrupts, priorities, what is wrong, how it ends."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.mock import agenyx, command_env
from support.raw_server import RawServer, Until, begin, content
from support.wire_host import FLAGS, Host, calls, says

PARTIAL = "--include-partial-messages"
ID = "019a0000-0000-7000-8000-00000000000"


def test_a_prompt_becomes_a_turn_and_the_end_of_input_ends_the_run(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        host.prompt("hi")
        host.close()
        assert host.end() == 0
    assert host.kinds() == ["control_response", "init", "assistant", "result"]
    assert host.errors == ""


def test_prompts_without_initialize_are_taken(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.prompt("hi")
        assert host.result()["result"] == "Hello."


def test_the_end_of_input_does_not_abort_the_running_turn(tmp_path: Path) -> None:
    go_on = threading.Event()
    with (
        RawServer([[begin(content("Hel")), Until(go_on), *says("lo.")]]) as server,
        Host(tmp_path, server, PARTIAL) as host,
    ):
        host.prompt("hi")
        host.streaming()
        host.close()
        go_on.set()
        assert host.result()["type"] == "result"
        host.end()


def test_controls_are_answered_while_a_turn_runs(tmp_path: Path) -> None:
    go_on = threading.Event()
    script = [[begin(content("Hel")), Until(go_on), *says("lo.")]]
    with RawServer(script) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("hi")
        host.streaming()
        assert host.request("get_context_usage")["response"]["model"] == "served-model"
        assert host.request("set_permission_mode", mode="plan")["response"] == {"mode": "plan"}
        assert host.request("hologram")["subtype"] == "error"
        assert host.request("set_permission_mode", mode="bypassPermissions")["subtype"] == "error"
        assert not any(one["type"] == "result" for one in host.seen)
        go_on.set()
        host.result()


def test_every_request_is_answered_once_also_wrong_ones(tmp_path: Path) -> None:
    subtypes = ("initialize", "mcp_status", "list_models", "stop_task", "rewind_files", "x", "set_model", "interrupt")
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        idents = [host.ask(subtype) for subtype in subtypes]
        host.send({"type": "control_request", "request_id": "broken", "request": []})
        host.close()
        host.end()
    answered = [one["response"]["request_id"] for one in host.seen if one["type"] == "control_response"]
    assert sorted(answered) == sorted([*idents, "broken"])


def test_an_interrupt_is_answered_at_once_and_the_next_prompt_runs(tmp_path: Path) -> None:
    held = threading.Event()
    with RawServer([[begin(content("Hel")), Until(held)], says()]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("one")
        host.streaming()
        host.prompt("two", uuid=f"{ID}2")
        assert host.request("interrupt")["response"] == {"still_queued": [f"{ID}2"]}
        assert host.result()["subtype"] == "error_during_execution"
        assert host.result()["result"] == "Hello."
        held.set()


def test_an_interrupt_may_drop_what_waits(tmp_path: Path) -> None:
    held = threading.Event()
    with RawServer([[begin(content("Hel")), Until(held)], says()]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("one")
        host.streaming()
        host.prompt("two", uuid=f"{ID}2")
        host.request("list_models")  # what was written before has been looked at
        answer = host.request("interrupt", cancel_queued=True)["response"]
        assert answer == {"still_queued": [], "cancelled": [f"{ID}2"]}
        host.result()
        host.close()
        held.set()
        host.end()
        assert len(server.requests) == 1


def test_a_question_is_withdrawn_when_the_turn_is_interrupted(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    flags = ("--permission-prompt-tool", "stdio")
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("write")
        asked = host.asked()
        host.request("interrupt")
        assert {"type": "control_cancel_request", "request_id": asked["request_id"]} in host.seen
        host.result()
        host.answer(asked, behavior="allow", updatedInput={})
        host.prompt("again")
        assert host.result()["result"] == "Hello."
    assert not (tmp_path / "work" / "a.txt").exists()


def test_without_the_flag_nobody_is_asked_and_the_call_is_refused(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, Host(tmp_path, server) as host:
        host.prompt("write")
        assert [one["tool_name"] for one in host.result()["permission_denials"]] == ["Write"]
    assert not any(one["type"] == "control_request" for one in host.seen)


def test_the_end_of_input_is_a_no_to_open_questions(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool=stdio") as host:
        host.prompt("write")
        host.asked()
        host.close()
        assert host.result()["result"] == "Hello."
        assert host.end() == 0
    assert not (tmp_path / "work" / "a.txt").exists()


def test_a_yes_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    script = [calls("Bash", command="touch a b"), calls("Bash", command="touch a b"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool=stdio") as host:
        host.prompt("go")
        asked = host.asked()
        suggested = asked["request"]["permission_suggestions"]
        host.answer(asked, behavior="allow", updatedInput=asked["request"]["input"], updatedPermissions=suggested)
        assert host.result()["permission_denials"] == []
    assert sum(one["type"] == "control_request" for one in host.seen) == 1


def test_rules_that_were_not_suggested_are_not_granted(tmp_path: Path) -> None:
    script = [calls("Bash", command="touch a"), calls("Bash", command="touch a"), says()]
    wide = [{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool=stdio") as host:
        host.prompt("go")
        for _ in range(2):
            asked = host.asked()
            host.answer(asked, behavior="allow", updatedInput=asked["request"]["input"], updatedPermissions=wide)
        host.result()


# --- prompts that wait -----------------------------------------------------------------------------------------------


def bodies(server: RawServer) -> list[str]:
    return [request.body.decode() for request in server.requests]


def test_now_cancels_the_turn_and_runs_next(tmp_path: Path) -> None:
    held = threading.Event()
    script = [[begin(content("Hel")), Until(held)], says("b"), says("a")]
    with RawServer(script) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("one")
        host.streaming()
        host.prompt("WAITS")
        host.prompt("URGENT", priority="now")
        results = [host.result() for _ in range(3)]
        held.set()
    assert [one.get("result") for one in results] == [None, "b", "a"]
    assert "WAITS" not in bodies(server)[1] and "URGENT" in bodies(server)[1]


def test_steered_text_is_in_the_very_next_request(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    os.mkfifo(tmp_path / "work" / "gate")
    script = [calls("Bash", command="cat gate"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool=stdio") as host:
        host.prompt("go")
        asked = host.asked()
        host.prompt("STEERED", priority="steer")
        host.request("list_models")  # the steered text has been looked at
        host.answer(asked, behavior="deny", message="no")
        assert host.result()["result"] == "Hello."
        assert len(server.requests) == 2
        assert "STEERED" in bodies(server)[1]


def test_steered_text_without_a_turn_is_a_prompt(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.prompt("go", priority="steer")
        assert host.result()["result"] == "Hello."


def test_a_prompt_that_does_not_get_in_interrupts_nothing(tmp_path: Path) -> None:
    go_on = threading.Event()
    with RawServer([[begin(content("Hel")), Until(go_on)], says()]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("one", uuid=f"{ID}1")
        host.streaming()
        host.prompt(" ", priority="now", uuid=f"{ID}2")
        refused = host.result()
        assert refused["user_message_uuid"] == f"{ID}2"
        assert "empty" in refused["errors"][0]
        assert not any("INTERRUPTED" in json.dumps(one) for one in host.seen)
        host.request("interrupt")
        assert host.result()["user_message_uuid"] == f"{ID}1"
        go_on.set()


def test_a_thousand_prompts_run_in_their_order(tmp_path: Path) -> None:
    held = threading.Event()
    with RawServer([[begin(content("Hel")), Until(held)]]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("first")
        host.streaming()
        records = [
            {"type": "user", "message": {"role": "user", "content": f"p{n}"}, "uuid": f"u{n}"} for n in range(1000)
        ]
        host.send(*records)
        host.request("list_models")
        answer = host.request("interrupt", cancel_queued=True)["response"]
        held.set()
    assert answer["cancelled"] == [f"u{n}" for n in range(1000)]


def test_a_prompt_that_was_taken_up_is_not_run_again_also_after_a_resume(tmp_path: Path) -> None:
    with RawServer([says()]) as server:
        with Host(tmp_path, server, "--replay-user-messages") as host:
            host.prompt("one", uuid=f"{ID}1")
            session = host.result()["session_id"]
            host.prompt("one", uuid=f"{ID}1")
            assert host.wait(lambda one: one.get("isReplay") is True)["uuid"] == f"{ID}1"
            host.close()
            host.end()
        with Host(tmp_path, server, "--replay-user-messages", f"--resume={session}") as host:
            host.prompt("one", uuid=f"{ID}1")
            assert host.wait(lambda one: one.get("isReplay") is True)["uuid"] == f"{ID}1"
            host.prompt("two", uuid=f"{ID}2")
            assert host.result()["session_id"] == session
        assert len(server.requests) == 2


def test_prompts_are_repeated_where_that_is_wanted(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--replay-user-messages", "") as host:
        host.prompt("one", uuid=f"{ID}1")
        host.result()
    (replayed,) = [one for one in host.seen if one["type"] == "user"]
    assert (replayed["uuid"], replayed["isReplay"]) == (f"{ID}1", True)
    assert replayed["message"]["content"] == [{"type": "text", "text": "one"}]


def test_slash_commands_are_answered_without_a_model(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.prompt("/status")
        assert "served-model" in host.result()["result"]
        assert "local_command_output" in host.kinds()
        host.prompt("/nonsense")
        assert host.result()["is_error"] is True
        host.prompt("/nonsense", client_composed=True)
        assert host.result()["result"] == "Hello."
        assert len(server.requests) == 1


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_an_image_reaches_a_model_that_can_see(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    content = [{"type": "text", "text": "what is it?"}, image]
    (tmp_path / "home" / ".agenyx").mkdir(parents=True)
    with RawServer([says()]) as server:
        with Host(tmp_path, server) as host:
            host.send({"type": "user", "message": {"role": "user", "content": content}})
            assert "cannot see images" in host.result()["errors"][0]
        (tmp_path / "home" / ".agenyx" / "settings.toml").write_text('images = "yes"\n')
        with Host(tmp_path, server) as host:
            host.send({"type": "user", "message": {"role": "user", "content": content}})
            assert host.result()["result"] == "Hello."
        assert PIXEL in server.requests[-1].body.decode()


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b'{"type":"user","message":"a","message":"b"}\n', b"x" * ((8 << 20) + 1) + b"\n"]
)
def test_what_cannot_be_read_ends_the_stream_with_a_record(tmp_path: Path, line: bytes) -> None:
    held = threading.Event()
    with RawServer([[begin(content("Hel")), Until(held)], says()]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("one")
        host.streaming()
        host.prompt("two")
        with suppress(BrokenPipeError):  # it is gone before the whole line was written
            host.raw(line)
        code = host.end()
        held.set()
        assert code == 1
        assert len(server.requests) == 1
    last = host.seen[-1]
    assert (last["type"], last["is_error"]) == ("result", True)
    assert "the input cannot be read" in last["errors"][0]
    assert "the input cannot be read" in host.errors


def test_a_line_of_eight_mebibytes_is_taken(tmp_path: Path) -> None:
    empty = json.dumps({"type": "keep_alive", "pad": ""}).encode()
    line = json.dumps({"type": "keep_alive", "pad": "x" * ((8 << 20) - len(empty))}).encode()
    assert len(line) == 8 << 20
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.raw(line + b"\n")
        host.prompt("hi")
        assert host.result()["result"] == "Hello."


def test_sdk_a_prompt_for_another_session_is_refused_and_labels_are_not(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        host.prompt("hi", session_id="default")
        assert host.result()["result"] == "Hello."
        host.prompt("hi", session_id="my-label")
        assert host.result()["result"] == "Hello."
        host.prompt("hi", session_id=f"{ID}9", uuid=f"{ID}1")
        assert host.result()["user_message_uuid"] == f"{ID}1"
        host.close()
        assert host.end() == 0
        assert len(server.requests) == 2


def test_an_unknown_flag_is_only_told(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--betas", "a", "--newer=1") as host:
        host.prompt("hi")
        assert host.result()["result"] == "Hello."
        host.close()
        host.end()
    assert "--betas" in host.errors and "--newer" in host.errors


def test_where_nothing_can_be_opened_the_request_fails_and_a_record_says_why(tmp_path: Path) -> None:
    env = command_env(tmp_path)
    line = json.dumps(
        {"type": "control_request", "request_id": "r", "request": {"subtype": "initialize", "hooks": None}}
    )
    done = subprocess.run(
        [sys.executable, "-m", "agenyx", *FLAGS],
        cwd=tmp_path,
        env={**env, "CLAUDE_CODE_ENTRYPOINT": "sdk-test"},
        input=f"{line}\n{json.dumps({'type': 'user', 'message': 'hi'})}\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    records = [json.loads(row) for row in done.stdout.splitlines()]
    assert records[0]["response"]["subtype"] == "error"
    assert "no model" in records[0]["response"]["error"]
    assert records[-1]["type"] == "result" and records[-1]["is_error"]
    assert done.returncode == 1


# --- kinds of standard input -----------------------------------------------------------------------------------------

PROMPT = json.dumps({"type": "user", "message": "hi"}).encode()


def test_input_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(PROMPT)  # the last line lacks its end
    file = (tmp_path / "in").open("rb")
    with file, RawServer([says()]) as server, Host(tmp_path, server, stdin=file) as host:
        assert host.result()["result"] == "Hello."
        assert host.end() == 0


def test_input_from_a_pipe(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        for piece in (PROMPT[:7], PROMPT[7:], b"\n"):
            host.raw(piece)
        assert host.result()["result"] == "Hello."


def test_input_from_a_terminal(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with RawServer([says()]) as server, Host(tmp_path, server, stdin=slave) as host:
        os.write(master, PROMPT + b"\n")
        assert host.result()["result"] == "Hello."
        os.write(master, b"\x04")
        assert host.end() == 0
    os.close(master)
    os.close(slave)


def test_a_closed_input(tmp_path: Path) -> None:
    with RawServer([says()]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=server.url, AGENYX_MODEL="m")
        env["CLAUDE_CODE_ENTRYPOINT"] = "sdk-test"
        command = 'exec "$0" -m agenyx --output-format stream-json --input-format stream-json <&-'
        done = subprocess.run(
            ["sh", "-c", command, sys.executable], cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False
        )
    assert (done.returncode, done.stdout) == (0, b"")


# --- text in, records out --------------------------------------------------------------------------------------------


def test_text_in_records_out(tmp_path: Path) -> None:
    with RawServer([calls("LS", path="."), says()]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        flags = ("-p", "--output-format", "stream-json", "--include-partial-messages")
        ident = f"{ID}7"
        done = agenyx(*flags, "--session-id", ident, "hi", cwd=tmp_path, env=env)
        again = agenyx(*flags, "--session-id", ident, "hi", cwd=tmp_path, env=env)
        resumed = agenyx(*flags, "--resume", ident, "hi", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    records: list[Any] = [json.loads(row) for row in done.stdout.splitlines()]
    kinds = [one["subtype"] if one["type"] == "system" else one["type"] for one in records]
    assert kinds[0] == "init"
    assert [kind for kind in kinds if kind != "stream_event"] == ["init", "assistant", "user", "assistant", "result"]
    assert {one["session_id"] for one in records} == {ident}
    assert again.returncode == 2 and "already" in again.stderr
    assert json.loads(again.stdout)["is_error"] is True
    assert resumed.returncode == 0
    assert json.loads(resumed.stdout.splitlines()[-1])["session_id"] == ident


def test_own_instructions_stand_in_place_of_the_built_in_ones_and_more_behind(tmp_path: Path) -> None:
    flags = ("--system-prompt", "BE-BRIEF", "--append-system-prompt", "AND-KIND")
    with RawServer([says()]) as server:
        with Host(tmp_path, server, *flags) as host:
            host.prompt("hi")
            host.result()
        with Host(tmp_path, server, "--system-prompt", "") as host:
            host.prompt("hi")
            host.result()
        first, second = (request.json["messages"] for request in server.requests)
    text = json.dumps(first[0])
    assert first[0]["role"] == "system"
    assert "BE-BRIEF" in text and text.index("BE-BRIEF") < text.index("AND-KIND")
    assert "Agenyx" not in text
    assert not any("How you work" in json.dumps(one) for one in second)
