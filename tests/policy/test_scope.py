"""Scopes deny what lies outside of them and never allow anything."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from agenyx.core.tools import Command, Effects, PathRef, Redirect
from agenyx.core.verdict import Rule, Scope
from agenyx.policy.decide import Policy, decide
from agenyx.policy.rules import parse_rule
from agenyx.policy.scope import scope_of


def ref(path: str) -> PathRef:
    return PathRef(path.removeprefix("/w/"), path.encode(), "/w" if path.startswith("/w/") else None)


def shell(*commands: Command, opaque: str = "", script: str = "x") -> Effects:
    writes = tuple(path for command in commands for path in command.writes)
    return Effects(commands=commands, writes=writes, opaque=opaque, script=script)


READ, DEEP = Effects(reads=(ref("/w/a.py"),), parallel=True), Effects(reads=(ref("/w/src/a.py"),), parallel=True)
WRITE, WRITE_DEEP = Effects(writes=(ref("/w/a.py"),)), Effects(writes=(ref("/w/src/a.py"),))
STATUS = Command(("git", "status"), kinds=("reads",))
PUSH = Command(("git", "push"), kinds=("network",))
RM = Command(("rm", "a"), kinds=("removes",))
CD = Command(("cd", "src"), kinds=())
TO_FILE = Command(("git", "log"), kinds=("reads",), redirects=(Redirect(">", "src/log"),), writes=(ref("/w/src/log"),))
TO_NULL = Command(
    ("git", "log"),
    kinds=("reads",),
    redirects=(Redirect(">", "/dev/null"),),
    writes=(PathRef("/dev/null", b"/dev/null", "/dev"),),
)
UNKNOWN = Command(("git", None), kinds=("unknown",))
FETCH = Effects(hosts=("docs.python.org",))
MCP = Effects(opaque="what it does is not seen")


def scope(*items: str) -> Scope:
    found, problems = scope_of("the skill x", items)
    assert not problems
    return found


def policy(*items: str, **more: Any) -> Policy:
    mode: Any = {"mode": "bypassPermissions", "unsafe": True} | more
    return Policy(workspace="/w", home_dir="/home/u", scopes=(scope(*items),), **mode)


@pytest.mark.parametrize(
    ("items", "name", "effects", "inside"),
    [
        (("Read",), "Read", READ, True),
        (("Read",), "Grep", READ, True),
        (("Grep",), "Read", READ, False),
        (("Read",), "Write", WRITE, False),
        (("Read Write",), "Write", WRITE, True),
        (("Edit",), "Write", WRITE, True),
        (("Edit(src/**)",), "Edit", WRITE, False),
        (("Edit(src/**)",), "Edit", WRITE_DEEP, True),
        (("Read(src/**)",), "Read", READ, False),
        (("Read(src/**)",), "Grep", DEEP, True),
        (("Read, Bash(git status:*)",), "Bash", shell(STATUS), True),
        (("Bash(git:*)",), "Bash", shell(STATUS, PUSH), True),
        (("Bash(git:*)",), "Bash", shell(CD, STATUS), True),
        (("Bash(git:*)",), "Bash", shell(STATUS, RM), False),
        (("Bash(git status:*)",), "Bash", shell(STATUS, PUSH), False),
        (("Bash(git:*)",), "Bash", shell(UNKNOWN), True),
        (("Bash(git status:*)",), "Bash", shell(UNKNOWN), False),
        (("Bash(git:*)",), "Bash", shell(STATUS, opaque="not parsed"), False),
        (("Bash(git:*)",), "Bash", shell(TO_FILE), False),
        (("Bash(git:*)",), "Bash", shell(TO_NULL), True),
        (("Bash(git:*)", "Write(src/**)"), "Bash", shell(TO_FILE), True),
        (("Bash(git:*)", "Write(docs/**)"), "Bash", shell(TO_FILE), False),
        (("Bash",), "Bash", shell(RM, opaque="not parsed"), True),
        (("Read",), "Bash", shell(STATUS), False),
        (("Read",), "Bash", shell(opaque="nothing of it was seen"), False),
        (("Bash(git:*)",), "GitStatus", shell(STATUS), True),
        (("WebFetch(domain:docs.python.org)",), "WebFetch", FETCH, True),
        (("WebFetch(domain:example.com)",), "WebFetch", FETCH, False),
        (("Read",), "WebFetch", FETCH, False),
        (("mcp__git",), "mcp__git__log", MCP, True),
        (("mcp__git__log",), "mcp__git__push", MCP, False),
        (("Read",), "mcp__git__log", MCP, False),
        (("Read",), "TodoWrite", Effects(), True),
        (("Read",), "AskUserQuestion", Effects(interact=True), True),
        (("*",), "Bash", shell(RM), True),
        ((), "Bash", shell(RM), True),
        (("NotebookEdit", "WebSearch"), "Write", WRITE, False),
    ],
)
def test_what_lies_inside(items: tuple[str, ...], name: str, effects: Effects, inside: bool) -> None:
    verdict = decide(name, effects, policy(*items))
    assert (verdict.decision != "deny") == inside, verdict.text
    if not inside:
        assert "the skill x keeps this turn to" in verdict.text
        assert verdict.reasons[0].source == "scope"


def test_a_part_that_is_no_rule_narrows_and_is_told() -> None:
    found, problems = scope_of("the skill x", ["Bash(git:*", "Read"])
    assert [rule.text for rule in found.rules] == ["Read"]
    assert len(problems) == 1 and "Bash(git:*" in problems[0]
    nothing, _ = scope_of("the skill x", ["Bash(", "Edit(../x)"])
    assert nothing.by and not nothing.rules, "what cannot be read is no reason to allow all"
    assert decide("Read", READ, Policy(workspace="/w", scopes=(nothing,))).decision == "deny"


def test_a_scope_never_makes_a_verdict_milder() -> None:
    rules: list[tuple[Rule, ...]] = [
        (),
        (parse_rule("Bash(git:*)", "allow", "user"), parse_rule("Edit", "allow", "user")),
        (parse_rule("Read", "deny", "user"), parse_rule("Bash(git push:*)", "ask", "user")),
    ]
    calls = [
        ("Read", READ),
        ("Write", WRITE),
        ("Bash", shell(STATUS)),
        ("Bash", shell(STATUS, PUSH)),
        ("Bash", shell(RM)),
        ("WebFetch", FETCH),
        ("mcp__a__b", MCP),
        ("TodoWrite", Effects()),
        ("Read", Effects(reads=(PathRef(".env", b"/w/.env", "/w", protected="it may hold secrets"),))),
        ("Read", Effects(reads=(PathRef("/etc/x", b"/etc/x", None, problem="it lies outside"),))),
    ]
    scopes = [("Read",), ("Bash(git:*)", "Read"), ("Bash", "Edit", "Read", "WebFetch", "mcp__a"), ("*",)]
    modes: list[Any] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
    order = ("allow", "ask", "deny")
    for had, (name, effects), items, mode in itertools.product(rules, calls, scopes, modes):
        plain = Policy(mode, mode == "bypassPermissions", had, workspace="/w")
        before = decide(name, effects, plain).decision
        after = decide(
            name, effects, Policy(mode, mode == "bypassPermissions", had, workspace="/w", scopes=(scope(*items),))
        )
        assert order.index(after.decision) >= order.index(before), (name, items, mode)


def test_each_of_several_scopes_denies() -> None:
    both = Policy("bypassPermissions", True, workspace="/w", scopes=(scope("Read", "Edit"), scope("Read")))
    assert decide("Read", READ, both).decision == "allow"
    assert decide("Write", WRITE, both).decision == "deny"
