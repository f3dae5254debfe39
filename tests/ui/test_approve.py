"""Approvals where nobody is there to ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.core.verdict import Reason, Verdict
from agenyx.ui.approve import HeadlessApprover, remedy


def approval(effects: Effects) -> Approval:
    return Approval("apr_1", ToolCall("c", "w", "Bash", "{}"), Verdict("ask", (Reason("default", "x"),)), effects)


def path(shown: str, protected: str = "") -> PathRef:
    return PathRef(shown, shown.encode(), "/w", protected=protected)


RUN = Effects(commands=(Command(("make",)),), preview="make")
EDIT = Effects(writes=(path("a.py"),), preview="+1\n")


@pytest.mark.parametrize(
    ("effects", "names"),
    [
        (EDIT, "--permission-mode acceptEdits"),
        (RUN, "--dangerously-skip-permissions"),
        (Effects(writes=(path("a"),), removes=(path("b"),)), "--dangerously-skip-permissions"),
        (Effects(writes=(path(".git/config", "git settings"),)), "Only a person at a terminal"),
        (Effects(interact=True), "Only a person at a terminal"),
    ],
)
def test_a_headless_denial_says_what_would_allow_it(effects: Effects, names: str) -> None:
    decision = asyncio.run(HeadlessApprover(lambda: 5.0).decide(approval(effects)))
    assert (decision.choice, decision.stop, decision.by, decision.at) == ("deny", False, "headless", 5.0)
    assert decision.approval == "apr_1"
    assert names in decision.message == f"nobody is there to approve this. {remedy(effects)}"


def test_a_run_without_a_terminal_denies_and_goes_on(fake: Any) -> None:
    code, out, _ = fake.run("ask", "-p", "hi")
    assert code == 0
    assert out.startswith("deny stop=False by=headless")
