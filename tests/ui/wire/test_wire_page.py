"""Every row of the page's table of disagreements has a test for each of the two dialects."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "wire.md"

# The row's first cell, then the tests: of `sdk`, of `agentx`.
ROWS = {
    "`system/init`": (
        "test_agentx.py::test_sdk_the_session_is_told_with_each_turn_and_not_before",
        "test_agentx.py::test_the_session_is_told_first_and_each_turn_has_its_order",
    ),
    "`initialize`": (
        "test_agentx.py::test_sdk_an_initialize_that_comes_late_still_counts_before_the_first_prompt",
        "test_agentx.py::test_a_fielded_initialize_is_refused_and_an_empty_one_may_come_again",
    ),
    "`session_state_changed`": (
        "test_agentx.py::test_sdk_the_state_is_told_to_those_who_read_it_and_marked",
        "test_agentx.py::test_the_session_is_told_first_and_each_turn_has_its_order",
    ),
    "`set_model`, `set_permission_mode`": (
        "test_agentx.py::test_sdk_the_model_and_the_mode_may_change",
        "test_agentx.py::test_what_that_contract_refuses_is_refused",
    ),
    "who is asked about calls": (
        "test_live.py::test_without_the_flag_nobody_is_asked_and_the_call_is_refused",
        "test_agentx.py::test_a_question_comes_without_a_flag_and_the_state_tells_of_it",
    ),
    "answer to `can_use_tool`": (
        "test_agentx.py::test_sdk_an_allowed_call_may_lack_its_input",
        "test_agentx.py::test_an_answer_that_is_not_exact_is_a_no",
    ),
    "questions of the model": (
        "test_agentx.py::test_sdk_a_question_of_the_model_is_a_call_to_allow",
        "test_agentx.py::test_a_question_of_the_model_is_asked_as_one",
    ),
    "answer to `interrupt`": (
        "test_live.py::test_an_interrupt_is_answered_at_once_and_the_next_prompt_runs",
        "test_agentx.py::test_an_interrupt_withdraws_questions_first_and_says_nothing_more",
    ),
    "an interrupted turn": (
        "test_project.py::test_sdk_an_interrupt_is_told_as_a_message",
        "test_project.py::test_agentx_an_interrupt_is_only_the_result",
    ),
    "`stream_event`": (
        "test_project.py::test_sdk_partials_are_raw_events",
        "test_project.py::test_agentx_partials_are_text_deltas",
    ),
    "reasoning": (
        "test_project.py::test_sdk_shows_reasoning",
        "test_project.py::test_agentx_shows_no_reasoning",
    ),
    "results of calls": (
        "test_project.py::test_sdk_results_of_calls_carry_what_the_tool_said",
        "test_project.py::test_agentx_results_of_calls_are_synthetic",
    ),
    "subagents": (
        "test_project.py::test_sdk_calls_of_a_subagent_name_the_call_that_it_does",
        "test_project.py::test_agentx_hears_nothing_of_subagents",
    ),
    "a failure of the provider": (
        "test_project.py::test_sdk_a_providers_failure_is_a_success_that_is_an_error",
        "test_project.py::test_agentx_a_providers_failure_is_an_error",
    ),
    "`stop_reason`, `usage`": (
        "test_project.py::test_sdk_stop_reason_is_the_models_and_usage_that_of_the_turn",
        "test_project.py::test_agentx_stop_reason_is_how_it_ended_and_usage_that_of_the_session",
    ),
    "a cost that is not known": (
        "test_project.py::test_sdk_a_cost_is_always_a_number",
        "test_project.py::test_agentx_a_cost_that_is_not_known_is_null",
    ),
    "a prompt for another session": (
        "test_live.py::test_sdk_a_prompt_for_another_session_is_refused_and_labels_are_not",
        "test_agentx.py::test_a_prompt_for_another_session_ends_the_stream",
    ),
    "unknown members": (
        "test_inbound.py::test_sdk_unknown_members_are_passed_over",
        "test_agentx.py::test_a_member_that_is_unknown_ends_the_stream",
    ),
    "a message without `role`": (
        "test_inbound.py::test_sdk_a_role_may_be_missing",
        "test_inbound.py::test_agentx_a_role_must_be_there",
    ),
    "prompts that wait": (
        "test_queue.py::test_sdk_a_thousand_prompts_wait_in_their_order",
        "test_agentx.py::test_at_most_128_prompts_wait_and_the_next_is_refused",
    ),
    "images in a prompt": (
        "test_inbound.py::test_sdk_images_come_as_bytes",
        "test_inbound.py::test_agentx_images_in_a_prompt_are_refused",
    ),
    "the end of input without a prompt": (
        "test_agentx.py::test_sdk_the_end_of_input_without_a_prompt_is_none",
        "test_agentx.py::test_the_end_of_input_without_a_prompt_is_an_error",
    ),
}


def test_every_row_has_its_tests() -> None:
    table = PAGE.read_text("utf-8").partition("## Where the contracts disagree")[2].partition("\n## ")[0]
    told = [row.split(" | ")[0].removeprefix("| ") for row in table.splitlines() if row.startswith("| ")][1:]
    assert told == list(ROWS)
    for tests in ROWS.values():
        for test in tests:
            file, _, name = test.partition("::")
            assert re.search(rf"^def {name}\(", (HERE / file).read_text("utf-8"), re.MULTILINE), test
