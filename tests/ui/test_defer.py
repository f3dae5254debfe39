"""The approver that answers nothing, and what programs read about calls that wait."""

from __future__ import annotations

import asyncio

import pytest

from agenyx.agent.ports import Deferred
from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.ui.approve import HeadlessApprover
from agenyx.ui.choices import TRUST
from agenyx.ui.defer import DeferringApprover, entry, message


def asked(
    id: str = "apr_1", *, agent: str = "", args: str = '{"command": "rm x"}', edited: str | None = None
) -> Approval:
    call = ToolCall(f"call_of_{id}", "w", "Bash", args)
    verdict = Verdict("ask", (Reason("shell", "no rule allows rm"),))
    return Approval(id, call, verdict, Effects(script="rm x"), agent=agent, asked_at=5.0, args=edited)


def decide(approver: DeferringApprover, approval: Approval) -> Decision:
    return asyncio.run(approver.decide(approval))


def test_a_question_is_left_open() -> None:
    with pytest.raises(Deferred):
        decide(DeferringApprover(HeadlessApprover()), asked())


def test_a_subagents_question_is_a_denial_with_its_reason() -> None:
    decision = decide(DeferringApprover(HeadlessApprover(), lambda: 7.0), asked(agent="review"))
    assert (decision.choice, decision.by, decision.at) == ("deny", "deferred", 7.0)
    assert "subagent cannot wait" in decision.message


def test_trust_and_what_did_not_wait_before_go_to_the_other_approver() -> None:
    approver = DeferringApprover(HeadlessApprover())
    assert decide(approver, asked(TRUST)).by == "headless"
    approver.held = {"call_of_apr_1"}
    assert decide(approver, asked("apr_2")).by == "headless"
    with pytest.raises(Deferred):
        decide(approver, asked("apr_1"))


def test_what_is_told_are_the_arguments_that_are_asked_about() -> None:
    edited = asked(edited='{"command": "rm y"}')
    said, fix = message([edited])
    assert "rm y" in said and "rm x" not in said and "allow apr_1 --resume" in fix
    assert entry(edited)["input"] == {"command": "rm y"} and entry(edited)["command"] == "rm x"
    said, fix = message([asked("apr_1"), asked("apr_2")])
    assert "2 calls wait" in said and "apr_1" in said and "apr_2" in said and "allow ID" in fix


def test_arguments_that_are_no_json_are_null() -> None:
    assert entry(asked(args="{broken"))["input"] is None
