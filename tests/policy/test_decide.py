"""Judgement: the order of decision, modes, rules over whole scripts, reasons. Everything here is a pure function."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.tools import Command, Concern, Effects, PathRef, Redirect
from agenyx.core.verdict import Rule, RuleSource
from agenyx.policy.decide import Policy, decide, judge, judgements
from agenyx.policy.paths import protection
from agenyx.policy.programs import assess
from agenyx.policy.rules import parse_rule

INSIDE = PathRef("a.py", b"/w/a.py", "/w")
BEYOND_REF = PathRef("/tmp/x", b"/tmp/x", None)
GUARDED = PathRef(".env", b"/w/.env", "/w", protected=".env may hold secrets")
OUTSIDE = PathRef("/etc/passwd", b"/etc/passwd", None, problem="/etc/passwd lies outside the workspace")

READ = Effects(reads=(INSIDE,), parallel=True)
EDIT = Effects(writes=(INSIDE,))
SHELL = Effects(commands=(Command(("ls",)),), opaque="a shell command is not judged in parts")
GUARDED_READ = Effects(reads=(GUARDED,), parallel=True)
GUARDED_EDIT = Effects(writes=(GUARDED,))
BEYOND = Effects(reads=(OUTSIDE,))
REBOOT = Effects(
    commands=(
        Command(("ls",)),
        Command(("/sbin/reboot", "-f"), concerns=(Concern("refuse", "Agenyx never runs reboot", "reboot"),)),
    ),
    opaque="a shell command",
)

MODES = {
    "default": Policy(),
    "acceptEdits": Policy("acceptEdits"),
    "plan": Policy("plan"),
    "dontAsk": Policy("dontAsk"),
    "bypass": Policy("bypassPermissions", unsafe=True),
    "bypass without its flag": Policy("bypassPermissions"),
}


def allow(*texts: str, source: RuleSource = "user") -> tuple[Rule, ...]:
    return tuple(parse_rule(text, "allow", source) for text in texts)


def deny(*texts: str) -> tuple[Rule, ...]:
    return tuple(parse_rule(text, "deny", "user", "settings.toml") for text in texts)


def ask(*texts: str) -> tuple[Rule, ...]:
    return tuple(parse_rule(text, "ask", "user") for text in texts)


def policy(*rules: Rule, **more: Any) -> Policy:
    return Policy(rules=rules, workspace="/w", home_dir="/home/u", **more)


BYPASS: dict[str, Any] = {"mode": "bypassPermissions", "unsafe": True}


def ref(path: str) -> PathRef:
    return PathRef(path.removeprefix("/w/"), path.encode(), "/w" if path.startswith("/w/") else None)


def looks(*argv: str | None, **more: Any) -> Command:
    return Command(argv, kinds=("reads",), **more)


def idle(*argv: str | None, **more: Any) -> Command:
    return Command(argv, kinds=(), **more)


def acts(*argv: str | None, **more: Any) -> Command:
    return Command(argv, kinds=("writes",), **more)


def script(*commands: Command, text: str = "", **more: Any) -> Effects:
    """The effects of a Bash call: the paths of its commands are those of the call too."""
    return Effects(
        reads=tuple(path for command in commands for path in command.reads),
        writes=tuple(path for command in commands for path in command.writes),
        removes=tuple(path for command in commands for path in command.removes),
        hosts=tuple(host for command in commands for host in command.hosts),
        commands=commands,
        script=text,
        **more,
    )


def bash(effects: Effects, *rules: Rule, **more: Any) -> str:
    return decide("Bash", effects, policy(*rules, **more)).decision


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (READ, {"default": "allow", "acceptEdits": "allow", "plan": "allow", "dontAsk": "allow", "bypass": "allow"}),
        (EDIT, {"default": "ask", "acceptEdits": "allow", "plan": "deny", "dontAsk": "deny", "bypass": "allow"}),
        (SHELL, {"default": "ask", "acceptEdits": "ask", "plan": "deny", "dontAsk": "deny", "bypass": "allow"}),
        (GUARDED_READ, {"default": "ask", "acceptEdits": "ask", "plan": "ask", "dontAsk": "deny", "bypass": "ask"}),
        (GUARDED_EDIT, {"default": "ask", "acceptEdits": "ask", "plan": "deny", "dontAsk": "deny", "bypass": "ask"}),
        (BEYOND, dict.fromkeys(MODES, "deny")),
        (REBOOT, dict.fromkeys(MODES, "deny")),
        (EDIT, {"bypass without its flag": "ask"}),
        (script(looks("ls")), {"default": "ask", "plan": "ask", "dontAsk": "deny", "bypass": "allow"}),
        (script(acts("touch", "a")), {"default": "ask", "acceptEdits": "ask", "plan": "deny", "bypass": "allow"}),
        (Effects(writes=(BEYOND_REF,)), {"default": "ask", "acceptEdits": "ask", "plan": "deny", "bypass": "allow"}),
        (
            Effects(interact=True),
            dict.fromkeys(["default", "acceptEdits", "plan", "bypass"], "ask") | {"dontAsk": "deny"},
        ),
    ],
)
def test_modes(effects: Effects, expected: dict[str, str]) -> None:
    decided = {mode: decide("Tool", effects, MODES[mode]) for mode in expected}
    assert {mode: verdict.decision for mode, verdict in decided.items()} == expected
    assert all(verdict.text for verdict in decided.values()), "every verdict has a reason"


@pytest.mark.parametrize("name", ["shutdown", "/sbin/halt", "mkfs", "mkfs.ext4", "init", "poweroff"])
def test_refused_programs_are_refused_by_their_parsed_name(name: str) -> None:
    assert _assessed(name, "x") == "deny"


@pytest.mark.parametrize("argv", [("echo", "reboot"), ("npm", "init"), ("git", "init"), ("initdb",), (None, "reboot")])
def test_words_that_only_look_like_refused_programs_are_not(argv: tuple[str | None, ...]) -> None:
    assert _assessed(*argv) == "allow"


def _assessed(*argv: str | None) -> str:
    """The verdict on a command as the table of programs judges it, in the mode that permits most."""
    found = assess(argv)
    command = Command(argv, kinds=found.kinds, why=found.why, concerns=found.concerns)
    return decide("Bash", script(command), MODES["bypass"]).decision


# --- the order of decision --------------------------------------------------------------------------------------------

PUSH = Command(("git", "push"), kinds=("network",), hosts=("origin",))
ALWAYS = Concern("always", "it is padded with invisible characters")
DANGER = Concern("danger", "it removes the workspace", "/w")


@pytest.mark.parametrize(
    ("effects", "rules", "more", "expected"),
    [
        (script(PUSH), deny("Bash(git push:*)") + allow("Bash(git push:*)"), {}, "deny"),
        (script(PUSH), deny("Bash(git push:*)"), BYPASS, "deny"),
        (script(PUSH), ask("Bash(git push:*)") + allow("Bash"), {}, "ask"),
        (script(PUSH), ask("Bash(git push:*)"), BYPASS, "ask"),
        (script(PUSH), ask("Bash(git push:*)"), {"mode": "dontAsk"}, "deny"),
        (script(PUSH), allow("Bash(git push:*)"), {}, "allow"),
        (script(PUSH), allow("Bash(git push:*)"), {"mode": "dontAsk"}, "allow"),
        (script(PUSH), allow("Bash(git push:*)"), {"mode": "plan"}, "deny"),
        (script(PUSH, concerns=(ALWAYS,)), allow("Bash"), {}, "ask"),
        (script(PUSH, concerns=(ALWAYS,)), (), BYPASS, "ask"),
        (script(PUSH, concerns=(DANGER,)), allow("Bash(git push)"), {}, "ask"),
        (script(PUSH, concerns=(DANGER,)), (), BYPASS, "allow"),
        (script(acts("x", concerns=(DANGER,))), allow("Bash"), {}, "ask"),
        (script(PUSH, concerns=(Concern("refuse", "no"),)), allow("Bash"), BYPASS, "deny"),
        (script(looks("cat", ".env", reads=(GUARDED,))), allow("Bash(cat:*)", "Read(.env)"), {}, "ask"),
        (script(looks("cat", "x", reads=(OUTSIDE,))), allow("Bash(cat:*)"), BYPASS, "deny"),
        (script(PUSH, opaque="eval"), allow("Bash(git push:*)", "Bash"), {}, "ask"),
        (script(PUSH, text="git push", opaque="eval"), allow("Bash(git push)"), {}, "allow"),
        (Effects(interact=True), allow("Tool"), {}, "ask"),
    ],
)
def test_order(effects: Effects, rules: tuple[Rule, ...], more: dict[str, Any], expected: str) -> None:
    verdict = decide("Bash", effects, policy(*rules, **more))
    assert verdict.decision == expected
    assert verdict.text


# --- scripts ----------------------------------------------------------------------------------------------------------

BUILD = Command(("make",), kinds=("runs",))
CAT = looks("cat", "a.py", reads=(INSIDE,))


@pytest.mark.parametrize(
    ("effects", "rules", "expected"),
    [
        (script(BUILD, PUSH), ["make", "git push:*"], "allow"),
        (script(BUILD, PUSH), ["make"], "ask"),
        (script(BUILD, PUSH), ["make && git push"], "ask"),
        (script(BUILD, PUSH, text=" make && git push\n"), ["make && git push"], "allow"),
        (script(BUILD, PUSH, text="make && git push"), ["make && git *"], "ask"),
        (script(BUILD, CAT), ["make"], "ask"),
        # what does nothing by itself needs no rule beside what has one
        (script(idle("cd", "sub"), BUILD), ["make"], "allow"),
        (script(idle("echo", None), BUILD), ["make"], "allow"),
        (script(idle("cd", "sub")), ["make"], "ask"),
        (script(idle("cd", "sub")), ["cd:*"], "allow"),
        (script(idle("echo", "x", why="an option"), BUILD), ["make"], "ask"),
        (script(idle("echo", "x", writes=(INSIDE,)), BUILD), ["make"], "ask"),
        # the command that a wrapper starts is judged, not the wrapper
        (script(idle("timeout", "5", "make"), Command(("make",), inside=True)), ["make"], "allow"),
        (script(idle("timeout", "5", "make"), Command(("make",), inside=True)), ["timeout:*"], "ask"),
        (script(idle("timeout", "5", "make"), Command(("make",), inside=True)), ["timeout 5 make"], "allow"),
        (script(looks("find", "x"), acts("a", inside=True), acts("b", inside=True)), ["find x"], "allow"),
        (script(looks("find", "x"), acts("a", inside=True), acts("b", inside=True)), ["find *", "a"], "ask"),
        (script(looks("find", "x"), acts("a", inside=True), acts("b")), ["find x"], "ask"),
        # what is not understood is covered by no wildcard
        (script(looks("rg", "--pre=x", "y", why="an option")), ["rg:*"], "ask"),
        (script(looks("rg", "--pre=x", "y", why="an option")), ["rg --pre=x y"], "allow"),
        (script(looks("rg", "y", why="an option"), CAT), ["*"], "ask"),
        (script(acts("make", assigns=("PATH=.",), why="PATH")), ["make"], "ask"),
        (script(acts("make", assigns=("PATH=.",), why="PATH")), ["PATH=. make"], "allow"),
        (script(Command((None, "-r", "a"))), ["rm:*"], "ask"),
        (script(acts("rm", None)), ["rm:*"], "allow"),
        # where it runs
        (script(acts("make", cwd="/etc")), ["make"], "ask"),
        (script(acts("make", cwd="..")), ["make"], "ask"),
        (script(acts("make", cwd=None)), ["make"], "ask"),
        (script(acts("make", cwd="/w/sub")), ["make"], "allow"),
        (script(acts("make", cwd="sub/..")), ["make"], "allow"),
        (script(acts("make", cwd="/w/../etc")), ["make"], "ask"),
        # where its output goes
        (script(acts("make", redirects=(Redirect(">", None),))), ["make", "make:*", "*"], "ask"),
        (script(acts("make", redirects=(Redirect("<<<", None),))), ["make"], "allow"),
        (script(acts("cp", "a", "/tmp/x", writes=(BEYOND_REF,))), ["cp:*"], "ask"),
        (script(acts("cp", "a", "b", writes=(INSIDE,))), ["cp:*"], "allow"),
        (script(Command((), kinds=(), writes=(INSIDE,)), BUILD), ["make"], "ask"),
    ],
)
def test_a_script_is_allowed_when_each_of_its_commands_is(effects: Effects, rules: list[str], expected: str) -> None:
    assert bash(effects, *allow(*(f"Bash({text})" for text in rules))) == expected


def test_paths_outside_need_a_rule_of_their_own() -> None:
    copy = script(acts("cp", "a", "/tmp/x", writes=(BEYOND_REF,)))
    assert bash(copy, *allow("Bash(cp:*)", "Edit(//tmp/**)")) == "allow"
    assert bash(copy, *allow("Bash(cp:*)", "Edit(//**)")) == "allow"
    assert bash(copy, *allow("Bash(cp:*)", "Edit", "Edit(**)", "Write(x)")) == "ask", "they end with the workspace"
    assert bash(copy, *allow("Edit(//tmp/**)")) == "ask"
    assert bash(script(idle("echo", "x", writes=(BEYOND_REF,))), *allow("Edit(//tmp/**)")) == "allow"
    read = script(looks("cat", "/tmp/x", reads=(BEYOND_REF,)))
    assert bash(read, *allow("Bash(cat:*)")) == "ask"
    assert bash(read, *allow("Bash(cat /tmp/x)")) == "allow"
    assert bash(read, *allow("Bash(cat:*)", "Read(//tmp/**)")) == "allow"


def test_what_a_program_that_looks_is_made_to_write_needs_a_rule_of_its_own() -> None:
    written = script(Command(("sort", "-o", "b", "a"), kinds=("reads", "writes"), writes=(INSIDE,)))
    shown = script(looks("ls", writes=(INSIDE,), redirects=(Redirect(">", "a"),)))
    for effects, words in ((written, "sort:*"), (shown, "ls:*"), (shown, "ls")):
        assert bash(effects, *allow(f"Bash({words})")) == "ask"
        assert bash(effects, *allow(f"Bash({words})", "Edit")) == "allow"
        assert bash(effects, *allow(f"Bash({words})"), mode="acceptEdits") == "allow"
    assert bash(written, *allow("Bash(sort -o b a)")) == "allow"


@pytest.mark.parametrize(
    ("effects", "rule", "expected"),
    [
        (script(looks("cat", ".env", reads=(ref("/w/.env"),))), "Read(.env)", "deny"),
        (script(looks("cat", ".ENV", reads=(ref("/w/.ENV"),))), "Read(.env)", "deny"),
        (script(idle("echo", "x", writes=(ref("/w/docs/x"),))), "Edit(docs/**)", "deny"),
        (script(acts("rm", "docs/x", removes=(ref("/w/docs/x"),))), "Write(docs/**)", "deny"),
        (script(looks("cat", "docs/x", reads=(ref("/w/docs/x"),))), "Edit(docs/**)", "allow"),
        (script(looks("cat", "docs/x", reads=(ref("/w/docs/x"),))), "Grep(docs/**)", "allow"),
        (script(looks("cat", None)), "Read(.env)", "ask"),
        (script(idle("echo", "x", redirects=(Redirect(">", None),))), "Edit(docs/**)", "ask"),
        (script(looks("ls", None, globs=((1, "*.py"),), reads=(INSIDE,))), "Read(.env)", "allow"),
        (script(idle("echo", None)), "Read(.env)", "allow"),
        (script(Command(("curl", "x"), kinds=("network",), hosts=("evil.com",))), "WebFetch(domain:evil.com)", "deny"),
        (script(Command(("curl", None), kinds=("network",))), "WebFetch(domain:evil.com)", "ask"),
        (script(Command(("curl", "x"), kinds=("network",), hosts=("a.org",))), "WebFetch(domain:evil.com)", "allow"),
        (script(acts("sudo", "rm", "a"), acts("rm", "a", inside=True)), "Bash(rm:*)", "deny"),
        (script(acts("sudo", "rm", "a"), acts("rm", "a", inside=True)), "Bash(sudo:*)", "deny"),
        (script(Command((None, "-r", "a"))), "Bash(rm:*)", "ask"),
        (script(acts("git", "-C", "x", "push")), "Bash(git push:*)", "ask"),
        (script(acts("a"), acts("b"), text="a; b"), "Bash(a; b)", "deny"),
        (script(acts("a")), "Bash", "deny"),
        (script(acts("a")), "bash", "deny"),
    ],
)
def test_deny_rules_reach_into_scripts_also_when_permissions_are_bypassed(
    effects: Effects, rule: str, expected: str
) -> None:
    assert bash(effects, *deny(rule), **BYPASS) == expected


def test_a_denied_file_under_another_name() -> None:
    linked = PathRef("notes", b"/w/notes", "/w", identity=(1, 42))
    rule = deny("Read(.env)")
    known = {"Read(.env)": frozenset({(1, 42)})}
    assert decide("Read", Effects(reads=(linked,)), policy(*rule)).decision == "allow"
    assert decide("Read", Effects(reads=(linked,)), policy(*rule, identities=known)).decision == "deny"


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "effects", "rules", "expected"),
    [
        ("Write", EDIT, allow("Edit(*.py)"), "allow"),
        ("Edit", EDIT, allow("Write(/a.py)"), "allow"),
        ("MultiEdit", EDIT, allow("Edit"), "allow"),
        ("Edit", EDIT, allow("Edit(*.md)"), "ask"),
        ("Edit", Effects(writes=(INSIDE, ref("/w/b.md"))), allow("Edit(*.py)"), "ask"),
        ("Edit", EDIT, deny("MultiEdit"), "deny"),
        ("Read", READ, deny("Read"), "deny"),
        ("Grep", READ, deny("Read"), "deny"),
        ("Read", Effects(parallel=True), deny("Read"), "deny"),
        ("Read", READ, deny("Grep"), "allow"),
        ("Grep", READ, deny("Grep"), "deny"),
        ("Grep", READ, deny("Grep(*.py)"), "deny"),
        ("Edit", EDIT, deny("Read(*.py)"), "ask"),
        ("WebFetch", Effects(hosts=("a.org",)), allow("WebFetch(domain:a.org)"), "allow"),
        ("WebFetch", Effects(hosts=("a.org", "b.org")), allow("WebFetch(domain:a.org)"), "ask"),
        ("WebFetch", Effects(hosts=("a.org",)), allow("WebFetch"), "allow"),
        ("WebFetch", Effects(hosts=("a.org",)), allow("WebFetch") + deny("WebFetch(domain:a.org)"), "deny"),
        ("mcp__git__push", Effects(opaque="a server"), allow("mcp__git"), "allow"),
        ("mcp__git__push", Effects(opaque="a server"), allow("mcp__git__push"), "allow"),
        ("mcp__git__push", Effects(opaque="a server"), allow("mcp__git__pull"), "ask"),
        ("mcp__github__push", Effects(opaque="a server"), allow("mcp__git"), "ask"),
        ("mcp__Git__push", Effects(opaque="a server"), allow("mcp__git"), "ask"),
        ("mcp__Git__push", Effects(opaque="a server"), allow("mcp__Git") + deny("mcp__git"), "deny"),
        ("GitCommit", script(acts("git", "commit")), allow("GitCommit"), "allow"),
        ("GitCommit", script(acts("git", "commit"), opaque="a hook"), allow("GitCommit"), "ask"),
        ("GitCommit", script(acts("git", "commit")), deny("Bash(git commit:*)"), "deny"),
        ("GitCommit", script(acts("git", "commit")), deny("Bash"), "ask"),
        ("Tool", Effects(writes=(BEYOND_REF,)), allow("Tool"), "ask"),
        ("Tool", Effects(writes=(BEYOND_REF,)), allow("Tool", "Edit(//tmp/x)"), "allow"),
    ],
)
def test_rules_over_tools(name: str, effects: Effects, rules: tuple[Rule, ...], expected: str) -> None:
    assert decide(name, effects, policy(*rules)).decision == expected


@pytest.mark.parametrize(
    ("rule", "subject", "expected"),
    [("Skill(pdf)", "pdf", "allow"), ("Skill(pdf*)", "pdf-forms", "allow"), ("Skill(pdf)", "PDF", "ask")],
)
def test_rules_over_what_a_call_names(rule: str, subject: str, expected: str) -> None:
    effects = Effects(opaque="a skill")
    assert decide("Skill", effects, policy(*allow(rule)), subject).decision == expected
    assert decide("Skill", effects, policy(*deny(rule)), subject).decision == "deny"
    assert decide("Agent", effects, policy(*deny(rule)), subject).decision == "ask", "another tool"


def test_a_workspace_may_be_stricter_but_not_wider_than_its_ceiling() -> None:
    run = script(Command(("python", "x.py"), kinds=("runs",)))
    assert bash(run, *allow("Bash(python:*)")) == "allow"
    assert bash(run, *allow("Bash(python:*)", source="workspace")) == "ask"
    strict = parse_rule("Bash(python:*)", "deny", "workspace")
    assert bash(run, strict, *allow("Bash(python:*)")) == "deny"


# --- looking ----------------------------------------------------------------------------------------------------------


def test_commands_that_only_look_run_unasked_only_where_a_sandbox_holds_them_to_it() -> None:
    look = script(idle("cd", "sub"), looks("cat", "a.py", reads=(INSIDE,)))
    assert bash(look) == "ask"
    assert bash(look, contained=True) == "allow"
    assert bash(look, contained=True, mode="plan") == "allow"
    assert bash(look, contained=True, read_only_shell="ask") == "ask"
    for other in (
        script(looks("cat", "/tmp/x", reads=(BEYOND_REF,))),
        script(looks("ls", cwd="/etc")),
        script(looks("ls"), opaque="a loop"),
        script(looks("ls", why="an option")),
        script(looks("ls"), BUILD),
        script(looks("ls", hosts=("a.org",))),
    ):
        assert bash(other, contained=True) == "ask"


def test_grants() -> None:
    def granted(effects: Effects, *rules: Rule, **more: Any) -> Any:
        return decide("Bash", effects, policy(*rules, **more)).grants

    look = granted(script(CAT), contained=True)
    assert (look.readonly, look.write_roots, look.network) == (True, (), False)
    build = granted(script(BUILD))
    assert (build.readonly, build.write_roots, build.network) == (False, ("/w",), False)
    push = granted(script(PUSH), *allow("Bash(git push:*)"))
    assert (push.write_roots, push.network) == (("/w",), True)
    copy = granted(script(acts("cp", "a", "/tmp/x", writes=(BEYOND_REF,))))
    assert copy.write_roots == ("/w", "/tmp/x")
    assert granted(script(BUILD), mode="plan").write_roots == (), "what is denied is granted nothing"


# --- reasons ----------------------------------------------------------------------------------------------------------


def test_reasons_name_the_command_what_it_does_and_the_rule() -> None:
    verdict = decide("Bash", script(PUSH, idle("true"), BUILD), policy())
    assert [reason.text for reason in verdict.reasons] == [
        "git push contacts origin; no rule allows it",
        "true does nothing by itself; no rule allows it",
        "make runs code that its words do not show; no rule allows it",
    ]
    assert [reason.part for reason in verdict.reasons] == ["git push", "true", "make"]
    odd = looks("rg", "--pre=x", "y", why="the option --pre of rg starts a program")
    busy = Command(("pip", "install"), kinds=("runs", "network", "writes"), writes=(INSIDE,))
    assert [judge(command, policy()).text for command in (odd, busy)] == [
        "rg --pre=x y: the option --pre of rg starts a program; no rule allows it",
        "pip install uses the network, changes a.py and runs code that its words do not show; no rule allows it",
    ]
    verdict = decide("Bash", script(PUSH, BUILD), policy(*deny("Bash(git push:*)")))
    assert verdict.text == "your rule Bash(git push:*) (settings.toml) denies git push"
    assert verdict.reasons[0].rule is not None and verdict.reasons[0].rule.text == "Bash(git push:*)"
    verdict = decide("Bash", script(Command((None, "-r", "a b"))), policy(*deny("Bash(rm:*)")))
    assert "may be what your rule Bash(rm:*)" in verdict.text and verdict.reasons[0].part == "… -r 'a b'"


def test_reasons_stay_few() -> None:
    verdict = decide("Bash", script(*(acts("touch", str(at)) for at in range(500))), policy())
    assert len(verdict.reasons) == 21 and verdict.reasons[-1].text == "and 480 more"


def test_each_command_has_its_own_verdict() -> None:
    effects = script(idle("cd", "sub"), BUILD, PUSH, opaque="a loop")
    rules = policy(*allow("Bash(make)"), *deny("Bash(git push:*)"))
    assert [verdict.decision for verdict in judgements(effects, rules)] == ["allow", "allow", "deny"]
    assert judge(BUILD, rules).decision == "allow"
    assert judge(idle("cd", "sub"), rules).decision == "ask", "alone, nothing that has a rule is beside it"
    assert all(verdict.text for verdict in judgements(effects, rules))


# --- properties -------------------------------------------------------------------------------------------------------

_WORDS = st.sampled_from(["git", "push", "rm", "-r", "make", "a", "*", "a b", None])
_PATHS = st.sampled_from([INSIDE, BEYOND_REF, ref("/w/docs/x"), GUARDED])
_COMMANDS = st.builds(
    Command,
    st.lists(_WORDS, max_size=3).map(tuple),
    inside=st.booleans(),
    kinds=st.sampled_from([(), ("reads",), ("writes",), ("network",), ("unknown",)]),
    writes=st.lists(_PATHS, max_size=1).map(tuple),
    reads=st.lists(_PATHS, max_size=1).map(tuple),
    why=st.sampled_from(["", "", "an option"]),
    cwd=st.sampled_from(["", "", "sub", "/etc", None]),
)
_TEXTS = (
    *("Bash", "Bash(git push)", "Bash(git push:*)", "Bash(git *)", "Bash(rm:*)", "Bash(*)", "Bash(make)", "Bash(* a)"),
    *("Edit", "Edit(docs/**)", "Edit(//tmp/**)", "Edit(*.py)", "Read(a.py)", "Read"),
)
_RULES = st.builds(
    parse_rule,
    st.sampled_from(
        [
            "Bash",
            "Bash(git push)",
            "Bash(git push:*)",
            "Bash(git *)",
            "Bash(rm:*)",
            "Bash(*)",
            "Bash(make)",
            "Bash(* a)",
            "Edit",
            "Edit(docs/**)",
            "Edit(//tmp/**)",
            "Read(a.py)",
            "Read",
            "Edit(*.py)",
        ]
    ),
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(["user", "workspace", "session"]),
)
_POLICIES = st.lists(_RULES, max_size=5)
_SCRIPTS = st.lists(_COMMANDS, min_size=1, max_size=4)
_STRICT = {"allow": 0, "ask": 1, "deny": 2}


@settings(deadline=None, max_examples=150)
@given(
    st.lists(_COMMANDS.filter(lambda command: bool(command.kinds)), min_size=1, max_size=3),
    _SCRIPTS,
    _POLICIES,
    st.sampled_from(["default", "plan", "acceptEdits", "dontAsk"]),
    st.booleans(),
)
def test_more_commands_never_make_a_script_freer(
    commands: list[Command], more: list[Command], rules: list[Rule], mode: Any, contained: bool
) -> None:
    """What does nothing by itself is left out: alone it is asked about, beside what a rule allows it is not."""
    before = decide("Bash", script(*commands), policy(*rules, mode=mode, contained=contained))
    after = decide("Bash", script(*commands, *more), policy(*rules, mode=mode, contained=contained))
    assert _STRICT[after.decision] >= _STRICT[before.decision]


@settings(deadline=None, max_examples=150)
@given(_SCRIPTS, _POLICIES, _RULES)
def test_allow_rules_never_weaken_a_denial_or_a_question_of_a_rule(
    commands: list[Command], rules: list[Rule], more: Rule
) -> None:
    strict = [rule for rule in rules if rule.decision != "allow"]
    before = decide("Bash", script(*commands), policy(*strict))
    after = decide("Bash", script(*commands), policy(*strict, *rules, parse_rule(more.text, "allow", "user")))
    if before.decision == "deny":
        assert after.decision == "deny"
    if any(reason.rule for reason in before.reasons):
        assert after.decision == before.decision


@settings(deadline=None, max_examples=100)
@given(_SCRIPTS, _POLICIES.flatmap(lambda rules: st.tuples(st.just(rules), st.permutations(rules))))
def test_the_order_of_rules_does_not_matter(commands: list[Command], rules: tuple[list[Rule], list[Rule]]) -> None:
    one, two = (decide("Bash", script(*commands), policy(*order)) for order in rules)
    assert one == two


@settings(deadline=None, max_examples=150)
@given(_SCRIPTS, _POLICIES, st.sampled_from(["default", "plan", "dontAsk", "acceptEdits"]))
def test_the_verdict_on_a_script_is_no_freer_than_that_on_any_command(
    commands: list[Command], rules: list[Rule], mode: Any
) -> None:
    whole = decide("Bash", script(*commands), policy(*rules, mode=mode))
    parts = judgements(script(*commands), policy(*rules, mode=mode))
    assert _STRICT[whole.decision] == max(_STRICT[verdict.decision] for verdict in parts)


def test_a_verdict_costs_little() -> None:
    rules = [
        *deny(*(f"Bash(tool{at} danger:*)" for at in range(10))),
        *deny(*(f"Read(secret{at}/**)" for at in range(10))),
    ]
    rules += allow(
        *(f"Bash(git sub{at}:*)" for at in range(25)), "Edit(src/**)", "Edit(docs/**)", "WebFetch(domain:a.org)"
    )
    rules += ask("Bash(* --force)", "Bash(rm:*)")
    names = [f"git sub{at} file{at}.py" for at in range(5)]
    commands = [acts(*name.split(), writes=(ref(f"/w/src/{at}"),)) for at, name in enumerate(names)]
    mine, effects = policy(*rules), script(*commands)
    assert decide("Bash", effects, mine).decision == "allow"
    costs: list[float] = []
    for _ in range(200):
        begun = time.perf_counter()
        decide("Bash", effects, mine)
        costs.append(time.perf_counter() - begun)
    assert sorted(costs)[100] < 0.002, "aimed at 0.2 ms; a loaded machine gets ten times that"


# --- protected paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.ENV",
        "/w/sub/.env.local",
        "/w/.git/hooks/pre-commit",
        "/w/.git",
        "/w/sub/.GIT/config",
        "/w/.vscode/tasks.json",
        "/w/.agenyx/settings.toml",
        "/w/deploy/id_rsa",
        "/w/aws-credentials.json",
        "/w/.npmrc",
        "/home/u/.agenyx/auth.json",
        "/home/u/.agenyx",
        "/home/u/.ssh/known_hosts",
    ],
)
def test_protected(path: str) -> None:
    assert protection(path.encode(), "/w", "/home/u/.agenyx")


@pytest.mark.parametrize(
    "path", ["/w", "/w/a.py", "/w/.env.example", "/w/.github/workflows/ci.yml", "/w/.gitignore", "/w/env", "/w/git/x"]
)
def test_not_protected(path: str) -> None:
    assert protection(path.encode(), "/w", "/home/u/.agenyx") == ""


def test_a_workspace_below_a_protected_name_is_an_ordinary_one() -> None:
    assert protection(b"/home/u/.codex/proj/a.py", "/home/u/.codex/proj", "/home/u/.agenyx") == ""
