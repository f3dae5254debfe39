"""The records of a session as the lines of a transcript that other programs read. Pure.

The branch at the head stands last, as readers take the last line for where the conversation is. What has no place in
that layout (approvals, rules, checkpoints, the head of the requests) does not go out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from agenyx.app.interchange import blocks
from agenyx.core.ids import child_id
from agenyx.core.messages import Media, User
from agenyx.session.records import Binding, Compacted, Prompt, Record, Response, Result, Title
from agenyx.session.tree import Links

Line = dict[str, Any]
_START = -1


class Where(Struct, frozen=True):
    """What each line says of where it belongs. `session` is a UUID; `agent` names a subagent, "" for the main one."""

    session: str
    cwd: str
    version: str
    agent: str = ""


def lines(
    records: Sequence[Record], where: Where, bytes_of: Callable[[Media], bytes | None], spoken: frozenset[str]
) -> list[Line]:
    """All lines of one transcript. `spoken` are the calls whose subagents have a transcript of their own."""
    made, model, tails = list[Line](), "unknown", dict[int, str]()
    links, last, title, responses = Links(), "", "", {""}
    for record in records:
        links.add(record)
    of: dict[str, str] = {}  # the uuid of what a record became
    for place in ordered(links):
        record, above = records[place], tails.get(links.before[place], "")
        found: list[Line] = []
        match record.body:
            case Binding() as body:
                model = body.model
            case Prompt(user):
                found = [_prompt(user, bytes_of)]
            case Response() as body:
                if message := _response(body, record, model, body.response_id not in responses):
                    found = [message]
                responses.add(body.response_id)
            case Result(result):
                told = {"agentId": child_id(result.call)} if result.call in spoken else {}
                block: Line = {"type": "tool_result", "tool_use_id": result.call}
                block |= {"content": blocks.content(result.content, bytes_of), "is_error": result.status != "ok"}
                message = {"role": "user", "content": [block]}
                found = [{"type": "user", "message": message, "toolUseResult": {"status": result.status, **told}}]
            case Compacted() as body:
                found = _compacted(body, above, of)
            case Title(text):
                title = text
            case _:
                pass
        for number, line in enumerate(found):
            uuid = uuid_of(where.session, where.agent, record.id, str(number))
            begins = line.get("subtype") == "compact_boundary"
            made.append(_line(line, uuid, "" if begins else above, record.at, where))
            above = last = uuid
        of[record.id] = above
        tails[place] = above
    if made and not where.agent:
        made += list(_facts(where, title, tails.get(links.tip, ""), last, made))
    return made


def ordered(links: Links) -> list[int]:
    """The places of all records: each behind the one that it follows, the branch at the head last."""
    active = set(links.path(links.tip))
    children: dict[int, list[int]] = {}
    for place, before in enumerate(links.before):
        children.setdefault(before, []).append(place)
    found, waiting = list[int](), [_START]
    while waiting:
        place = waiting.pop()
        if place != _START:
            found.append(place)
        below = sorted(children.get(place, ()), key=lambda one: (one in active, one))
        waiting += reversed(below)
    return found


def _prompt(user: User, bytes_of: Callable[[Media], bytes | None]) -> Line:
    message = {"role": "user", "content": blocks.content(user.blocks, bytes_of)}
    meta = {"isMeta": True} if user.origin in ("notice", "hook") else {}
    return {"type": "user", "message": message, **meta}


def _response(body: Response, record: Record, model: str, own: bool) -> Line | None:
    """`own`: it has an id that no other one had. Readers take those with one id for parts of one, or for copies."""
    said = blocks.assistant_blocks(body.assistant)
    if not said:
        return None
    digest = hashlib.sha256(record.id.encode()).hexdigest()[:24]
    message: Line = {"id": body.response_id if own else f"msg_{digest}", "type": "message", "role": "assistant"}
    message |= {"model": body.assistant.model or model, "content": said}
    message |= {"stop_reason": blocks.STOPS[body.assistant.stop], "stop_sequence": None}
    message["usage"] = blocks.usage(body.usage)
    return {"type": "assistant", "message": message, "requestId": f"req_{digest}"}


def _compacted(body: Compacted, above: str, of: dict[str, str]) -> list[Line]:
    """A mark at which the chain begins anew, and the summary. What the model still has of before is named there."""
    metadata: Line = {"trigger": "manual" if body.by == "user" else "auto", "preTokens": body.before}
    if upto := of.get(body.upto):
        metadata["upto"] = upto
    if kept := [of[one] for one in body.kept if of.get(one)]:
        metadata["kept"] = kept
    boundary: Line = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    boundary |= {"level": "info", "logicalParentUuid": above or None, "compactMetadata": metadata}
    message = {"role": "user", "content": body.summary}
    summary: Line = {"type": "user", "message": message, "isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    return [boundary, summary]


def _line(line: Line, uuid: str, above: str, at: float, where: Where) -> Line:
    more: Line = {"agentId": where.agent} if where.agent else {}
    return {
        "parentUuid": above or None,
        "isSidechain": bool(where.agent),
        "userType": "external",
        "cwd": where.cwd,
        "sessionId": where.session,
        "version": where.version,
        "gitBranch": "",
        **more,
        **line,
        "uuid": uuid,
        "timestamp": stamp(at),
    }


def _facts(where: Where, title: str, head: str, last: str, made: Sequence[Line]) -> Iterator[Line]:
    """What readers look for at the end: the title that a person gave, and the head where it is no end of a branch."""
    if title:
        yield {"type": "custom-title", "customTitle": title, "sessionId": where.session}
    if head and head != last:
        prompts = (line for line in made if line["type"] == "user" and not line.get("isMeta"))
        texts = (line["message"]["content"] for line in prompts)
        prompt = next((text for text in texts if isinstance(text, str)), "")
        said = {"lastPrompt": title or prompt, "leafUuid": head, "sessionId": where.session}
        yield {"type": "last-prompt", **said}


def stamp(seconds: float) -> str:
    """A time in UTC, to the millisecond."""
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{rest:03d}Z"


def uuid_of(*parts: str) -> str:
    """A UUID that depends on these texts alone (version 8, RFC 9562)."""
    value = bytearray(hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16])
    value[6] = value[6] & 0x0F | 0x80
    value[8] = value[8] & 0x3F | 0x80
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
