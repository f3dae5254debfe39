"""Which hooks an event is for, that they run together, `once`, masking, and functions of a host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.hooks import Fired, Said
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects, PathRef
from agenyx.ext.hooks.callback import Callback, CallbackHook
from agenyx.ext.hooks.model import Entry, Hook, HookResult
from agenyx.ext.hooks.runner import Runner
from agenyx.policy.decide import Policy, applies
from agenyx.policy.rules import parse_rule

SECRET = "hush-hush-hush-1234"


class Told:
    """A hook that remembers its payloads and plays results."""

    def __init__(self, *results: HookResult) -> None:
        self.results, self.payloads = list(results), list[dict[str, Any]]()

    async def run(self, payload: bytes) -> HookResult:
        assert payload.endswith(b"\n")
        assert payload.count(b"\n") == 1
        self.payloads.append(json.loads(payload))
        return self.results.pop(0) if self.results else HookResult()


def entry(matcher: str = "", command: str = "x", **more: Any) -> Entry:
    return Entry(more.pop("event", "PreToolUse"), "command", matcher, command, **more)


def condition(rule: str, name: str, effects: Effects) -> bool:
    return applies(parse_rule(rule, "ask", "user"), name, effects, Policy(workspace="/w", home_dir="/home/u"))


def runner(hooks: Sequence[tuple[Entry, Hook]], claims: str = "/nonexistent") -> Runner:
    return Runner(hooks, lambda: {"session_id": "s", "cwd": "/w"}, Masker((SECRET,)), condition, claims)


def fire(
    made: Runner, tool: str = "Bash", event: Any = "PreToolUse", effects: Effects | None = None, **data: Any
) -> Said:
    async def known() -> Effects:
        if effects is None:
            raise ValueError("cannot look")
        return effects

    return asyncio.run(made.fire(Fired(event, tool, {"tool_name": tool, **data}, ("shell",)), known))


def test_only_the_hooks_of_the_event_and_the_tool_run() -> None:
    bash, write, both, other = Told(), Told(), Told(), Told()
    made = runner(
        [(entry("Bash"), bash), (entry("Write"), write), (entry("Write|Bash", "y"), both), (entry(event="Stop"), other)]
    )
    assert fire(made).ran == 2
    assert [len(hook.payloads) for hook in (bash, write, both, other)] == [1, 0, 1, 0]
    assert made.wants("PreToolUse")
    assert made.wants("Stop")
    assert not made.wants("PostToolUse")


def test_an_event_without_a_subject_is_for_every_matcher() -> None:
    hook = Told()
    made = runner([(entry("Bash", event="UserPromptSubmit"), hook)])
    asyncio.run(made.fire(Fired("UserPromptSubmit", "", {"prompt": "hi"})))
    assert hook.payloads == [{"session_id": "s", "cwd": "/w", "hook_event_name": "UserPromptSubmit", "prompt": "hi"}]


def test_a_tool_is_known_by_its_other_names() -> None:
    hook = Told()
    assert fire(runner([(entry("shell"), hook)])).ran == 1


def test_conditions_speak_the_grammar_of_rules() -> None:
    inside = Effects(writes=(PathRef("src/a.py", b"/w/src/a.py", "/w"),))
    hook = Told()
    made = runner([(entry(condition="Edit(src/**)"), hook)])
    assert fire(made, "Write", effects=inside).ran == 1
    assert fire(made, "Write", effects=Effects(writes=(PathRef("b.py", b"/w/b.py", "/w"),))).ran == 0
    assert fire(made, "Write", effects=None).ran == 1, "what cannot be seen is not got round"


def test_secrets_are_masked_going_in_and_coming_out() -> None:
    hook = Told(HookResult(2, errors=f"found {SECRET}"))
    said = fire(runner([(entry(), hook)]), tool_input={"command": f"echo {SECRET}"})
    assert SECRET not in json.dumps(hook.payloads)
    assert SECRET not in said.reason
    assert "found" in said.reason


def test_a_lone_surrogate_does_not_break_the_payload() -> None:
    hook = Told()
    fire(runner([(entry(), hook)]), tool_input={"command": "a\ud800b"})
    assert hook.payloads[0]["tool_input"] == {"command": "a\ufffdb"}


def test_hooks_run_together() -> None:
    started: list[int] = []
    all_there = asyncio.Event()

    def make(number: int) -> Callback:
        async def wait(payload: dict[str, Any]) -> None:
            started.append(number)
            if len(started) == 3:
                all_there.set()
            await all_there.wait()

        return Callback("PreToolUse", wait, timeout=20)

    made = runner([(one.entry, CallbackHook(one)) for one in map(make, range(3))])
    assert fire(made).problems == ()
    assert sorted(started) == [0, 1, 2]


def test_the_same_in_two_files_runs_once() -> None:
    first, second = Told(), Told()
    made = runner([(entry(source="/a", number=1), first), (entry(source="/b", number=4), second)])
    assert fire(made).ran == 1


def test_once_is_once_in_a_session_also_for_a_new_process(tmp_path: Path) -> None:
    hook, one = Told(), entry(once=True)
    made = runner([(one, hook)], str(tmp_path / "claims"))
    assert [fire(made).ran, fire(made).ran] == [1, 0]
    assert fire(runner([(one, hook)], str(tmp_path / "claims"))).ran == 0
    assert fire(runner([(one, hook)], str(tmp_path / "other session"))).ran == 1


def test_once_is_given_back_when_it_failed(tmp_path: Path) -> None:
    hook = Told(HookResult(failure="too late"), HookResult(1), HookResult(2))
    made = runner([(entry(once=True, on_error="warn"), hook)], str(tmp_path))
    assert [fire(made).ran for _ in range(4)] == [1, 1, 1, 0]


def test_once_without_a_folder_holds_for_the_process() -> None:
    made = runner([(entry(once=True), Told())], "/proc/nowhere")
    assert [fire(made).ran, fire(made).ran] == [1, 0]


def test_the_end_of_a_session_waits_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenyx.ext.hooks.runner.END_SECONDS", 0.2)
    ended: list[str] = []

    async def hangs(payload: dict[str, Any]) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    one = Callback("SessionEnd", hangs)
    said = fire(runner([(one.entry, CallbackHook(one))]), "other", "SessionEnd")
    assert "the session ended" in said.problems[0]
    assert ended == ["ended"]


def callback(function: Any, **more: Any) -> Said:
    one = Callback("PreToolUse", function, **more)
    return fire(runner([(one.entry, CallbackHook(one))]), tool_input={"command": "ls"})


def test_functions_answer_like_programs() -> None:
    async def later(payload: dict[str, Any]) -> dict[str, Any]:
        return {"decision": "block", "reason": f"{payload['tool_name']} {payload['tool_input']['command']}"}

    def now(payload: dict[str, Any]) -> dict[str, Any]:
        return {"hookSpecificOutput": {"permissionDecision": "allow"}}

    assert (callback(later).decision, callback(later).reason) == ("deny", "Bash ls")
    assert callback(now).decision == "allow"
    assert callback(lambda payload: None).decision == ""


def test_a_function_that_fails_or_hangs_follows_on_error() -> None:
    def broken(payload: dict[str, Any]) -> None:
        raise RuntimeError("out of order")

    async def hangs(payload: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    assert callback(broken).decision == "deny"
    assert "out of order" in callback(broken).reason
    assert callback(broken, on_error="warn").decision == ""
    assert "no answer within" in callback(hangs, timeout=0.05).reason
    assert callback(lambda payload: 3).decision == "deny"
    assert callback(lambda payload: {"decision": object()}).decision == "deny"


def test_a_function_is_told_only_what_its_matcher_is_for() -> None:
    assert callback(lambda payload: {"decision": "block"}, matcher="Write").ran == 0
