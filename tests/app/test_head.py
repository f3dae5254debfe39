"""When a session's stored head changes: for another model, another effort, another set of tools; and else never."""

from __future__ import annotations

from agenyx.agent.prompt import make_prefix
from agenyx.app.head import renewed
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options

READ, EDIT = ToolSpec("Read", "Reads.", {}), ToolSpec("Edit", "Edits.", {})
STORED = make_prefix(Options(max_output=64_000, effort="high"), ("Be brief.",), (READ, EDIT))


def test_what_holds_is_replayed_as_it_was_stored() -> None:
    assert renewed(STORED, Options(max_output=64_000, effort="high"), None, moved=False) is None
    other_version = Options(max_output=128_000, effort="high")
    assert renewed(STORED, other_version, None, moved=False) is None
    described_anew = (ToolSpec("Read", "Reads a file.", {}), EDIT)
    assert renewed(STORED, STORED.options, described_anew, moved=False) is None


def test_another_effort() -> None:
    head = renewed(STORED, Options(max_output=128_000), None, moved=False)
    assert head is not None and head.options == Options(max_output=64_000)
    assert head.cause == "the reasoning effort changed from high to the default"
    assert (head.system, head.tools) == (STORED.system, STORED.tools) and head.hash != STORED.hash


def test_another_model_brings_its_own_limits() -> None:
    head = renewed(STORED, Options(temperature=0.0, max_output=512, effort="high"), None, moved=True)
    assert head is not None and head.options == Options(temperature=0.0, max_output=512, effort="high")
    assert head.cause == "the model has other limits"
    assert renewed(STORED, STORED.options, None, moved=True) is None


def test_another_set_of_tools() -> None:
    head = renewed(STORED, STORED.options, (READ,), moved=False)
    assert head is not None and head.tools == (READ,) and head.options == STORED.options
    assert head.cause == "another set of tools was chosen"
