"""Forms of servers: what a person sees, what is sent, and when nobody is asked any more."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agenyx.agent.ports import Deferred
from agenyx.app.mcp_form import Forms, question
from agenyx.core.approval import Approval, Decision
from agenyx.ext.mcp.elicit import fields
from agenyx.ext.mcp.model import Ask, Reply

SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
        "size": {"type": "integer", "minimum": 1, "title": "Size"},
        "gift": {"type": "boolean"},
    },
    "required": ["size"],
}


def ask(message: str = "Which one?") -> Ask:
    found = fields(SCHEMA)
    assert found is not None
    return Ask("shop", message, found)


class Person:
    """Answers one after another: None is a no, a dict is an edit, True a yes, "stop" a no that stops."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[Approval]()

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        answer = self.answers.pop(0) if self.answers else None
        if answer == "later":
            raise Deferred
        if answer is None or answer == "stop":
            return Decision(approval.id, "deny", stop=answer == "stop")
        return Decision(approval.id, "allow", args=json.dumps(answer) if isinstance(answer, dict) else None)


def fill(*answers: Any) -> tuple[Reply, Person]:
    person = Person(*answers)
    return asyncio.run(Forms(person, lambda name: True)(ask())), person


def test_the_person_sees_who_asks_and_every_field() -> None:
    shown = question(ask("Pay\nnow?"), {"colour": "blue", "size": None, "gift": None})
    text = shown.effects.preview
    assert "shop" in shown.call.name and text.startswith("shop asks:\n  Pay\n  now?\n")
    assert "colour (one of red, blue)" in text and "size (integer, required): Size" in text and "gift (boolean)" in text


def test_an_edit_is_sent_as_it_was_accepted() -> None:
    reply, _ = fill({"colour": "red", "size": 3, "gift": None})
    assert reply == Reply("accept", {"colour": "red", "size": 3})


def test_what_does_not_fit_is_asked_again_and_not_sent() -> None:
    reply, person = fill(True, {"size": 0}, {"size": 2, "evil": 1})
    assert reply == Reply("cancel") and len(person.asked) == 3
    assert "Not sent: size has to be filled in" in person.asked[1].effects.preview
    assert "Not sent: size: " in person.asked[2].effects.preview
    reply, person = fill(True, {"size": 2})
    assert reply == Reply("accept", {"size": 2})


def test_a_no_declines_and_a_stop_cancels() -> None:
    assert fill(None)[0] == Reply("decline") and fill("stop")[0] == Reply("cancel")
    assert fill("later")[0] == Reply("decline")


def test_a_server_that_pesters_is_declined_without_asking() -> None:
    async def pester() -> tuple[list[str], Person]:
        person = Person()
        forms = Forms(person, lambda name: True)
        return [(await forms(ask())).action for _ in range(6)], person

    actions, person = asyncio.run(pester())
    assert actions == ["decline"] * 6 and len(person.asked) == 3


def test_a_server_that_was_asked_nothing_may_not_ask() -> None:
    person = Person(True)
    reply = asyncio.run(Forms(person, lambda name: name != "shop")(ask()))
    assert reply == Reply("decline") and person.asked == []
