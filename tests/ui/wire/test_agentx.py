"""A host of the AgentX contract with the program as a process (reference: AgentX §4.4, §7)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from support.raw_server import RawServer, Until, begin, content
from support.wire_host import Host, calls, says

PARTIAL = "--include-partial-messages"
ID = "019a0000-0000-7000-8000-00000000000"


def agentx(folder: Path, server: RawServer, *flags: str) -> Host:
    return Host(folder, server, *flags, env={})


def greeted(host: Host) -> dict[str, Any]:
    """What such a host does: wait for the record of the session, then say `initialize` with nothing in it."""
    host.wait(lambda one: one["type"] == "system" and one["subtype"] == "init")
    return host.request("initialize")["response"]


def test_the_session_is_told_first_and_each_turn_has_its_order(tmp_path: Path) -> None:
    with RawServer([calls("LS", path="."), says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        for words in ("one", "two"):
            host.prompt(words)
            host.wait(lambda one: one.get("state") == "idle")
        host.close()
        assert host.end() == 0
    first = ["init", "control_response", "session_state_changed", "assistant", "user", "assistant", "result"]
    rest = ["session_state_changed", "session_state_changed", "assistant", "result", "session_state_changed"]
    assert host.kinds() == [*first, *rest]
    assert [one["state"] for one in host.seen if "state" in one] == ["running", "idle"] * 2
    assert "sdk_host_only" not in host.seen[2]


def test_an_initialize_before_the_session_is_told_works_as_well(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        host.request("initialize")
        assert host.kinds() == ["init", "control_response"]


def test_initialize_brings_the_catalogue_of_providers(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        answer = greeted(host)
    (provider,) = answer["providers"]
    assert (provider["id"], provider["model"], provider["selected"]) == ("openai", "served-model", True)
    assert server.url not in str(answer)
    assert answer["account"]["provider"] == "openai"
    assert answer["agents"] == []
    assert isinstance(answer["pid"], int)
    assert "claude_code_version" not in answer


def test_a_fielded_initialize_is_refused_and_an_empty_one_may_come_again(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        assert host.request("initialize", hooks={})["subtype"] == "error"
        assert host.request("initialize")["subtype"] == "success"


@pytest.mark.parametrize("subtype", ["set_model", "set_permission_mode", "set_max_thinking_tokens", "hologram"])
def test_what_that_contract_refuses_is_refused(tmp_path: Path, subtype: str) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        assert host.request(subtype, model="m", mode="plan")["subtype"] == "error"


def test_a_question_comes_without_a_flag_and_the_state_tells_of_it(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("write")
        asked = host.asked()
        assert set(asked["request"]) >= {"tool_name", "input", "tool_use_id", "description"}
        assert "permission_suggestions" not in asked["request"]
        host.answer(asked, behavior="allow", updatedInput={})
        host.wait(lambda one: one.get("state") == "idle")
    states = [one["state"] for one in host.seen if "state" in one]
    assert states == ["running", "requires_action", "running", "idle"]
    assert (tmp_path / "work" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(
    "answer",
    [
        {"behavior": "allow"},
        {"behavior": "allow", "updatedInput": None},
        {"behavior": "allow", "updatedInput": {}, "toolUseID": None},
        {"behavior": "allow", "updatedInput": {}, "decisionClassification": None},
        {"behavior": "allow", "updatedInput": {}, "updatedPermissions": [{"type": "addRules"}]},
        {"behavior": "deny"},
        {"behavior": "deny", "message": ""},
        {"behavior": "deny", "message": "x", "interrupt": None},
        {"behavior": "perhaps"},
    ],
)
def test_an_answer_that_is_not_exact_is_a_no(tmp_path: Path, answer: dict[str, Any]) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("write")
        host.answer(host.asked(), **answer)
        host.result()
        assert "request failed" in server.requests[1].body.decode()
    assert not (tmp_path / "work" / "a.txt").exists()


def test_updates_that_are_malformed_are_ignored(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("write")
        host.answer(host.asked(), behavior="allow", updatedInput={}, updatedPermissions=["x", {}])
        host.result()
    assert (tmp_path / "work" / "a.txt").exists()


def test_a_question_of_the_model_is_asked_as_one(tmp_path: Path) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [{"question": "Which colour?", "header": "Colour", "options": options, "multiSelect": False}]
    with RawServer([calls("AskUserQuestion", questions=questions), says()]) as server:
        with agentx(tmp_path, server) as host:
            greeted(host)
            host.prompt("paint")
            asked = host.asked("ask_user_question")
            assert asked["request"]["questions"] == questions
            host.answer(asked, **{"Which colour?": ["Blue"]})
            host.result()
        assert "Blue" in str(server.requests[1].json["messages"][-1])


def test_an_interrupt_withdraws_questions_first_and_says_nothing_more(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("write")
        asked = host.asked()
        assert host.request("interrupt")["response"] == {}
        assert host.seen[-2] == {"type": "control_cancel_request", "request_id": asked["request_id"]}
        ended = host.result()
        assert (ended["subtype"], ended["stop_reason"]) == ("error_during_execution", "cancelled")


def test_a_prompt_for_another_session_ends_the_stream(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("hi", session_id="default")
        assert host.end() == 1
        assert server.requests == []
    assert "another one runs here" in host.seen[-1]["errors"][0]


def test_a_member_that_is_unknown_ends_the_stream(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("hi", client_composed=True)
        assert host.end() == 1
    assert "client_composed" in host.seen[-1]["errors"][0]


def test_the_first_initialize_counts_for_what_was_written_with_it(tmp_path: Path) -> None:
    first = {"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}}
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        host.send(first, {"type": "user", "message": "hi", "client_composed": True})
        assert host.end() == 1
        assert server.requests == []


def test_at_most_128_prompts_wait_and_the_next_is_refused(tmp_path: Path) -> None:
    held = threading.Event()
    with RawServer([[begin(content("Hel")), Until(held)]]) as server, agentx(tmp_path, server, PARTIAL) as host:
        greeted(host)
        host.prompt("first")
        host.wait(lambda one: one["type"] == "stream_event")
        for number in range(129):
            host.prompt("more", uuid=f"u{number}", priority="later")
        refused = host.result()
        assert (refused["prompt_uuid"], refused["stop_reason"]) == ("u128", "input_error")
        assert "full" in refused["errors"][0]
        held.set()


def test_the_end_of_input_without_a_prompt_is_an_error(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.close()
        assert host.end() == 1
    assert (host.seen[-1]["type"], host.seen[-1]["stop_reason"]) == ("result", "input_error")


def test_an_unknown_priority_is_refused_and_the_stream_goes_on(tmp_path: Path) -> None:
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        greeted(host)
        host.prompt("hi", priority="soon", uuid=f"{ID}1")
        assert host.result()["prompt_uuid"] == f"{ID}1"
        host.prompt("hi")
        assert host.result()["result"] == "Hello."


# --- the other contract in the same places ---------------------------------------------------------------------------


def test_sdk_the_session_is_told_with_each_turn_and_not_before(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        for words in ("one", "two"):
            host.prompt(words)
            host.result()
    assert host.kinds() == ["control_response", "init", "assistant", "result", "init", "assistant", "result"]


def test_sdk_the_state_is_told_to_those_who_read_it_and_marked(tmp_path: Path) -> None:
    env = {"CLAUDE_CODE_ENTRYPOINT": "sdk-test", "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
    with RawServer([says()]) as server, Host(tmp_path, server, env=env) as host:
        host.initialize()
        host.prompt("one")
        host.wait(lambda one: one.get("state") == "idle")
    states = [(one["state"], one["sdk_host_only"]) for one in host.seen if "state" in one]
    assert states == [("running", True), ("idle", True)]


def test_sdk_an_allowed_call_may_lack_its_input(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool", "stdio") as host:
        host.initialize()
        host.prompt("write")
        host.answer(host.asked(), behavior="allow")
        host.result()
    assert (tmp_path / "work" / "a.txt").exists()


def test_sdk_a_question_of_the_model_is_a_call_to_allow(tmp_path: Path) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [{"question": "Which colour?", "header": "Colour", "options": options, "multiSelect": False}]
    script = [calls("AskUserQuestion", questions=questions), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--permission-prompt-tool", "stdio") as host:
        host.initialize()
        host.prompt("paint")
        asked = host.asked()
        given = asked["request"]["input"]
        assert (asked["request"]["tool_name"], given["questions"]) == ("AskUserQuestion", questions)
        answers = {"Which colour?": "Blue"}
        host.answer(asked, behavior="allow", updatedInput={**given, "answers": answers})
        host.result()
        assert "Blue" in str(server.requests[1].json["messages"][-1])


def test_sdk_the_model_and_the_mode_may_change(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        assert host.request("set_model", model="other")["response"] == {"model": "other"}
        assert host.request("set_model", model=None)["response"] == {"model": "served-model"}
        assert host.request("set_permission_mode", mode="plan")["response"] == {"mode": "plan"}


def test_sdk_the_end_of_input_without_a_prompt_is_none(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        host.close()
        assert host.end() == 0
    assert host.kinds() == ["control_response"]


def test_sdk_an_initialize_that_comes_late_still_counts_before_the_first_prompt(tmp_path: Path) -> None:
    agents = {"finder": {"description": "finds", "prompt": "Find."}}
    with RawServer([says()]) as server, agentx(tmp_path, server) as host:
        host.wait(lambda one: one["type"] == "system")
        first = host.seen[0]["session_id"]
        answer = host.initialize(agents=agents)
        assert "finder" in [one["name"] for one in answer["agents"]]
        host.prompt("hi")
        ended = host.result()
        assert (ended["result"], ended["session_id"]) == ("Hello.", first)
        assert host.initialize(agents=agents)["hooks_applied"] is False


@pytest.mark.parametrize("fork", [False, True])
def test_sdk_a_session_that_goes_on_stays_the_same_after_a_late_initialize(tmp_path: Path, fork: bool) -> None:
    with RawServer([says()]) as server:
        with Host(tmp_path, server) as host:
            host.prompt("FIRST-WORDS")
            before = host.result()["session_id"]
            host.close()
            host.end()
        with agentx(tmp_path, server, f"--resume={before}", *(["--fork-session"] if fork else [])) as host:
            first = host.wait(lambda one: one["type"] == "system")["session_id"]
            assert (first != before) is fork
            host.initialize(agents={"finder": {"description": "finds", "prompt": "Find."}})
            host.prompt("hi")
            assert host.result()["session_id"] == first
        assert "FIRST-WORDS" in server.requests[-1].body.decode()
