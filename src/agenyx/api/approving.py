"""Answers of a program to calls that need an approval, and the approver that asks it. Whatever is not a yes is a no."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from agenyx.agent.ports import Deferred
from agenyx.api.threads import Crashed, called
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import UsageError
from agenyx.tools.answers import edited, filled

BY = "program"
Approvals = Literal["ask", "defer", "deny"]
_CHILD = (
    "a subagent cannot wait for an answer that comes later. Leave this call to the main agent: say in your answer what "
    "has to be done"
)


class Allow(Struct, frozen=True):
    """A yes. `args` are all arguments to run the call with instead; they are judged again.

    `answers` answer a question of the model: by its text, header or number, or in their order; for a plan it is the
    mode. With scope "session" or "saved" the rules that the approval offers hold from now on, or for good.
    """

    args: Mapping[str, Any] | None = None
    answers: Mapping[str, str | Sequence[str]] | Sequence[str] | str | None = None
    scope: Literal["once", "session", "saved"] = "once"


class Deny(Struct, frozen=True):
    """A no. The model reads `message` and goes on; with `stop` the turn ends."""

    message: str = ""
    stop: bool = False


Answer = bool | Literal["allow", "deny"] | Allow | Deny | Decision
Later = Answer | Literal["defer"]
"""What an approver gives: an answer, or the word that it comes later."""
Asked = Callable[[Approval], Awaitable[Later] | Later]


def decision_of(approval: Approval, answer: object, by: str = BY) -> Decision:
    """The decision that an answer is. Raises UsageError for what is none."""
    at = time.time()
    match answer:
        case Decision():
            if answer.approval != approval.id:
                raise UsageError(f"the decision is for {answer.approval}, not for {approval.id}", "Nothing ran.")
            return answer
        case True | "allow":
            return _allowed(approval, Allow(), by, at)
        case Allow():
            return _allowed(approval, answer, by, at)
        case False | "deny" | None:
            return Decision(approval.id, "deny", by=by, at=at)
        case Deny(message, stop):
            return Decision(approval.id, "deny", message=json.scrub(message), stop=stop, by=by, at=at)
        case _:
            raise UsageError(
                f"{type(answer).__name__} is no answer to an approval", "Give True, False, Allow(...) or Deny(...)."
            )


def _allowed(approval: Approval, answer: Allow, by: str, at: float) -> Decision:
    asked, inquiry = approval.call.args if approval.args is None else approval.args, approval.effects.inquiry
    args = None
    try:
        if answer.answers is not None:
            if inquiry is None:
                raise UsageError(f"{approval.call.name} asks no questions", "Leave answers= out.")
            given = answer.answers
            args = filled(inquiry, asked, dict(given) if isinstance(given, Mapping) else _listed(given))
        elif answer.args is not None:
            given_args = json.decode(json.encode(dict(answer.args)))
            args = edited(inquiry, asked, given_args) if inquiry is not None else json.encode(given_args).decode()
        elif inquiry is not None and inquiry.argument == "answers":
            raise UsageError("a question of the model needs an answer, not a yes", "Give Allow(answers=[...]).")
    except (ValueError, TypeError) as error:
        raise UsageError(f"this is no answer to {approval.call.name}: {error}", "Nothing was answered.") from None
    if answer.scope != "once" and not approval.verdict.offer:
        raise UsageError("no rule can cover this call, so it can only be allowed once", 'Leave scope= at "once".')
    return Decision(approval.id, "allow", answer.scope, args, by=by, at=at)


def _listed(given: Sequence[str] | str) -> object:
    return given if isinstance(given, str) else list(given)


class ProgramApprover:
    """Puts a question to the function `asked`, leaves it open, or says no, as `how` tells.

    Only questions about calls are for the program: what a workspace wants to be trusted with is settled when the agent
    is made.
    """

    def __init__(self, asked: Asked | None, how: Approvals, tell: Callable[[str, str], None]) -> None:
        self._asked, self.how, self._tell = asked, how, tell

    async def decide(self, approval: Approval) -> Decision:
        """Raises Deferred."""
        if not approval.call.id:
            return Decision(approval.id, "deny", by=BY, at=time.time())
        if self.how == "ask" and self._asked is not None:
            return await self._ask(self._asked, approval)
        if self.how == "defer":
            return _later(approval)
        inquiry = approval.effects.inquiry
        why = f"{inquiry.unanswered}." if inquiry else "nobody is there to approve this, and no rule allows it."
        return Decision(approval.id, "deny", message=why, by="headless", at=time.time())

    async def _ask(self, asked: Asked, approval: Approval) -> Decision:
        try:
            answer = await called(asked, approval)
            return _later(approval) if answer == "defer" else decision_of(approval, answer)
        except Deferred:
            raise
        except UsageError as error:
            problem = f"{error.message}. {error.fix}".strip()
        except (Exception, Crashed) as error:  # noqa: BLE001 - the rim around code of the program: its errors are a no
            problem = f"{type(error).__name__}: {error}"
        self._tell(f"The approver gave no answer about {approval.call.name}: {problem}", "It counted as a no.")
        return Decision(
            approval.id, "deny", message="the question could not be put to the user.", by=BY, at=time.time()
        )


def _later(approval: Approval) -> Decision:
    """Raises Deferred where the call can wait."""
    if not approval.agent:
        raise Deferred
    return Decision(approval.id, "deny", message=_CHILD, by="deferred", at=time.time())
