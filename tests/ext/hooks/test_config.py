"""Configuration in the shared JSON form: what is read, what is isolated, what is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.ext.hooks.config import matches, read
from agenyx.ext.hooks.model import Entry
from agenyx.ext.sources import Source


def of(hooks: Any, path: str = "hooks.json", place: str = "/home/u/.agenyx", origin: Any = "user") -> Source:
    data = hooks if isinstance(hooks, bytes) else json.dumps({"hooks": hooks}).encode()
    return Source("hooks", origin, place, path, f"{place}/{path}", data)


def one(hook: Any, event: str = "PreToolUse", **where: Any) -> Entry:
    entries, problems = read([of({event: [{"matcher": "Bash", "hooks": [hook]}]}, **where)])
    assert not problems, problems
    (entry,) = entries
    return entry


def problem(hook: Any, event: str = "PreToolUse") -> str:
    good = {"type": "command", "command": "true"}
    entries, problems = read([of({event: [{"hooks": [hook, good]}]})])
    assert [entry.command for entry in entries] == ["true"], "the entry beside it stays"
    return problems[0].text


CLAUDE = ("settings.json", "/w/.claude")


def test_a_command_with_all_its_members() -> None:
    entry = one(
        {
            "type": "command",
            "command": "/opt/check",
            "args": ["-q"],
            "timeout": 5,
            "if": "Bash(git push:*)",
            "once": True,
            "on_error": "warn",
            "allowedEnvVars": ["CI"],
        }
    )
    assert (entry.command, entry.args, entry.timeout, entry.condition) == ("/opt/check", ("-q",), 5, "Bash(git push:*)")
    assert (entry.once, entry.on_error, entry.allowed, entry.matcher) == (True, "warn", ("CI",), "Bash")


def test_a_guard_of_ours_blocks_when_it_fails_and_an_imported_one_keeps_its_own_rule() -> None:
    hook = {"type": "command", "command": "x"}
    assert one(hook).on_error == "block"
    assert one(hook, "PostToolUse").on_error == "warn"
    theirs = one(hook, path="settings.json", place="/w/.claude", origin="workspace")
    assert (theirs.on_error, theirs.imported) == ("warn", True)
    assert one({**hook, "onFailure": "block"}, path="settings.json", place="/w/.claude").on_error == "block"
    assert not one(hook, path="settings.json", place="/w/.agenyx/hooks").imported


def test_an_address() -> None:
    entry = one({"type": "http", "url": "https://h.example/x", "headers": {"Authorization": "Bearer $T"}})
    assert (entry.kind, entry.url, dict(entry.headers)) == (
        "http",
        "https://h.example/x",
        {"Authorization": "Bearer $T"},
    )


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("text", "no object"),
        ({"type": "command"}, "no command"),
        ({"type": "prompt", "prompt": "?"}, "'prompt' are not supported (it asks a model)"),
        ({"type": "agent", "prompt": "?"}, "'agent' are not supported"),
        ({"type": "mcp_tool", "server": "s", "tool": "t"}, "'mcp_tool' are not supported"),
        ({"type": "command", "command": "x", "async": True}, "background (async) are not supported"),
        ({"type": "command", "command": "x", "timeout": "soon"}, "a number of seconds"),
        ({"type": "command", "command": "x", "timeout": -1}, "a number of seconds"),
        ({"type": "command", "command": "x", "on_error": "ignore"}, "it is block or warn"),
        ({"type": "command", "command": "x", "shell": "powershell"}, "it is bash or sh"),
        ({"type": "command", "command": "x", "args": "y"}, "no list of texts"),
        ({"type": "command", "command": "x", "if": "Bash(("}, "rule"),
        ({"type": "command", "command": "x", "allowedEnvVars": ["A=B"]}, "no name of a variable"),
        ({"type": "http", "url": "https://h", "headers": {"A": "b\r\nC: d"}}, "what a header cannot"),
        ({"type": "command", "command": "a\0b"}, "no text"),
    ],
)
def test_a_wrong_entry_is_told_and_alone_left_out(hook: Any, told: str) -> None:
    assert told in problem(hook)


def test_a_member_that_nobody_knows_is_told_and_the_hook_stays() -> None:
    entries, problems = read([of({"Stop": [{"hooks": [{"type": "command", "command": "x", "tiemout": 5}]}]})])
    assert len(entries) == 1
    assert "'tiemout' is not known" in problems[0].text


def test_unknown_events_and_wrong_groups_are_told() -> None:
    wrong = {"WorktreeCreate": [], "Stop": {}, "PreToolUse": [1, {"matcher": 3}, {"matcher": "(", "hooks": []}, {}]}
    entries, problems = read([of(wrong)])
    assert not entries
    told = " | ".join(one.text for one in problems)
    for part in ("'WorktreeCreate' does not occur", "Stop: it needs a list", "1' is no object", "is no text"):
        assert part in told
    assert "no regular expression" in told
    assert 'needs a list "hooks"' in told


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"hooks": []}', b'{"hooks": {}, "hooks": {}}', b"\xff\xfe"])
def test_a_file_that_is_none_is_told(data: bytes) -> None:
    entries, problems = read([of(data)])
    assert not entries
    assert problems


def test_settings_of_another_agent_without_hooks_say_nothing() -> None:
    assert read([of(b'{"permissions": {"allow": ["Bash"]}}', *CLAUDE)]) == ((), ())


def test_scripts_that_lie_among_the_files_are_no_configuration() -> None:
    assert read([of(b"#!/bin/sh\n", "check.sh", "/w/.agenyx/hooks")]) == ((), ())


@pytest.mark.parametrize(
    ("matcher", "subject", "yes"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "bash", False),
        ("Bash", "BashOutput", False),
        ("Write|Edit", "Edit", True),
        ("Write|Edit", "MultiEdit", False),
        ("mcp__.*__write", "mcp__fs__write", True),
        ("Edit$", "MultiEdit", True),
        ("^Edit$", "MultiEdit", False),
    ],
)
def test_matchers(matcher: str, subject: str, yes: bool) -> None:
    assert matches(matcher, subject) is yes


def test_a_matcher_may_name_a_tool_by_an_alias() -> None:
    assert matches("Agent", "Task", "Agent")


def test_timeouts_are_capped() -> None:
    assert one({"type": "command", "command": "x", "timeout": 100_000}).timeout == 600
