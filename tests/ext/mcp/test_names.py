from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ext.mcp.names import server_slug, tool_names
from agenyx.policy.match import serves
from agenyx.policy.rules import parse_rule

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAMES = st.text(min_size=1, max_size=80) | st.from_regex(r"[a-zA-Z0-9_.-]{1,70}", fullmatch=True)


def test_plain_names_stay_as_they_are():
    assert server_slug("git-hub_2") == "git-hub_2"
    assert tool_names("git", ["git_status", "add-all"]) == {
        "git_status": "mcp__git__git_status",
        "add-all": "mcp__git__add-all",
    }


@pytest.mark.parametrize("name", ["my server", "a.b", "git_", "_git", "日本", "x" * 41, "a/b"])
def test_other_server_names_bear_a_hash(name):
    slug = server_slug(name)
    assert slug == server_slug(name) and re.fullmatch(r"[A-Za-z0-9-]([A-Za-z0-9_-]*)_[0-9a-f]{8}", slug)
    assert len(slug) <= 40


def test_long_names_get_a_stable_short_form():
    long = "a_very_long_name_of_a_tool_that_somebody_thought_was_a_good_idea_" * 2
    (name,) = tool_names("server", [long]).values()
    assert name == "mcp__server__a_very_long_name_of_a_tool_that_somebody_thou_dc57e7a3"[: len(name)] or len(name) == 64
    assert name.startswith("mcp__server__a_very_long") and len(name) == 64
    assert tool_names("server", ["other", long])[long] == name


def test_names_that_differ_in_letter_case_or_signs_only_are_told_apart():
    names = tool_names("s", ["Add", "add", "a.b", "a_b", "free"])
    assert len({name.casefold() for name in names.values()}) == 5
    assert names["free"] == "mcp__s__free" and names["add"] != "mcp__s__add"


@given(st.lists(NAMES, max_size=8), NAMES)
def test_every_name_is_one_that_models_and_rules_can_say(tools, server):
    slug = server_slug(server)
    assert "__" not in slug and not slug.endswith("_") and not slug.startswith("_")
    names = tool_names(slug, tools)
    assert set(names) == set(tools)
    assert len({name.casefold() for name in names.values()}) == len(set(tools))
    for name in names.values():
        assert ALLOWED.fullmatch(name)
        assert parse_rule(name, "allow", "user").tool == name
        assert serves(parse_rule(f"mcp__{slug}", "allow", "user").tool, name)
        assert name.split("__")[1] == slug and len(name.split("__")) == 3


@given(NAMES, NAMES, st.lists(NAMES, min_size=1, max_size=4))
def test_a_rule_for_one_server_or_tool_never_covers_another(one, other, tools):
    mine, theirs = server_slug(one), server_slug(other)
    for name in tool_names(mine, tools).values():
        assert serves(f"mcp__{theirs}", name) == (mine == theirs)
    names = list(tool_names(mine, tools).values())
    for name in names:
        assert [serves(name, also) for also in names] == [also == name for also in names]
