"""The set of tools: names, sizes, arguments."""

from __future__ import annotations

import json as reference
from typing import get_args

import pytest

from agenyx.agent.prompt import make_prefix, system_sections
from agenyx.core import json
from agenyx.core.tools import ToolSet
from agenyx.llm.request import Options
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import SETS, Registry, parse_args


def size(registry: Registry) -> int:
    tools = [
        {"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.schema}}
        for s in registry.specs()
    ]
    return len(reference.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())


def test_the_full_set_in_its_order() -> None:
    registry = Registry(builtin_tools())
    files = ["Read", "Write", "Edit", "MultiEdit", "LS", "Picker", "Glob", "Grep", "Bash", "WebFetch"]
    others = ["GitStatus", "GitDiff", "GitLog", "GitCommit", "TodoWrite"]
    tasks = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop"]
    assert registry.names() == [*files, *others, *tasks, "ToolResultRead", "AskUserQuestion"]
    registry.retire("TodoWrite")  # as a conversation does
    assert "TodoWrite" not in registry.names() and registry.find("todo_write") is not None
    assert size(registry) < 11_800
    assert size(registry) + len("\n".join(system_sections("full"))) < 16_000


def test_the_core_set_is_files_and_the_shell() -> None:
    registry = Registry(builtin_tools(), "core")
    assert registry.names() == ["Read", "Write", "Edit", "LS", "Glob", "Grep", "Bash"]
    assert size(registry) < 5_500
    bash = next(spec for spec in registry.specs() if spec.name == "Bash")
    assert "timeout" in bash.schema["properties"]
    assert "run_in_background" not in bash.schema["properties"]  # the tools that it needs are not in this set


def test_the_sets_that_a_person_can_choose() -> None:
    assert set(SETS.values()) == set(get_args(ToolSet)) and SETS["default"] == "full"
    sizes = [size(Registry(builtin_tools(), SETS[name])) for name in ("default", "core", "small")]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_no_schema_shows_the_model_which_sets_there_are() -> None:
    for name in ("full", "core", "small"):
        for spec in Registry(builtin_tools(), name).specs():  # type: ignore[arg-type]
            assert "sets" not in reference.dumps(spec.schema)


def test_the_small_set_is_small() -> None:
    registry = Registry(builtin_tools(), "small")
    assert registry.names() == ["Read", "Write", "Edit", "Grep", "Bash"]
    assert size(registry) + len("\n".join(system_sections("small"))) < 2_500


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        *[(name, name.title()) for name in ("read", "write", "edit", "glob", "grep", "bash")],
        ("ls", "LS"),
        ("list_files", "LS"),
        ("read_file", "Read"),
        ("write_file", "Write"),
        ("edit_file", "Edit"),
        ("run_command", "Bash"),
        ("READ", "Read"),
        ("multi_edit", "MultiEdit"),
        ("picker", "Picker"),
        ("fetch", "WebFetch"),
        ("web_fetch", "WebFetch"),
        ("git_status", "GitStatus"),
        ("git_diff", "GitDiff"),
        ("git_log", "GitLog"),
        ("git_commit", "GitCommit"),
        ("todo_write", "TodoWrite"),
        ("BashOutput", "TaskOutput"),
        ("AgentOutputTool", "TaskOutput"),
        ("KillShell", "TaskStop"),
    ],
)
def test_names_of_other_agents_find_our_tools(theirs: str, ours: str) -> None:
    found = Registry(builtin_tools()).find(theirs)
    assert found is not None
    assert found.name == ours


def test_names_and_aliases_are_unique() -> None:
    names = [name.casefold() for tool in builtin_tools() for name in {tool.name.casefold(), *tool.aliases}]
    assert len(names) == len(set(names))


def test_schemas_are_closed_objects_and_arguments_are_checked_by_them() -> None:
    registry = Registry(builtin_tools())
    for spec in registry.specs():
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert spec.description
    read = registry.find("Read")
    assert read is not None
    assert parse_args(read, '{"file_path": "a", "limit": "5"}').limit == 5  # type: ignore[attr-defined]
    for wrong in (
        '{"file_path": 1}',
        '{"file_path": "a", "limit": 0}',
        "{}",
        "[]",
        "null",
        '{"file_path": "a", "x": 1}',
    ):
        with pytest.raises(json.JsonError):
            parse_args(read, wrong)


def test_the_head_is_the_same_for_every_session() -> None:
    def made() -> str:
        return make_prefix(Options(), system_sections("full"), Registry(builtin_tools()).specs()).hash

    assert made() == made()
