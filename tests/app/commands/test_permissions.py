"""/permissions: which rules hold now."""

from __future__ import annotations

from msgspec.structs import replace

from agenyx.app.commands.spec import Reply
from agenyx.app.runtime import Conversation
from agenyx.core.verdict import Rule
from agenyx.session.session import Session

from .places import Place


def shown(place: Place, *rules: Rule) -> Reply:
    async def work(conversation: Conversation, session: Session) -> Reply:
        boundary = conversation.parts.boundary
        boundary.policy = replace(boundary.policy, rules=rules)
        reply = await place.type(conversation, "/permissions")
        assert isinstance(reply, Reply)
        return reply

    return place.run(work)


def test_rules_are_listed_by_what_wins_with_their_origin(place: Place) -> None:
    reply = shown(
        place,
        Rule("allow", "Bash", "npm test", "user", "/h/settings.toml:3"),
        Rule("allow", "Bash", "git add:*", "session"),
        Rule("deny", "Read", ".env", "flag", "--disallowed-tools"),
        Rule("ask", "WebFetch", "", "workspace"),
    )
    assert reply.text.split("\n")[:4] == [
        "deny   Read(.env)  (--disallowed-tools)",
        "ask    WebFetch  (the workspace)",
        "allow  Bash(npm test)  (/h/settings.toml:3)",
        "allow  Bash(git add:*)  (this session)",
    ]
    assert "mode default" in reply.text
    assert reply.data["rules"][0] == {
        "decision": "deny",
        "rule": "Read(.env)",
        "source": "flag",
        "where": "--disallowed-tools",
    }


def test_without_a_rule_that_is_said(place: Place) -> None:
    assert shown(place).text.startswith("There are no rules")


def test_a_rule_is_one_line(place: Place) -> None:
    assert "allow  Bash(echo a deny)" in shown(place, Rule("allow", "Bash", "echo a\n deny")).text
