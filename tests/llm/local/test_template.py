"""The chat template, rendered as the server renders it: what the model reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jinja2
import pytest

from agenyx.agent.prompt import system_sections
from agenyx.core import json
from agenyx.llm.local.server import TEMPLATE
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.spec import describe


@pytest.fixture
def render() -> Any:
    with open(TEMPLATE, encoding="utf-8") as file:
        template = jinja2.Environment().from_string(file.read())

    def render(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> str:
        return template.render(messages=messages, tools=tools, add_generation_prompt=True)

    return render


def tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": value} for key, value in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": f"{name}s it.", "parameters": schema}}


TOOLS = [tool("Read", file_path="string"), tool("Edit", file_path="string", old_string="string")]
SYSTEM = {"role": "system", "content": "You are Agenyx."}
ASK = {"role": "user", "content": "Fix it."}


def call(arguments: object, content: str | None = None) -> dict[str, Any]:
    function = {"name": "Read", "arguments": arguments}
    return {"role": "assistant", "content": content, "tool_calls": [{"id": "1", "function": function}]}


def test_tools_stand_in_the_system_text_one_a_line(render: Any) -> None:
    text = render([SYSTEM, ASK], TOOLS)
    system = text.partition("<|im_end|>")[0]
    assert system.startswith("<|im_start|>system\nYou are Agenyx.\n")
    assert "\n- Read(file_path): Reads it.\n- Edit(file_path, old_string): Edits it.\n" in system
    assert '```json\n{"name": "<tool name>", "arguments": {<arguments>}}\n```' in system
    assert text.endswith("<|im_end|>\n<|im_start|>user\nFix it.<|im_end|>\n<|im_start|>assistant\n")


def test_every_call_of_the_example_is_json_for_a_tool_of_the_small_set(render: Any) -> None:
    specs = {spec.name: spec for spec in (describe(t, "small") for t in builtin_tools()) if "small" in spec.sets}
    text = render([SYSTEM, ASK], TOOLS)
    fences = [part.partition("\n```")[0] for part in text.split("assistant\n```json\n")[1:]]
    assert len(fences) >= 5
    for fence in fences:
        value = json.decode(fence)
        assert set(value["arguments"]) == set(specs[value["name"]].schema["required"])


def test_without_tools_there_is_no_word_of_them(render: Any) -> None:
    text = render([SYSTEM, ASK])
    assert text == (
        "<|im_start|>system\nYou are Agenyx.<|im_end|>\n<|im_start|>user\nFix it.<|im_end|>\n<|im_start|>assistant\n"
    )
    assert render([ASK]).startswith("<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")


@pytest.mark.parametrize("arguments", ['{"file_path": "a.py"}', {"file_path": "a.py"}])
def test_calls_and_results_are_replayed(render: Any, arguments: object) -> None:
    turn = [SYSTEM, ASK, call(arguments), {"role": "tool", "tool_call_id": "1", "content": "     1→x = 1"}]
    assert render(turn, TOOLS).endswith(
        "<|im_start|>user\nFix it.<|im_end|>\n"
        '<|im_start|>assistant\n```json\n{"name": "Read", "arguments": {"file_path": "a.py"}}\n```<|im_end|>\n'
        "<|im_start|>user\nResult of Read:\n     1→x = 1<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_text_before_a_call_is_kept(render: Any) -> None:
    assert "assistant\nI look first.\n```json\n{" in render([SYSTEM, ASK, call("{}", "I look first.")], TOOLS)


def test_a_conversation_only_grows(render: Any) -> None:
    result = {"role": "tool", "tool_call_id": "1", "content": "done"}
    turns = [SYSTEM, ASK, call("{}"), result, {"role": "assistant", "content": "Done."}, ASK, call("{}"), result]
    steps = [render(turns[:count], TOOLS).removesuffix("<|im_start|>assistant\n") for count in (2, 4, 6, 8)]
    for shorter, longer in pairwise(steps):
        assert longer.startswith(shorter)


def test_the_prompt_and_schemas_of_the_small_set_are_small() -> None:
    specs = [spec for spec in (describe(t, "small") for t in builtin_tools()) if "small" in spec.sets]
    assert sorted(spec.name for spec in specs) == ["Bash", "Edit", "Grep", "Read", "Write"]
    schemas = json.encode([(spec.name, spec.description, spec.schema) for spec in specs])
    assert len(schemas) + len("\n\n".join(system_sections("small")).encode()) < 2500


def test_all_that_is_read_before_the_first_prompt_is_small(render: Any) -> None:
    specs = [spec for spec in (describe(t, "small") for t in builtin_tools()) if "small" in spec.sets]
    tools = [
        {"function": {"name": spec.name, "description": spec.description, "parameters": spec.schema}} for spec in specs
    ]
    system = {"role": "system", "content": "\n\n".join(system_sections("small"))}
    assert len(render([system], tools).encode()) < 3500
