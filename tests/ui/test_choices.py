"""Which answers a question offers, and which keys give them."""

from __future__ import annotations

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Rule, Verdict
from agenyx.ui.choices import choices, chosen, prompt

OFFER = (Rule("allow", "Bash", "npm test", "session"),)


def approval(offer: tuple[Rule, ...] = (), id: str = "apr_1") -> Approval:
    return Approval(id, ToolCall("c", "w", "Bash", "{}"), Verdict("ask", (), offer=offer), Effects())


def keys(one: Approval) -> str:
    return "".join(choice.key for choice in choices(one))


def test_rules_can_only_be_set_where_some_are_offered() -> None:
    assert keys(approval(OFFER)) == "ysaenmq"
    assert keys(approval()) == "yenmq"


def test_trust_is_a_yes_or_no() -> None:
    assert keys(approval(OFFER, "trust")) == "yn"
    assert "[y] trust" in prompt(choices(approval(id="trust")), 80)[0]


@pytest.mark.parametrize("key", ["\r", "\n", "\x1b", "\x04", "n"])
def test_the_default_is_no(key: str) -> None:
    assert chosen(choices(approval(OFFER)), key) == "n"


@pytest.mark.parametrize("key", ["", " ", "z", "s", "a", "\t", "[", "\x00"])
def test_other_keys_answer_nothing(key: str) -> None:
    assert chosen(choices(approval()), key) == ""


@pytest.mark.parametrize("width", range(19, 130, 7))
def test_choices_break_between_words(width: int) -> None:
    offered = choices(approval(OFFER))
    rows = prompt(offered, width)
    assert all(len(row) < width for row in rows)
    assert " ".join(" ".join(rows).split()) == " ".join(choice.text for choice in offered)
