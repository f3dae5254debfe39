"""What "always allow" would save: the smallest rules that allow the call, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.tools import Command, Concern, Effects, PathRef, Redirect
from agenyx.policy.decide import Policy, decide, judge
from agenyx.policy.rules import parse_rule

HERE = Policy(workspace="/w", home_dir="/home/u")


def ref(path: str) -> PathRef:
    return PathRef(path.removeprefix("/w/"), path.encode(), "/w" if path.startswith("/w/") else None)


def run(*argv: str | None, **more: Any) -> Command:
    return Command(argv, **{"kinds": ("writes",), **more})


def script(*commands: Command, **more: Any) -> Effects:
    writes = tuple(path for command in commands for path in command.writes)
    removes = tuple(path for command in commands for path in command.removes)
    return Effects(writes=writes, removes=removes, commands=commands, **more)


def offered(name: str, effects: Effects, policy: Policy = HERE) -> list[str]:
    """The texts of the rules; that they do allow the call, and for the session, is checked for each."""
    verdict = decide(name, effects, policy)
    assert verdict.decision == "ask"
    assert all((rule.decision, rule.source) == ("allow", "session") for rule in verdict.offer)
    if verdict.offer:
        more = Policy(policy.mode, rules=(*policy.rules, *verdict.offer), workspace="/w", home_dir="/home/u")
        assert decide(name, effects, more).decision == "allow"
    return [rule.text for rule in verdict.offer]


COMMIT = run("git", "commit", "-m", "a b", prefix="git commit")
LOOK = run("git", "log", "-1", kinds=("reads",), prefix="git log")
TEST = run("npm", "test", kinds=("runs",))
INNER = run("npm", "test", kinds=("runs",), inside=True)
PUSH = run("git", "push", "origin", kinds=("network",), hosts=("origin",), prefix="git push")


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([COMMIT], ["Bash(git commit -m 'a b')"]),
        ([LOOK], ["Bash(git log:*)"]),
        ([TEST], ["Bash(npm test)"]),
        ([run("pytest", "-q", kinds=("runs",), prefix="pytest")], ["Bash(pytest -q)"]),
        ([run("foo", "x", kinds=("unknown",), prefix="foo")], ["Bash(foo x)"]),
        ([run("git", "fetch", hosts=("a.org",), prefix="git fetch")], ["Bash(git fetch)"]),
        ([PUSH], ["Bash(git push origin)"]),
        ([COMMIT, LOOK, COMMIT], ["Bash(git commit -m 'a b')", "Bash(git log:*)"]),
        ([run("cd", "sub", kinds=()), TEST], ["Bash(npm test)"]),
        ([run("echo", "hi", kinds=(), prefix="echo")], ["Bash(echo:*)"]),
        (
            [run("timeout", "5", "npm", "test", kinds=(), prefix="-"), run("npm", "test", inside=True)],
            ["Bash(npm test)"],
        ),
        ([run("grep", "a*b", "x y")], ["Bash(grep 'a\\*b' 'x y')"]),
        ([run("./build.sh", kinds=("runs",), prefix="./build.sh")], ["Bash(./build.sh)"]),
        ([run("/w/build.sh", kinds=("runs",))], ["Bash(/w/build.sh)"]),
        ([run("cp", "a", "/tmp/x", prefix="cp", writes=(ref("/tmp/x"),))], ["Bash(cp a /tmp/x)", "Edit(//tmp/x)"]),
        ([run("cp", "a", "b", prefix="cp", writes=(ref("/w/b"),))], ["Bash(cp a b)"]),
    ],
)
def test_commands(commands: list[Command], expected: list[str]) -> None:
    assert offered("Bash", script(*commands)) == expected


@pytest.mark.parametrize(
    "command",
    [
        run("python", "-c", "x", kinds=("runs",), prefix="-"),
        run("sudo", "ls", prefix="-"),
        run("rm", "a", kinds=("removes",), prefix="rm"),
        run("mv", "a", "b", removes=(ref("/w/a"),), prefix="mv"),
        run("git", None, prefix="git"),
        run(None, "x"),
        run("rg", "--pre=x", why="an option", prefix="rg"),
        run("make", assigns=("CC=x",), prefix="make"),
        run("/tmp/tool", "x"),
        run("../tool", "x"),
        run("./tool", cwd="sub"),
        run("make", cwd="/etc"),
        run("make", cwd=None),
        run("echo", "a\nb"),
        run("echo", "(x)"),
        run("make", redirects=(Redirect(">", None),)),
        run("echo", "x" * 600),
        Command((), kinds=(), writes=(ref("/w/a"),)),
    ],
)
def test_where_one_command_has_no_rule_none_is_offered(command: Command) -> None:
    assert offered("Bash", script(command)) == []
    assert offered("Bash", script(COMMIT, command)) == []


def test_only_what_is_missing_is_offered() -> None:
    known = Policy(rules=(parse_rule("Bash(git log:*)", "allow", "user"),), workspace="/w", home_dir="/home/u")
    assert offered("Bash", script(COMMIT, LOOK), known) == ["Bash(git commit -m 'a b')"]


@pytest.mark.parametrize(
    ("effects", "rules"),
    [
        (script(COMMIT, opaque="a loop"), []),
        (script(COMMIT, concerns=(Concern("always", "hidden characters"),)), []),
        (script(COMMIT, concerns=(Concern("danger", "it removes the root"),)), []),
        (script(COMMIT), [parse_rule("Bash(git:*)", "ask", "user")]),
        (Effects(writes=(PathRef(".env", b"/w/.env", "/w", protected="secret"),)), []),
        (Effects(interact=True), []),
    ],
)
def test_nothing_is_offered_where_a_rule_would_not_help(effects: Effects, rules: list[Any]) -> None:
    policy = Policy(rules=tuple(rules), workspace="/w", home_dir="/home/u")
    assert offered("Bash", effects, policy) == []


def test_nothing_is_offered_where_nobody_is_asked() -> None:
    assert decide("Bash", script(COMMIT), Policy("dontAsk", workspace="/w")).offer == ()
    assert decide("Bash", script(COMMIT), Policy("plan", workspace="/w")).offer == ()
    assert judge(COMMIT, HERE).offer == (), "one command of a script is not what is asked about"


@pytest.mark.parametrize(
    ("name", "effects", "expected"),
    [
        ("Edit", Effects(writes=(ref("/w/a.py"),)), ["Edit(/a.py)"]),
        ("Write", Effects(writes=(ref("/w/src/a b[1].py"),)), ["Edit(/src/a b\\[1\\].py)"]),
        ("Write", Effects(writes=(ref("/w/a"), ref("/w/b"))), ["Edit(/a)", "Edit(/b)"]),
        ("Write", Effects(writes=(PathRef("./~x", b"/w/~x", "/w"),)), ["Edit(/~x)"]),
        ("Write", Effects(writes=(ref("/w/a(1).py"),)), []),
        ("Write", Effects(writes=(PathRef("\\xff", b"/w/\xff", "/w"),)), []),
        ("WebFetch", Effects(hosts=("docs.python.org",)), ["WebFetch(domain:docs.python.org)"]),
        ("mcp__github__push", Effects(opaque="a server"), ["mcp__github__push"]),
        ("GitCommit", script(COMMIT), ["GitCommit"]),
        ("GitCommit", script(COMMIT, opaque="a hook"), []),
        ("Host", Effects(opaque="anything"), []),
    ],
)
def test_other_tools(name: str, effects: Effects, expected: list[str]) -> None:
    assert offered(name, effects) == expected


def test_the_rule_for_a_file_is_for_no_other() -> None:
    rule = decide("Edit", Effects(writes=(ref("/w/a.py"),)), HERE).offer
    policy = Policy(rules=rule, workspace="/w")
    assert decide("Edit", Effects(writes=(ref("/w/sub/a.py"),)), policy).decision == "ask"


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=6)


@given(st.lists(_TEXT, min_size=1, max_size=4), _TEXT)
def test_what_is_offered_allows_that_command_and_no_longer_one(words: list[str], more: str) -> None:
    effects = script(run(*words))
    if offered("Bash", effects):
        rules = decide("Bash", effects, HERE).offer
        policy = Policy(rules=rules, workspace="/w", home_dir="/home/u")
        assert decide("Bash", script(run(*words, more)), policy).decision == "ask"


@given(_TEXT.filter(lambda name: name not in (".", "..") and "/" not in name), _TEXT)
def test_what_is_offered_for_a_file_allows_it_and_no_sibling(name: str, other: str) -> None:
    effects = Effects(writes=(ref(f"/w/{name}"),))
    if offered("Write", effects) and "/" not in other and other not in (".", "..", name):
        policy = Policy(rules=decide("Write", effects, HERE).offer, workspace="/w")
        assert decide("Write", Effects(writes=(ref(f"/w/{other}"),)), policy).decision == "ask"
