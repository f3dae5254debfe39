"""Prompts of servers as commands: how what is typed becomes their arguments."""

from __future__ import annotations

import pytest

from agenyx.app.mcp_person import arguments
from agenyx.core.errors import UsageError
from agenyx.ext.mcp.model import PromptArgument, PromptInfo

CITY, STATE = PromptArgument("city", required=True), PromptArgument("state")
PROMPT = PromptInfo("weather", "", (CITY, STATE))


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("Rome", {"city": "Rome"}),
        ("Rome Lazio", {"city": "Rome", "state": "Lazio"}),
        ("'New York' NY", {"city": "New York", "state": "NY"}),
        ("Rome the old one", {"city": "Rome", "state": "the old one"}),
        ("state=NY city='New York'", {"city": "New York", "state": "NY"}),
        ("state=Lazio Rome", {"city": "Rome", "state": "Lazio"}),
        ("a=b", {"city": "a=b"}),
        ("it's", {"city": "it's"}),
    ],
)
def test_words_in_their_order_or_by_name(typed: str, given: dict[str, str]) -> None:
    assert arguments(PROMPT, typed) == given


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UsageError) as error:
        arguments(PROMPT, "state=NY")
    assert "needs city" in error.value.message and "city=..." in error.value.fix


def test_a_prompt_without_arguments_takes_none() -> None:
    assert arguments(PromptInfo("plain"), "x y") == {}
