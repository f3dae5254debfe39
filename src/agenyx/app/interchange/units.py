"""Nodes to what a conversation is made of: prompts, whole steps, summaries; still a tree. Pure.

A response that was written in several lines is one step; results find their calls wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from agenyx.app.interchange.blocks import Json, items, words
from agenyx.app.interchange.reading import Node, Read
from agenyx.core.limits import CALLS_PER_RESPONSE
from agenyx.core.messages import Origin

_HARNESS = ("[Request interrupted", "<local-command-", "<bash-", "<system-reminder>")
"""How texts begin that a program said in the person's place."""


_LINES = 2 * CALLS_PER_RESPONSE  # of one response; what is more begins another one


class Outcome(Struct):
    """The result of one call, and what the line says about it beside the message."""

    block: Json
    told: Any


class Unit(Struct):
    """`parent` is the number of another unit, -1 for none. `content` is in the words of the Messages API.

    Of a step: `model`, `stop`, `usage` and `id` as its last line has them, `results` by the id of the call there.
    """

    kind: Literal["user", "step", "summary"]
    parent: int
    at: float
    content: list[Json]
    origin: Origin = "typed"
    key: tuple[str, str] = ("", "")
    model: str = ""
    stop: Any = None
    usage: Any = None
    results: dict[str, Outcome] = {}
    mark: Json = {}
    uuids: list[str] = []

    @property
    def calls(self) -> list[str]:
        return [words(block.get("id")) for block in self.content if block.get("type") == "tool_use"]

    @property
    def says(self) -> bool:
        """Whether anything of it can be taken over."""
        return any(_says(block) for block in self.content)


def _says(block: Json) -> bool:
    match block.get("type"):
        case "text" | "thinking" as kind:
            return bool(words(block.get(kind)))
        case other:
            return other != "redacted_thinking"


class Told(Struct):
    """All units, each behind its parent. `leaf` is the number of the one where the conversation is."""

    units: list[Unit]
    leaf: int


def units(found: Read, side: str = "") -> Told:
    """Of the main conversation, or of one subagent."""
    nodes = [node for node in found.nodes if node.side == side]
    making = _Making(found)
    for node in _ordered(nodes):
        making.take(node)
    of = making.of
    chosen = [node for node in nodes if found.leaf and node.uuid == found.leaf]
    chosen = chosen or [node for node in nodes if node.kind in ("user", "assistant") and of[node.place] >= 0]
    return Told(making.units, of[chosen[-1].place] if chosen else -1)


class _Making:
    """`of` is the unit that a node became part of, or that it follows where it became nothing."""

    def __init__(self, found: Read) -> None:
        self._found = found
        self.units: list[Unit] = []
        self.of: dict[int, int] = {-1: -1}
        self._marks: dict[int, Json] = {}
        self._calls: dict[str, int] = {}  # the latest step that has a call of this id

    def take(self, node: Node) -> None:
        """The node behind its parent."""
        above = self.of[node.parent]
        match node.kind:
            case "assistant":
                above = self._step(node, above)
            case "user":
                above = self._user(node, above)
            case "mark":
                self._marks[node.place] = node.mark
            case _:
                pass
        self.of[node.place] = above

    def _add(self, node: Node, unit: Unit) -> int:
        unit.uuids = [node.uuid]
        self.units.append(unit)
        return len(self.units) - 1

    def _step(self, node: Node, above: int) -> int:
        message, blocks = node.message, items(node.message.get("content"))
        if not blocks:
            return above
        key = words(message.get("id")), node.request
        before = self.units[above] if above >= 0 else None
        if before is not None and before.kind == "step" and key[0] and before.key == key and len(before.uuids) < _LINES:
            number, unit = above, before
            unit.uuids.append(node.uuid)
        else:
            unit = Unit("step", above, node.at, [], key=key, model=words(message.get("model"))[:200], results={})
            number = self._add(node, unit)
        calls = set(unit.calls)
        for block in blocks:
            if block.get("type") == "tool_use":
                call = words(block.get("id"))
                if call in calls or len(calls) >= CALLS_PER_RESPONSE:
                    self._found.count("calls that repeat the id of another one, or are too many")
                    continue
                calls.add(call)
                self._calls[call] = number
            unit.content.append(block)
        unit.stop, unit.usage = message.get("stop_reason") or unit.stop, message.get("usage") or unit.usage
        return number

    def _user(self, node: Node, above: int) -> int:
        blocks = items(node.message.get("content"))
        text = next((words(block.get("text")) for block in blocks if block.get("type") == "text"), "")
        if node.summary:
            unit = Unit("summary", above, node.at, blocks, mark=self._marks.get(node.parent, {}))
            return self._add(node, unit) if text.strip() else above
        results = [block for block in blocks if block.get("type") == "tool_result"]
        here = above
        for block in results:
            here = self._result(node, block, above)
        rest = [block for block in blocks if block.get("type") != "tool_result"]
        rest = [block for block in rest if block.get("type") != "text" or words(block.get("text")).strip()]
        if not rest:
            return here
        by_harness = node.meta or bool(results) or text.startswith(_HARNESS)
        return self._add(node, Unit("user", here, node.at, rest, "notice" if by_harness else "typed"))

    def _result(self, node: Node, block: Json, above: int) -> int:
        """Give the result to its call: that of the step it follows, else the latest of this id."""
        call = words(block.get("tool_use_id"))
        near = above >= 0 and call in self.units[above].calls
        number = above if near else self._calls.get(call, -1)
        if number < 0 or call in (unit := self.units[number]).results:
            self._found.count("results without a call" if number < 0 else "results that repeat another one")
            return above
        unit.results[call] = Outcome(block, node.told)
        unit.uuids.append(node.uuid)
        return above


def _ordered(nodes: Sequence[Node]) -> list[Node]:
    """Each behind its parent, else as in the file."""
    below: dict[int, list[Node]] = {}
    for node in nodes:
        below.setdefault(node.parent, []).append(node)
    found, waiting = list[Node](), list(reversed(below.get(-1, [])))
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += reversed(below.get(node.place, ()))
    return found
