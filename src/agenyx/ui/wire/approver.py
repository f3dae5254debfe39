"""Asks the host about a call: `can_use_tool` out, a Decision in. Whatever is not clearly a yes is a no."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

from agenyx.agent.ports import Approver
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Inquiry
from agenyx.core.tty import safe
from agenyx.tools.answers import filled
from agenyx.ui.wire.asks import Asks, HostError
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.outbound import JsonObject
from agenyx.ui.wire.results import arguments

_PLACES = {"session": "session", "userSettings": "saved", "localSettings": "saved", "projectSettings": "saved"}
_PREVIEW = 4_000  # characters


class WireApprover:
    """`dialect` is asked at each question. Questions that come before there is a conversation go to `other`, which is
    asked as well while `asks_host` says no. `mode` changes the permission mode; it raises AgenyxError."""

    def __init__(
        self,
        asks: Asks,
        other: Approver,
        dialect: Callable[[], Dialect],
        asks_host: Callable[[], bool],
        mode: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._asks, self._other, self._dialect, self._host = asks, other, dialect, asks_host
        self._mode, self._clock = mode, clock

    async def decide(self, approval: Approval) -> Decision:
        if not approval.call.id or not self._host():
            return await self._other.decide(approval)
        dialect, inquiry = self._dialect(), approval.effects.inquiry
        if dialect == "agentx" and inquiry is not None and inquiry.argument == "answers":
            return await self._interview(approval, inquiry)
        try:
            answer = await self._asks.ask(question(approval, dialect), person=True)
        except HostError as error:
            return self._no(approval, f"the request failed: {error.message}")
        if dialect == "agentx" and (wrong := _strict(answer)):
            return self._no(approval, f"the request failed: {wrong}")
        match answer.get("behavior"):
            case "allow":
                return self._yes(approval, answer)
            case "deny":
                message = answer.get("message")
                said = message if isinstance(message, str) else ""
                return self._no(approval, said, stop=answer.get("interrupt") is True)
            case other:
                return self._no(approval, f"the request failed: the host's behavior is {str(other)[:40]!r}")

    async def _interview(self, approval: Approval, inquiry: Inquiry) -> Decision:
        """A question of the model, as AgentX hosts get it: the answer maps each question to what was chosen."""
        asked = [
            {
                "question": one.text,
                "header": one.header,
                "options": [{"label": option.label, "description": option.description} for option in one.options],
                "multiSelect": one.many,
            }
            for one in inquiry.questions
        ]
        try:
            answer = await self._asks.ask({"subtype": "ask_user_question", "questions": asked}, person=True)
            args = filled(inquiry, approval.call.args, answer.get("answers", answer))
        except HostError as error:
            return self._no(approval, f"the request failed: {error.message}")
        except ValueError as error:
            return self._no(approval, f"the request failed: {error}")
        return Decision(approval.id, "allow", args=args, by="host", at=self._clock())

    def _no(self, approval: Approval, message: str, *, stop: bool = False) -> Decision:
        return Decision(approval.id, "deny", message=json.scrub(message), stop=stop, by="host", at=self._clock())

    def _yes(self, approval: Approval, answer: JsonObject) -> Decision:
        asked = arguments(approval.call.args if approval.args is None else approval.args)
        given = answer.get("updatedInput", asked)
        if not isinstance(given, dict):
            return self._no(approval, "the request failed: updatedInput is no object")
        changed = cast("JsonObject", given)
        if not changed and self._dialect() == "agentx":
            changed = asked
        args = None if changed == asked else json.encode(changed).decode()
        scope = self._scope(approval, answer.get("updatedPermissions"))
        return Decision(approval.id, "allow", scope=scope, args=args, by="host", at=self._clock())

    def _scope(self, approval: Approval, updates: object) -> Any:
        """For how long the yes holds. Only what was offered is granted; a mode is taken over; the rest is not."""
        scope, offered = "once", [_rule(rule.tool, rule.pattern) for rule in approval.verdict.offer]
        for update in cast("list[Any]", updates) if isinstance(updates, list) else []:
            members = cast("JsonObject", update) if isinstance(update, dict) else {}
            place = _PLACES.get(str(members.get("destination")), "")
            match members.get("type"):
                case "addRules" if members.get("behavior") == "allow" and place and offered:
                    rules = members.get("rules")
                    if isinstance(rules, list) and all(rule in cast("list[Any]", rules) for rule in offered):
                        scope = place
                case "setMode" if place == "session":
                    self._mode(str(members.get("mode")))
                case _:
                    pass
        return scope


def question(approval: Approval, dialect: Dialect) -> JsonObject:
    """The request."""
    call, effects, verdict = approval.call, approval.effects, approval.verdict
    request: JsonObject = {
        "subtype": "can_use_tool",
        "tool_name": call.name,
        "input": arguments(call.args if approval.args is None else approval.args),
        "tool_use_id": call.id,
        "description": safe(effects.preview)[:_PREVIEW] or f"{call.name} asks for permission",
    }
    ruled = any(reason.source == "rule" for reason in verdict.reasons)
    if not ruled or dialect == "sdk":
        request["decision_reason"] = verdict.text
    if dialect == "agentx":
        return request
    if approval.agent:
        request["agent_id"] = approval.agent
    blocked = next((reason.part for reason in verdict.reasons if reason.source == "path" and reason.part), "")
    if blocked:
        request["blocked_path"] = blocked
    if verdict.offer:
        rules = [_rule(rule.tool, rule.pattern) for rule in verdict.offer]
        suggestion = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
        request["permission_suggestions"] = [suggestion]
    return request


def _rule(tool: str, pattern: str) -> JsonObject:
    return {"toolName": tool, "ruleContent": pattern} if pattern else {"toolName": tool}


def _strict(answer: JsonObject) -> str:
    """What is wrong with the answer of an AgentX host, "" for nothing (reference: AgentX §7.5)."""
    for name in ("updatedInput", "toolUseID", "decisionClassification", "interrupt"):
        if name in answer and answer[name] is None:
            return f"{name} is null"
    match answer.get("behavior"):
        case "allow":
            if not isinstance(answer.get("updatedInput"), dict):
                return "updatedInput is missing"
            updates = answer.get("updatedPermissions")
            if isinstance(updates, list) and any(isinstance(one, dict) and "type" in one for one in updates):  # pyright: ignore[reportUnknownVariableType]
                return "updatedPermissions are not available"
        case "deny":
            if not isinstance(answer.get("message"), str) or not answer["message"]:
                return "a denial needs a message"
            if not isinstance(answer.get("interrupt", False), bool):
                return "interrupt is neither true nor false"
        case _:
            return "behavior is neither allow nor deny"
    return ""
