"""Tool use for servers whose model was taught none: one JSON object an answer, kept in shape by a JSON schema.

Rewrites a request so that it offers no tools: they stand in the system text, calls are the assistant's JSON, results
are what the user says next. The bytes come from the chat encoder: so the prefix is stable and a step costs what it
adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.messages import Assistant, Entry, Step, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import Dialect
from agenyx.llm.encode import wire_args, wire_name
from agenyx.llm.request import Request

CONVERSATIONS = 4  # as many as the chat encoder keeps
SMALL_STRING = 2_000  # characters, for models whose whole answer is about 500 tokens
HINT = "If this result completes the request, give final_answer now. Otherwise use the next tool."

_RULES = """To use a tool, answer with only this JSON: {"tool": "<tool name>", "arguments": {<arguments>}}
Use one tool at a time and wait for its result.
When the request is done, or needs no tool, answer with only this JSON: {"final_answer": "<your answer to the user>"}"""


class SchemaEncoder:
    """Encodes requests of any conversation, like ChatEncoder.

    `cap` limits each string that the model may write, in characters, so that a small model that repeats itself comes to
    an end; 0 for no limit. The decoder has to know it too.
    """

    def __init__(self, dialect: Dialect, binding: str = "", cap: int = 0) -> None:
        self._chat = ChatEncoder(dialect, binding)
        self._cap = cap
        self._known: list[_History] = []
        self._format: tuple[Sequence[ToolSpec], bytes, str] | None = None

    def encode(self, request: Request) -> bytes:
        """The whole body."""
        for history in self._known:
            if history.continues(request):
                self._known.remove(history)
                break
        else:
            history = _History(request.tools, _example(request.tools) if self._cap else ())
        self._known.append(history)
        del self._known[:-CONVERSATIONS]
        if self._format is None or self._format[0] != request.tools:
            self._format = (request.tools, response_format(request.tools, self._cap), tools_text(request.tools))
        _, shape, text = self._format
        plain = replace(request, tools=(), system=(*request.system, text), entries=history.extend(request.entries))
        return b"".join((b'{"response_format":', shape, b",", self._chat.encode(plain)[1:]))


class _History:
    """One conversation so far, and what it was rewritten to."""

    def __init__(self, tools: Sequence[ToolSpec], example: Sequence[Entry]) -> None:
        self._tools = tools
        self._entries: list[Entry] = []
        # The example shows when to end; a small model did worse with the hint on top of it.
        self._hint = "" if example else HINT
        self._plain = [plain for entry in example for plain in _plain(entry, "")]

    def continues(self, request: Request) -> bool:
        count = len(self._entries)
        entries = request.entries
        return request.tools == self._tools and len(entries) >= count and list(entries[:count]) == self._entries

    def extend(self, entries: Sequence[Entry]) -> list[Entry]:
        for entry in entries[len(self._entries) :]:
            self._plain += _plain(entry, self._hint)
            self._entries.append(entry)
        return self._plain


def _plain(entry: Entry, hint: str) -> list[Entry]:
    return _step(entry, hint) if isinstance(entry, Step) else [entry]


def _example(tools: Sequence[ToolSpec]) -> Sequence[Entry]:
    from agenyx.llm.schema_example import EXAMPLE, TOOLS

    return EXAMPLE if {tool.name for tool in tools} >= TOOLS else ()


def _step(step: Step, hint: str) -> list[Entry]:
    """A response and its results as one says them in this protocol; several calls become as many exchanges."""
    assistant = step.assistant
    if not assistant.calls:
        answer = json.encode({"final_answer": json.scrub(assistant.text)})
        return [_said(f'{{"final_answer": {answer.partition(b":")[2].decode()}')]
    said: list[Entry] = []
    before = f"{assistant.text}\n\n" if assistant.text.strip() else ""  # only other protocols talk beside a call
    for call, result in zip(assistant.calls, step.results, strict=True):
        said += [_said(before + _call(call)), _result(call, result, hint)]
        before = ""
    return said


def _said(text: str) -> Step:
    return Step(Assistant((Text(text),), "end"))


def _call(call: ToolCall) -> str:
    """As models write it, with spaces: then the server finds its own answer again when it reads the history."""
    return f'{{"tool": "{wire_name(call.name)}", "arguments": {wire_args(call.args)}}}'


def _result(call: ToolCall, result: ToolResult, hint: str) -> User:
    how = "Result" if result.status == "ok" else f"Result ({result.status.replace('_', ' ')})"
    label = f"{how} of {wire_name(call.name)}:\n"
    match result.content:
        case (Text(text=text), *rest):
            blocks = (Text(label + text), *rest)
        case rest:
            blocks = (Text(label), *rest)
    return User((*blocks, Text(hint)) if hint else blocks)


# --- the head --------------------------------------------------------------------------------------------------------


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """What the system text says about the tools and about the protocol."""
    lines = [f"- {wire_name(tool.name)}({', '.join(_parameters(tool.schema))}): {tool.description}" for tool in tools]
    return "\n".join(("Tools:", *lines, "", _RULES)) if lines else _RULES.splitlines()[-1]


def _parameters(schema: dict[str, Any]) -> list[str]:
    required = schema.get("required", ())
    return [name if name in required else f"{name}?" for name in schema.get("properties", {})]


def response_format(tools: Sequence[ToolSpec], cap: int = 0) -> bytes:
    """The value of `response_format`: one alternative a tool, and the final answer."""
    final = {"type": "string"}
    shapes = [
        *(
            _object({"tool": {"const": wire_name(tool.name)}, "arguments": tool.schema or _object({})})
            for tool in tools
        ),
        _object({"final_answer": final}),
    ]
    schema: Any = {"anyOf": shapes}
    if cap:
        schema = _capped(schema, cap)
    return json.encode(
        {"type": "json_schema", "json_schema": {"name": "agenyx_step", "strict": True, "schema": schema}}
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE = ("items", "additionalProperties", "not")


def _capped(schema: Any, cap: int) -> Any:
    """The schema with a longest length on every free string. Looks only where schemas stand, not at names or values."""
    if not isinstance(schema, dict):
        return schema
    node = dict(cast("dict[str, Any]", schema))
    for key in _MAPS:
        if isinstance(node.get(key), dict):
            node[key] = {name: _capped(inner, cap) for name, inner in cast("dict[str, Any]", node[key]).items()}
    for key in _LISTS:
        if isinstance(node.get(key), list):
            node[key] = [_capped(inner, cap) for inner in cast("list[Any]", node[key])]
    for key in _ONE:
        if key in node:
            node[key] = _capped(node[key], cap)
    kind = node.get("type")
    text = kind == "string" or (isinstance(kind, list) and "string" in kind)
    if text and not node.keys() & {"enum", "const", "pattern", "format"}:
        limit = node.get("maxLength")
        node["maxLength"] = min(limit, cap) if isinstance(limit, int) else cap
    return node
