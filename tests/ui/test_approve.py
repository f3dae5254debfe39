"""Approvals where nobody is there to ask."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Command, Concern, Effects, PathRef
from agenyx.core.verdict import Reason, Rule, Verdict
from agenyx.policy.rules import split_rules
from agenyx.ui.approve import HeadlessApprover, remedy


def approval(effects: Effects, offer: tuple[Rule, ...] = ()) -> Approval:
    verdict = Verdict("ask", (Reason("default", "x"),), offer=offer)
    return Approval("apr_1", ToolCall("c", "w", "Bash", "{}"), verdict, effects)


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
        (Effects(writes=(path(".git/config", "git settings"),)), "Only a person can allow it"),
        (Effects(concerns=(Concern("always", "it leaves the workspace"),)), "Only a person can allow it"),
        (Effects(interact=True), "Only a person can allow it"),
    ],
)
def test_a_headless_denial_says_what_would_allow_it(effects: Effects, names: str) -> None:
    decision = asyncio.run(HeadlessApprover(lambda: 5.0).decide(approval(effects)))
    assert (decision.choice, decision.stop, decision.by, decision.at) == ("deny", False, "headless", 5.0)
    assert decision.approval == "apr_1"
    assert names in decision.message == f"nobody is there to approve this. {remedy(approval(effects))}"


def test_a_rule_that_would_allow_it_is_named_as_a_flag_takes_it() -> None:
    rules = ("npm test", "echo 'a, b'", "git log:*")
    offer = tuple(Rule("allow", "Bash", pattern, "session") for pattern in rules)
    told = remedy(approval(RUN, offer))
    flag, value = shlex.split(told.removeprefix("The user can allow it with ").rstrip("."))
    assert flag == "--allowed-tools"
    assert split_rules(value) == [f"Bash({pattern})" for pattern in rules]
    assert "--allowed-tools 'Bash(npm test)'." in remedy(approval(RUN, offer[:1]))


def test_a_run_without_a_terminal_denies_and_goes_on(fake: Any) -> None:
    code, out, _ = fake.run("ask", "-p", "hi")
    assert code == 0
    assert out.startswith("deny stop=False by=headless")
