"""The yes to a server of a workspace: bound to its configuration, kept privately, asked for with all that matters."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agenyx.app.mcp_approval import Approvals, approved, described, masked, question
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import ConfigError
from agenyx.ext.mcp.config import ServerConfig, Written

ONE = ServerConfig(
    "one",
    "npx",
    ("-y", "server"),
    (("TOKEN", "sekret-value-1234"),),
    source="project",
    path="/work/.mcp.json",
    written=Written("npx", ("-y", "server"), (("TOKEN", "$NOTES_TOKEN"), ("MODE", "fast"))),
    uses=("NOTES_TOKEN",),
)


class Person:
    def __init__(self, choice: str) -> None:
        self.choice: Any = choice
        self.asked: list[Approval] = []

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        return Decision(approval.id, self.choice)


def choose(home: Path, person: Person | None, *configs: ServerConfig, trusted: bool = False):
    told: list[str] = []
    store = Approvals(str(home), "/work")
    found = asyncio.run(
        approved(configs, store, person, lambda text, fix: told.append(f"{text} {fix}"), "/work", trusted=trusted)
    )
    return [config.name for config in found], told


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir(mode=0o700)
    return tmp_path / "home"


def test_a_yes_is_asked_for_once_and_again_when_the_configuration_changes(home: Path) -> None:
    person = Person("allow")
    assert choose(home, person, ONE) == (["one"], []) and choose(home, person, ONE) == (["one"], [])
    assert len(person.asked) == 1 and (home / "mcp-approved.json").stat().st_mode & 0o777 == 0o600
    renewed = replace(ONE, env=(("TOKEN", "another-value"),))  # the variable holds something else now
    assert choose(home, person, renewed) == (["one"], []) and len(person.asked) == 1
    changed = replace(ONE, written=Written("npx", ("-y", "server@2")))
    assert choose(home, person, changed) == (["one"], []) and len(person.asked) == 2
    assert "its configuration changed since your yes" in person.asked[1].call.name


def test_a_no_leaves_it_out_with_a_line_and_is_asked_again(home: Path) -> None:
    person = Person("deny")
    for times in (1, 2):
        found, (told,) = choose(home, person, ONE)
        assert found == [] and len(person.asked) == times
        assert "'one' of .mcp.json was left out: it is not approved. Look at it with: agenyx mcp get one" in told


def test_only_servers_of_a_workspace_are_asked_about(home: Path) -> None:
    person = Person("deny")
    mine, argv = replace(ONE, name="mine", source="user"), replace(ONE, name="argv", source="argv")
    assert choose(home, person, mine, argv) == (["mine", "argv"], [])
    assert choose(home, person, replace(ONE, disabled=True)) == ([], []), "nor is one that does not start"
    assert choose(home, person, ONE, trusted=True)[0] == ["one"] and person.asked == []
    assert choose(home, None, ONE)[0] == []


def test_the_same_server_elsewhere_is_asked_about_anew(home: Path) -> None:
    Approvals(str(home), "/work").grant(ONE)
    assert Approvals(str(home), "/work").holds(ONE) and not Approvals(str(home), "/other").holds(ONE)
    assert Approvals(str(home), "/work").revoke("one") and not Approvals(str(home), "/work").holds(ONE)
    assert not Approvals(str(home), "/work").revoke("one")


def test_a_damaged_store_approves_nothing(home: Path) -> None:
    (home / "mcp-approved.json").write_text('{"workspaces": {"/work": 1}}')
    (home / "mcp-approved.json").chmod(0o600)
    with pytest.raises(ConfigError, match="is damaged"):
        Approvals(str(home), "/work").holds(ONE)
    found, told = choose(home, Person("allow"), ONE)
    assert found == [] and "is damaged" in told[0]


def test_an_answer_that_cannot_be_kept_holds_for_this_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found, told = choose(tmp_path / "file" / "home", Person("allow"), ONE)
    assert found == ["one"] and "could not be stored" in told[0]


def test_the_question_shows_what_starts_and_no_secret() -> None:
    preview = question(ONE).effects.preview
    for part in ("npx", "server", "MODE=fast", "TOKEN=$NOTES_TOKEN", "your variable  NOTES_TOKEN", "/work/.mcp.json"):
        assert part in preview
    assert "sekret" not in preview
    plain = replace(ONE, written=Written("npx", (), (("API_KEY", "plain-secret-value"),)))
    assert "plain-secret" not in "\n".join(described(plain))


def test_no_argument_can_forge_a_row() -> None:
    forged = replace(ONE, written=Written("sh\nwritten in     /etc/fine", ("-c", "\x1b[2Jx")))
    rows = described(forged)
    assert len(rows) == 5 and not any("\n" in row or "\x1b" in row for row in rows)


def test_arguments_that_carry_secrets_are_hidden() -> None:
    shown = masked(["--api-key", "abc", "--token=def", "--port", "80", "--password", "$PW", "--secret=${S}", "x"])
    assert shown == [
        "--api-key",
        "(hidden)",
        "--token=(hidden)",
        "--port",
        "80",
        "--password",
        "$PW",
        "--secret=${S}",
        "x",
    ]
