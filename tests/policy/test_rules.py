"""Rules: how they are spelled, what they match, what a workspace may not allow."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agenyx.core.errors import UsageError
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.core.verdict import Choice, Rule, RuleSource
from agenyx.policy import match_host, match_path, match_shell
from agenyx.policy.decide import Policy, applies
from agenyx.policy.match_path import Bases
from agenyx.policy.rules import ceiling, parse_rule, parse_rules, split_call, split_rules, unknown_tool

BASES = Bases("/w", "/home/u")
HERE = Policy(workspace="/w", home_dir="/home/u")


def rule(text: str, decision: Choice = "allow", source: RuleSource = "user") -> Rule:
    return parse_rule(text, decision, source)


def ref(path: str) -> PathRef:
    """The reference of a resolved path: below /w, or outside."""
    inside = path == "/w" or path.startswith("/w/")
    return PathRef(path[3:] or "." if inside else path, path.encode(), "/w" if inside else None)


def command(*argv: str | None, **more: object) -> Command:
    return Command(argv, **{"kinds": ("reads",), **more})  # type: ignore[arg-type]


# --- spelling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("Bash", "Bash", ""),
        (" Bash ", "Bash", ""),
        ("Bash()", "Bash", ""),
        ("Bash(*)", "Bash", ""),
        ("bash(git status)", "Bash", "git status"),
        ("Bash(git commit:*)", "Bash", "git commit:*"),
        ("Bash(cat <<E\nx\nE)", "Bash", "cat <<E\nx\nE"),
        ("shell(ls)", "Bash", "ls"),
        ("run_command", "Bash", ""),
        ("READ(.env)", "Read", ".env"),
        ("read_file(.env)", "Read", ".env"),
        ("Task(reviewer)", "Task", "reviewer"),
        ("Agent(reviewer)", "Task", "reviewer"),
        ("KillShell", "TaskStop", ""),
        ("BashOutputTool", "TaskOutput", ""),
        ("AgentOutputTool", "TaskOutput", ""),
        ("mcp__github", "mcp__github", ""),
        ("mcp__github__*", "mcp__github", ""),
        ("mcp__github__get_issue", "mcp__github__get_issue", ""),
        ("webfetch(domain:Docs.Python.org.)", "WebFetch", "domain:docs.python.org"),
        ("WebFetch(domain:*)", "WebFetch", ""),
        ("WebFetch(domain:bücher.example)", "WebFetch", "domain:xn--bcher-kva.example"),
        ("HostTool(anything)", "HostTool", "anything"),
    ],
)
def test_spelling(text: str, tool: str, pattern: str) -> None:
    parsed = rule(text)
    assert (parsed.tool, parsed.pattern) == (tool, pattern)
    assert rule(parsed.text) == parsed, "what is shown can be given again"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bash(",
        "Bash)x",
        "Bash(echo (x))",
        "Bash(f(x))",
        "Ba sh",
        "Bash*",
        "mcp__",
        "mcp__git*",
        "mcp__a__get_*",
        "mcp__a(x)",
        "mcp__a__b(x)",
        "WebFetch(https://example.com/a)",
        "WebFetch(domain:)",
        "WebFetch(domain:a.*.com)",
        "WebFetch(domain:example.com/a)",
        "Read(!x)",
        "Read(../x)",
        "Read(~other/x)",
        "Read([z-a])",
        "Read({a,b)",
        "Read(" + "{a,b}" * 12 + ")",
        "Read(" + "x" * 5000 + ")",
        "Bash(" + "x" * 70000 + ")",
        "Bash(a\0b)",
    ],
)
def test_what_is_no_rule_is_said_with_what_to_do(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        rule(text)
    assert caught.value.message and caught.value.fix
    assert len(caught.value.message) < 250


def test_names_of_the_tools_at_hand_come_first() -> None:
    assert parse_rule("Fetch_It(domain:a.org)", "deny", "flag", "--deny", {"fetch_it": "WebFetch"}).tool == "WebFetch"


def test_lists_are_split_outside_parentheses() -> None:
    assert split_rules("Bash(git add, then), Read  Edit(a b)\nGrep,") == [
        "Bash(git add, then)",
        "Read",
        "Edit(a b)",
        "Grep",
    ]


def test_examples_may_hold_parentheses() -> None:
    assert split_call("Bash((a; b) && echo $(c))") == ("Bash", "(a; b) && echo $(c)")
    assert split_call("Read") == ("Read", "")
    with pytest.raises(UsageError):
        split_call("Bash(git push")


def test_too_many_rules() -> None:
    assert len(parse_rules(["Read"] * 4096, "deny", "user")) == 4096
    with pytest.raises(UsageError, match="4,097 rules"):
        parse_rules(["Read"] * 4097, "deny", "user")


def test_an_unknown_tool_is_told_with_the_nearest() -> None:
    names = ["Bash", "Read", "WebFetch"]
    assert unknown_tool(rule("Raed(.env)"), names) == "Read"
    assert unknown_tool(rule("Zzzzzz"), names) == ""
    assert unknown_tool(rule("Read"), names) is None
    assert unknown_tool(rule("mcp__any__thing"), names) is None


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "argv", "expected"),
    [
        ("git status", ("git", "status"), True),
        ("git status", ("git", "status", "-s"), False),
        ("git  status ", ("git", "status"), True),
        ("git commit:*", ("git", "commit"), True),
        ("git commit:*", ("git", "commit", "-m", "a b"), True),
        ("git commit:*", ("git", "commit-tree", "x"), False),
        ("git commit:*", ("git commit", "x"), False),
        ("git log *", ("git", "log"), True),
        ("git log *", ("git", "log", "-1"), True),
        ("git log *", ("git", "logs"), False),
        ("git log*", ("git", "logs"), True),
        ("git * main", ("git", "push", "origin", "main"), True),
        ("git * main", ("git", "main"), False),
        ("ls \\*", ("ls", "*"), True),
        ("ls \\*", ("ls", "a"), False),
        ("git commit -m 'a b'", ("git", "commit", "-m", "a b"), True),
        ('git commit -m "a b"', ("git", "commit", "-m", "a b"), True),
        ("git commit -m a b", ("git", "commit", "-m", "a b"), False),
        ("git add . && rm x", ("git", "add", ".", "&& rm x"), False),
        ("grep foo|bar", ("grep", "foo|bar"), False),
        ("grep 'foo|bar' *", ("grep", "foo|bar", "src"), True),
        ("echo a", ("echo", "a", ""), False),
        ("git:*", ("/tmp/git", "status"), False),
        ("git:*", ("GIT", "status"), False),
        ("ls:*", ("ls", None), True),
        ("ls *", ("ls", None, "x"), True),
        ("ls x *", ("ls", None, "x"), False),
        ("git push:*", ("git", None, "push"), False),
        ("git push:*", (None, "push"), False),
        ("*", (None,), True),
    ],
)
def test_allow_rules_match_words_to_the_letter(pattern: str, argv: tuple[str | None, ...], expected: bool) -> None:
    assert bool(match_shell.covers(pattern, Command(argv))) is expected


@pytest.mark.parametrize(
    ("pattern", "argv", "expected"),
    [
        ("rm:*", ("rm", "-r", "a"), True),
        ("rm:*", ("/bin/rm", "a"), True),
        ("rm:*", ("RM", "a"), True),
        ("RM:*", ("rm", "a"), True),
        ("rm:*", ("rmdir", "a"), False),
        ("rm:*", ("rm", None), True),
        ("rm -rf:*", ("rm", None, "a"), None),
        ("rm:*", (None, "-r", "a"), None),
        ("rm:*", ("echo", None), False),
        ("git push --force:*", ("git", "push", "origin", None), False),
        ("git push * --force", ("git", "push", None), None),
        ("git push:*", ("git", "-C", "x", "push"), None),
        ("git push:*", ("git", "--no-pager", "push", "a"), None),
        ("git push:*", ("git", "add", "push"), False),
        ("echo a b", ("echo", "a b"), True),
        ("*--force*", ("git", "push", "--force"), True),
        ("curl", ("curl", "x"), False),
    ],
)
def test_deny_rules_lean_to_match(pattern: str, argv: tuple[str | None, ...], expected: bool | None) -> None:
    assert match_shell.touches(pattern, match_shell.spelled(argv, ())) is expected


def test_assignments_before_a_command() -> None:
    built = command("make", assigns=("CC=gcc 4",))
    assert match_shell.covers("make", built) == "wild", "the rule says nothing of the assignment"
    assert match_shell.covers("CC='gcc 4' make", built) == "exact"
    assert match_shell.covers("CC=clang make", built) == ""
    assert match_shell.touches("make:*", match_shell.spelled(built.argv, built.assigns)) is True
    assert match_shell.covers("CC=gcc make", command("make", assigns=("CC",))) == "", "its value is not known"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8), min_size=1))
@example(["git", "a*b", "\\*", "'", '"', "", "x:*", " *"])
@example(["a\\", "*"])
def test_the_exact_rule_of_a_command_matches_it_and_no_other(words: list[str]) -> None:
    import shlex

    pattern = shlex.join(words).replace("*", "\\*")
    assert match_shell.covers(pattern, Command(tuple(words))) == "exact"
    assert not match_shell.covers(pattern, Command((*words, "more")))


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "/w/a.py", True),
        ("*.py", "/w/sub/deep/a.py", True),
        ("*.py", "/w/a.pyc", False),
        ("*.py", "/usr/lib/a.py", False),
        ("src/**", "/w/src/a/b", True),
        ("src/**", "/w/src", False),
        ("src/**", "/w/other/src/a", False),
        ("src/*.py", "/w/src/a.py", True),
        ("src/*.py", "/w/src/sub/a.py", False),
        ("/a.py", "/w/a.py", True),
        ("/a.py", "/w/sub/a.py", False),
        ("./a.py", "/w/a.py", True),
        ("a.py", "/w/sub/a.py", True),
        ("build/", "/w/x/build/out", True),
        ("docs", "/w/docs/a/b.md", True),
        ("docs", "/w/docs2/a", False),
        ("**/test", "/w/a/b/test", True),
        ("a/**/z", "/w/a/z", True),
        ("~/notes/**", "/home/u/notes/a", True),
        ("~/notes/**", "/home/u2/notes/a", False),
        ("~/notes/**", "/w/notes/a", False),
        ("//tmp/out", "/tmp/out", True),
        ("//tmp/out", "/tmp/out/below", True),
        ("//tmp/out", "/tmp/outside", False),
        ("/**", "/w/anything", True),
        ("/**", "/etc/passwd", False),
        ("**", "/w2/a", False),
        ("[ab].txt", "/w/a.txt", True),
        ("[!ab].txt", "/w/a.txt", False),
        ("?.txt", "/w/ab.txt", False),
        ("x.{c,h}", "/w/x.h", True),
        ("A.py", "/w/a.py", False),
    ],
)
def test_paths_as_gitignore_reads_them(pattern: str, path: str, expected: bool) -> None:
    rule(f"Edit({pattern})")
    assert match_path.covers(pattern, ref(path), BASES) is expected
    if expected:
        assert match_path.touches(pattern, match_path.candidates(ref(path), BASES)), "a deny rule is never narrower"


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/w/.ENV"),
        (".ENV", "/w/.env"),
        (".env", "/elsewhere/.env"),
        ("caf\u00e9", "/w/cafe\u0301"),
        ("cafe\u0301", "/w/CAF\u00c9"),
        ("/secret/**", "/w/SECRET/x"),
        ("~/.ssh", "/home/U/.ssh/id"),
        ("[A-z]x", "/w/_x"),
        ("[A-Z]x", "/w/ax"),
        ("[Z-a]x", "/w/ax"),
        ("//etc/passwd", "/etc/PASSWD"),
    ],
)
def test_denied_names_in_other_letters_and_forms(pattern: str, path: str) -> None:
    assert match_path.touches(pattern, match_path.candidates(ref(path), BASES))


def test_a_pattern_that_is_not_valid_denies_all_and_allows_nothing() -> None:
    assert match_path.touches("[z-a]", match_path.candidates(ref("/w/x"), BASES))
    assert not match_path.covers("[z-a]", ref("/w/x"), BASES)


# --- hosts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("example.com", "example.com", True),
        ("example.com", "EXAMPLE.com.", True),
        ("example.com", "example.com:8443", True),
        ("example.com", "user@example.com", True),
        ("example.com", "docs.example.com", False),
        ("example.com", "example.com.evil.net", False),
        ("example.com", "notexample.com", False),
        ("*.example.com", "docs.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", ".example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("xn--bcher-kva.example", "BÜCHER.example", True),
        ("[::1]", "::1", True),
        ("127.0.0.1", "127.0.0.1:80", True),
    ],
)
def test_hosts_label_by_label(pattern: str, host: str, expected: bool) -> None:
    assert match_host.matches(match_host.checked(f"domain:{pattern}"), host) is expected


# --- ceilings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Bash",
        "Bash(* --version)",
        "Bash(*)",
        "Bash(python:*)",
        "Bash(python3.11 -m pytest:*)",
        "Bash(/usr/bin/env x)",
        "Bash(sh -c x)",
        "Bash(sudo ls)",
        "Bash(timeout 5 ls)",
        "Bash(xargs:*)",
        "Bash(npx tool)",
        "Bash(npm:*)",
        "Bash(npm *)",
        "Bash(X=1 ls)",
        "Bash('python' x)",
        "WebFetch",
        "WebFetch(domain:*.com)",
        "Write",
        "Edit(**)",
        "Edit(/)",
        "Edit(~/x)",
        "Edit(//tmp/x)",
        "Read(~/.ssh/**)",
        "mcp__github",
        "mcp__github__push",
        "GitCommit",
        "SomethingNew",
    ],
)
def test_what_a_workspace_may_not_allow(text: str) -> None:
    assert ceiling(rule(text, "allow", "workspace"))
    for decision in ("ask", "deny"):
        assert ceiling(rule(text, decision, "workspace")) == "", "it may always be stricter"
    for source in ("user", "flag", "session"):
        assert ceiling(rule(text, "allow", source)) == "", "the person may"


@pytest.mark.parametrize(
    "text",
    [
        "Bash(npm test:*)",
        "Bash(git status:*)",
        "Bash(make lint)",
        "Edit(docs/**)",
        "Read",
        "Grep",
        "WebFetch(domain:a.org)",
    ],
)
def test_what_a_workspace_may_allow(text: str) -> None:
    assert ceiling(rule(text, "allow", "workspace")) == ""


# --- examples ---------------------------------------------------------------------------------------------------------


def test_applies_tells_whether_a_rule_speaks_about_a_call() -> None:
    push = Effects(commands=(command("git", "push", kinds=("network",)),))
    both = Effects(commands=(*push.commands, command("ls")))
    assert applies(rule("Bash(git push:*)"), "Bash", push, HERE)
    assert not applies(rule("Bash(git push:*)"), "Bash", both, HERE), "an allow rule has to cover all of it"
    assert applies(rule("Bash(git push:*)", "deny"), "Bash", both, HERE)
    assert applies(rule("Read(.env)", "deny"), "Bash", Effects(reads=(ref("/w/.env"),)), HERE)
    assert not applies(rule("Read(.env)", "deny"), "Bash", Effects(reads=(ref("/w/env"),)), HERE)
    assert applies(rule("Skill(pdf)"), "Skill", Effects(opaque="a skill"), HERE, "pdf")
    assert not applies(rule("Skill(pdf)"), "Skill", Effects(opaque="a skill"), HERE, "pdfs")


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "a*" * 30_000,
        "*a" * 30_000 + "b",
        "*" * 60_000,
        "a" * 60_000 + ":*",
        "*" + "a" * 30_000 + "*" + "a" * 29_000 + "b",
    ],
    ids=["a*", "*ab", "stars", "prefix", "long pieces"],
)
def test_no_shell_pattern_takes_long(pattern: str) -> None:
    words = Command(("a" * 16_000, None, "a" * 16_000))
    begun = time.process_time()
    match_shell.covers(pattern, words)
    match_shell.touches(pattern, match_shell.spelled(words.argv, ()))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "pattern", ["**/" * 600 + "x", "*a" * 1500 + "b", "?" * 4000, "a/**/" * 600 + "b", "[a-z]*" * 500 + "9"]
)
def test_no_path_pattern_takes_long(pattern: str) -> None:
    begun = time.process_time()
    for path in ("/w/" + "a/" * 1500 + "a", "/w/" + "a" * 250, "/w/" + "/".join(["a" * 200] * 19)):
        match_path.covers(pattern, ref(path), BASES)
    assert time.process_time() - begun < 2
