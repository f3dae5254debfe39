"""The contract: what exit codes and JSON mean for each event, and what hooks that disagree say together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.core.hooks import Event, Said
from agenyx.ext.hooks.answer import CONTEXT_CHARS, said, together
from agenyx.ext.hooks.model import Entry, HookResult


def entry(event: Event = "PreToolUse", on_error: Any = "block", **more: Any) -> Entry:
    return Entry(event, "command", command="check", on_error=on_error, source="/h/hooks.json", **more)


def answer(value: Any, event: Event = "PreToolUse", on_error: Any = "block") -> Said:
    output = value if isinstance(value, str) else json.dumps(value)
    return said(event, entry(event, on_error), HookResult(output=output))


def specific(event: Event = "PreToolUse", **members: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **members}}


def test_exit_0_without_words_says_nothing() -> None:
    assert said("PreToolUse", entry(), HookResult()) == Said(ran=1)


def test_exit_2_blocks_with_what_stands_on_standard_error() -> None:
    told = said("PreToolUse", entry(), HookResult(2, errors="not on a Friday\n"))
    assert (told.decision, told.reason) == ("deny", "not on a Friday")


def test_exit_2_without_a_reason_blocks_as_well() -> None:
    told = said("PreToolUse", entry(on_error="warn"), HookResult(2))
    assert told.decision == "deny"
    assert "gave no reason" in told.reason


def test_exit_2_takes_its_reason_from_json_where_there_is_no_other() -> None:
    output = json.dumps(specific(permissionDecision="deny", permissionDecisionReason="by the book"))
    assert said("PreToolUse", entry(), HookResult(2, output)).reason == "by the book"


@pytest.mark.parametrize("code", [1, 3, 127, -9])
def test_other_exits_follow_on_error_and_are_never_silent(code: int) -> None:
    strict = said("PreToolUse", entry(), HookResult(code, errors="broken pipe"))
    assert strict.decision == "deny"
    assert "broken pipe" in strict.reason
    loose = said("PreToolUse", entry(on_error="warn"), HookResult(code, errors="broken pipe"))
    assert loose.decision == ""
    assert "broken pipe" in loose.problems[0]
    assert "Nothing was held back" in loose.problems[0]


def test_no_answer_at_all_follows_on_error() -> None:
    assert said("PreToolUse", entry(), HookResult(failure="it gave no answer within 1 seconds")).decision == "deny"
    loose = said("PreToolUse", entry(on_error="warn"), HookResult(failure="too late"))
    assert (loose.decision, "too late" in loose.problems[0]) == ("", True)


@pytest.mark.parametrize(
    "garbage",
    ['{"decision": ', '{"decision": "perhaps"}', '{"continue": "no"}', '{"hookSpecificOutput": 3}', "{" * 200_000],
)
def test_garbage_is_a_failure_and_never_a_yes(garbage: str) -> None:
    assert answer(garbage).decision == "deny"
    assert answer(garbage, on_error="warn").decision == ""
    assert answer(garbage, on_error="warn").problems


def test_an_answer_for_another_event_is_a_failure() -> None:
    assert answer(specific("PostToolUse", permissionDecision="allow")).decision == "deny"


@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_the_decision_of_json(word: str) -> None:
    told = answer(specific(permissionDecision=word, permissionDecisionReason="so"))
    assert (told.decision, told.reason) == (word, "so")


@pytest.mark.parametrize(
    ("word", "means"), [("approve", "allow"), ("allow", "allow"), ("block", "deny"), ("ask", "ask")]
)
def test_the_older_form(word: str, means: str) -> None:
    assert answer({"decision": word, "reason": "so"}).decision == means


def test_defer_decides_nothing() -> None:
    assert answer(specific(permissionDecision="defer")).decision == ""


def test_changed_arguments_context_and_message() -> None:
    told = answer(
        {"systemMessage": "look out", **specific(updatedInput={"command": "ls"}, additionalContext="it is old")}
    )
    assert (told.args, told.context, told.messages) == ('{"command":"ls"}', ("it is old",), ("look out",))


def test_continue_false_stops_for_its_reason() -> None:
    told = answer({"continue": False, "stopReason": "enough"})
    assert (told.stop, told.reason) == (True, "enough")


def test_plain_words_are_context_at_prompts_and_starts_only() -> None:
    assert answer("today is Monday", "UserPromptSubmit").context == ("today is Monday",)
    assert answer("today is Monday", "SessionStart").context == ("today is Monday",)
    assert answer("today is Monday", "PreToolUse") == Said(ran=1)


def test_after_a_call_a_block_is_told_and_undoes_nothing() -> None:
    assert answer({"decision": "block", "reason": "run the tests"}, "PostToolUse").decision == "deny"
    assert answer({"decision": "approve"}, "PostToolUse").decision == ""


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Notification", "PostCompact", "PermissionDenied"])
def test_where_nothing_can_be_held_back_a_block_is_told_to_the_person(event: Event) -> None:
    told = said(event, entry(event), HookResult(2, errors="no"))
    assert (told.decision, "holds nothing back" in told.problems[0]) == ("", True)


def test_a_failing_stop_hook_never_holds_a_turn() -> None:
    assert said("Stop", entry("Stop", "block"), HookResult(1)).decision == ""
    assert said("Stop", entry("Stop"), HookResult(2, errors="tests are red")).decision == "deny"


def test_permission_request() -> None:
    told = answer(
        specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"a": 1}}), "PermissionRequest"
    )
    assert (told.decision, told.args) == ("allow", '{"a":1}')
    no = answer(
        specific("PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True}),
        "PermissionRequest",
    )
    assert (no.decision, no.stop, no.reason) == ("deny", True, "no")


def test_what_agenyx_does_not_use_is_said() -> None:
    told = answer(specific("PostToolUse", updatedToolOutput="x"), "PostToolUse")
    assert "updatedToolOutput, which Agenyx does not use" in told.problems[0]


def test_hostile_words_cannot_control_a_terminal_and_are_bounded() -> None:
    text = "\x1b]0;owned\x07\x1b[2J\u202e" + "x" * 50_000
    told = answer({"systemMessage": text, "decision": "block", "reason": text, **specific(additionalContext=text)})
    for part in (told.messages[0], told.reason, told.context[0]):
        assert "\x1b" not in part
        assert "\u202e" not in part
        assert len(part) < CONTEXT_CHARS + 100
    plain = said("PreToolUse", entry(), HookResult(2, errors=text))
    assert "\x1b" not in plain.reason
    assert len(plain.reason) < 2_100


def heard(*words: str, **args: str) -> Said:
    each = [Said(word, f"{word} {n}", args.get(f"args{n}"), ran=1) for n, word in enumerate(words)]  # type: ignore[arg-type]
    return together("PreToolUse", [(entry(), one) for one in each])


def test_deny_wins_over_ask_and_ask_over_allow() -> None:
    assert heard("allow", "deny", "ask").decision == "deny"
    assert heard("allow", "ask").decision == "ask"
    assert heard("allow", "").decision == "allow"
    assert heard("", "").decision == ""
    assert heard("allow", "deny").reason == "deny 1"


def test_a_yes_counts_only_for_the_arguments_that_it_saw() -> None:
    assert heard("allow", "", args1="{}").decision == ""
    assert heard("allow", "allow", args1="{}").decision == "allow"
    assert heard("ask", "", args1="{}").decision == "ask"


def test_of_several_changes_the_last_counts_and_that_is_said() -> None:
    told = heard("", "", args0='{"a":1}', args1='{"a":2}')
    assert told.args == '{"a":2}'
    assert "those of the last count" in told.problems[0]


def test_a_denied_call_has_no_changed_arguments() -> None:
    assert heard("deny", "", args1="{}").args is None


def test_contexts_stand_in_order() -> None:
    pair = [(entry(), Said(context=("one",), ran=1)), (entry(), Said(context=("two",), ran=1))]
    assert together("PreToolUse", pair).context == ("one", "two")
