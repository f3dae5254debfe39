"""Lines of a transcript that somebody else wrote, as nodes of a tree. Pure; nothing that stands in them is believed.

What is no line is counted and passed over. A line whose parent is missing follows the line before it; a circle is
opened at its first line.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, cast

from msgspec import Struct

from agenyx.app.interchange.blocks import Json, words
from agenyx.core import json

Kind = Literal["user", "assistant", "mark", "other"]
_LATEST = 4_102_444_800.0  # the year 2100
_ID_CHARS = 200
UNNAMED = "?"  # a subagent whose lines do not say which one it is


class Node(Struct):
    """One line. `place` counts from 0; `parent` is a place, -1 for none. `side` names the subagent that it is of.

    `message` and `told` (what a line says of a result beside it) may be anything; `mark` is what a mark of compaction
    says of itself.
    """

    place: int
    uuid: str
    above: str
    kind: Kind
    at: float
    side: str = ""
    request: str = ""
    message: Json = {}
    told: Any = None
    meta: bool = False
    summary: bool = False
    mark: Json = {}
    parent: int = -1


class Read(Struct):
    """`leaf` is the uuid of the line at which the conversation is, "" for the last one; `title` as a person gave it.

    `problems` are kinds of damage and how often each was there.
    """

    nodes: list[Node]
    title: str = ""
    leaf: str = ""
    cwd: str = ""
    problems: dict[str, int] = {}

    def count(self, what: str) -> None:
        self.problems[what] = self.problems.get(what, 0) + 1


def read(rows: Iterable[bytes | None], *, alone: bool = False) -> Read:
    """The lines of one file, in order; None stands for one that was too large. `alone`: it is all one conversation."""
    found = Read([], problems={})
    places: dict[str, int] = {}
    titles: dict[str, str] = {}
    for row in rows:
        line = _decoded(row, found)
        if line is None:
            continue
        match line.get("type"):
            case "custom-title" | "ai-title" | "summary" as kind:
                name = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}[kind]
                titles[kind] = words(line.get(name)) or titles.get(kind, "")
            case "last-prompt":
                found.leaf = words(line.get("leafUuid")) or found.leaf
            case _:
                node = _node(line, len(found.nodes), found)
                if node is not None:
                    node.side = "" if alone else node.side
                    if node.uuid in places:
                        found.count("lines that repeat an earlier one")
                        continue
                    places[node.uuid] = node.place
                    found.nodes.append(node)
        if not found.cwd:
            found.cwd = words(line.get("cwd"))
    found.title = titles.get("custom-title") or titles.get("ai-title") or titles.get("summary") or ""
    _join(found, places)
    return found


def _decoded(row: bytes | None, found: Read) -> Json | None:
    if row is None:
        found.count("lines that are too large")
        return None
    if not row.strip():
        return None
    try:
        value: Any = json.decode(row)
    except json.JsonError:
        value = None
    if not isinstance(value, dict):
        found.count("damaged lines")
        return None
    return cast("Json", value)


def _node(line: Json, place: int, found: Read) -> Node | None:
    kind = line.get("type")
    uuid = words(line.get("uuid"))[:_ID_CHARS]
    before = found.nodes[-1].at if found.nodes else time.time()
    node = Node(place, uuid or f"line {place}", _above(line, found, uuid), "other", _time(line, before))
    message: Any = line.get("message")
    if line.get("isSidechain") is True:
        node.side = words(line.get("agentId"))[:_ID_CHARS].lstrip(UNNAMED) or UNNAMED
    if kind in ("user", "assistant") and isinstance(message, dict):
        node.kind = "user" if kind == "user" else "assistant"
        node.message = cast("Json", message)
        node.request, node.told = words(line.get("requestId"))[:_ID_CHARS], line.get("toolUseResult")
        node.meta, node.summary = line.get("isMeta") is True, line.get("isCompactSummary") is True
    elif kind == "system" and line.get("subtype") == "compact_boundary":
        metadata: Any = line.get("compactMetadata")
        node.kind, node.mark = "mark", cast("Json", metadata) if isinstance(metadata, dict) else {}
    elif not uuid:
        return None  # facts that are no part of the conversation
    return node


def _above(line: Json, found: Read, uuid: str) -> str:
    """The uuid of the line that this one follows. A mark of compaction says so by another name."""
    parent = words(line.get("parentUuid")) or words(line.get("logicalParentUuid"))
    if not parent and not uuid and found.nodes:
        return found.nodes[-1].uuid
    return parent[:_ID_CHARS]


def _time(line: Json, before: float) -> float:
    text = words(line.get("timestamp"))[:40]
    try:
        when = datetime.fromisoformat(text)
        seconds = when.timestamp() if when.tzinfo else before
    except (ValueError, OverflowError, OSError):
        return before
    return seconds if 0 <= seconds <= _LATEST else before


def _join(found: Read, places: dict[str, int]) -> None:
    """Find the parent of each node, open circles, and tell subagents without a name apart."""
    nodes, latest = found.nodes, dict[str, int]()
    for node in nodes:
        node.parent = places.get(node.above, -1) if node.above else -1
        if node.parent >= 0 and nodes[node.parent].side != node.side:
            node.parent = -1 if node.side else latest.get("", -1)  # a subagent begins by itself
        elif node.above and (node.parent < 0 or node.parent == node.place):
            found.count("lines that follow one that is not there")
            node.parent = latest.get(node.side, -1) if node.side != UNNAMED else -1
        latest[node.side] = node.place
    done = bytearray(len(nodes))  # 1: on the way that is gone now, 2: leads to a beginning
    for node in nodes:
        way, at = list[int](), node.place
        while at >= 0 and not done[at]:
            done[at] = 1
            way.append(at)
            at = nodes[at].parent
        if at >= 0 and done[at] == 1:
            found.count("lines that follow each other in a circle")
            circle = way[way.index(at) :]
            nodes[min(circle)].parent = -1
        for one in reversed(way):
            done[one], above = 2, nodes[one].parent
            if nodes[one].side.startswith(UNNAMED):
                nodes[one].side = nodes[above].side if above >= 0 else f"{UNNAMED}{one}"
