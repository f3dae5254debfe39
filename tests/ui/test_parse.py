"""The command line as a table: what each spelling means, and what each mistake is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.errors import UsageError
from agenyx.ui.conflicts import CONFLICTS
from agenyx.ui.flags import FLAGS, GROUPS, Options
from agenyx.ui.parse import parse, wants_json


@pytest.mark.parametrize(
    ("argv", "field", "value"),
    [
        (["-p", "hi"], "print_", True),
        (["--print", "hi"], "print_", True),
        (["run", "hi"], "print_", True),
        (["--model", "m", "run", "hi"], "print_", True),
        (["hi"], "print_", False),
        (["--model", "a b"], "model", "a b"),
        (["--model=a=b"], "model", "a=b"),
        (["--model=-x"], "model", "-x"),
        (["--model", "-"], "model", "-"),
        (["--model", "a", "--model", "b"], "model", "b"),
        (["--output-format", "json"], "output_format", "json"),
        ([], "output_format", ""),
        (["--effort", "xhigh"], "effort", "xhigh"),
        (["--list-providers"], "list_providers", True),
        (["--provider", "local"], "provider", "local"),
        (["--provider", "local", "--provider=local"], "provider", "local"),
        (["--base-url=http://localhost:1/v1"], "base_url", "http://localhost:1/v1"),
        (["--permission-mode", "acceptEdits"], "mode", "acceptEdits"),
        ([], "mode", "default"),
        (["--dangerously-skip-permissions"], "mode", "bypassPermissions"),
        (["--bypass-permissions"], "mode", "bypassPermissions"),
        (["--bypass-permissions", "--permission-mode=bypassPermissions"], "mode", "bypassPermissions"),
        (["--max-steps", "7"], "steps", 7),
        (["--max-turns=100000"], "steps", 100000),
        ([], "steps", 0),
        (["--max-budget-usd", "0.25"], "max_budget_usd", "0.25"),
        (["--max-budget-usd=3"], "max_budget_usd", "3"),
        (["--max-tokens", "1000"], "max_tokens", "1000"),
        (["--cwd", "/x"], "cwd", "/x"),
        (["-c"], "continue_", True),
        (["--continue", "--continue"], "continue_", True),
        (["--resume", "id"], "resume", "id"),
        (["--no-session-persistence"], "no_persistence", True),
        (["--verbose"], "verbose", True),
        (["-d"], "debug", True),
        (["-h"], "help", True),
        (["--version"], "version", True),
        (["a", "-p", "b  c", "d"], "prompt", "a b  c d"),
        (["-p", "--", "--model", "x", "-"], "prompt", "--model x -"),
        (["--", "run"], "prompt", "run"),
        (["-p", "run", "the", "tests"], "prompt", "run the tests"),
        (["run", "run", "it"], "prompt", "run it"),
        (["-p", "review", "-"], "prompt", "review"),
        (["-p", "review", "-"], "stdin", True),
        (["-p", "review"], "stdin", False),
        (["--", "-"], "stdin", False),
    ],
)
def test_what_arguments_mean(argv: list[str], field: str, value: object) -> None:
    assert getattr(parse(argv), field) == value


@pytest.mark.parametrize(
    ("argv", "message", "fix"),
    [
        (["--modle", "x"], "unknown flag --modle", "Did you mean --model?"),
        (["--output", "json"], "unknown flag --output", "Did you mean --output-format?"),
        (["--qqqq"], "unknown flag --qqqq", "agenyx --help"),
        (["-x"], "unknown flag -x", "agenyx --help"),
        (["--print=yes"], "--print does not accept a value", "just --print"),
        (["-p=1"], "-p does not accept a value", "just -p"),
        (["--model"], "--model needs a value", "--model NAME"),
        (["--model", "--", "x"], "--model needs a value", "--model NAME"),
        (["--model", "-p"], "--model needs a value, but -p follows", "--model=VALUE"),
        (["--model="], "--model has an empty value", "--model NAME"),
        (["--model", " "], "--model has an empty value", "--model NAME"),
        (["--output-format", "xml"], "cannot be 'xml'", "text, json"),
        (["--effort", "HIGH"], "cannot be 'HIGH'", "none, low, medium, high, xhigh, max"),
        (["--model", "--list-providers"], "but --list-providers follows", "--model=VALUE"),
        (["--permission-mode=yolo"], "cannot be 'yolo'", "acceptEdits"),
        (["--max-steps", "0"], "'0' is not a whole number", "--max-steps 100"),
        (["--max-steps=-1"], "'-1' is not a whole number", "--max-steps 100"),
        (["--max-steps", "1e3"], "'1e3' is not a whole number", "--max-steps 100"),
        (["--max-turns", "100001"], "from 1 to 100000", "--max-turns 100"),
        (["--max-turns", "1" * 5000], "from 1 to 100000", "--max-turns 100"),
        (["--max-steps", "\u0665"], "is not a whole number", "--max-steps 100"),
        (["--max-budget-usd", "0"], "'0' is not an amount", "--max-budget-usd USD"),
        (["--max-budget-usd", "0.0"], "is not an amount", "--max-budget-usd USD"),
        (["--max-budget-usd=-1"], "is not an amount", "--max-budget-usd USD"),
        (["--max-budget-usd", "1e3"], "is not an amount", "--max-budget-usd USD"),
        (["--max-budget-usd", "inf"], "is not an amount", "--max-budget-usd USD"),
        (["--max-budget-usd", "1."], "is not an amount", "--max-budget-usd USD"),
        (["--max-tokens", "0"], "is not a whole number of tokens", "--max-tokens N"),
        (["--max-tokens", "1.5"], "is not a whole number of tokens", "--max-tokens N"),
        (["--provider", "a", "--provider", "b"], "--provider is given twice", "Give it once"),
        (["--resume=a", "--resume=b"], "--resume is given twice", "Give it once"),
    ],
)
def test_mistakes_are_told_with_what_to_do(argv: list[str], message: str, fix: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(argv)
    assert message in error.value.message
    assert fix in error.value.fix


CONFLICTING = [
    (["--plain", "-p", "x"], "--plain is for a conversation"),
    (["--replay", "x", "--model", "m"], "--replay excludes"),
    (["--replay-loose"], "--replay-loose needs"),
    (["--bare", "--trust-workspace"], "--bare and --trust-workspace"),
    (["--strict-mcp-config"], "--strict-mcp-config needs"),
    (["--continue", "--resume", "x"], "--continue and --resume"),
    (["--fork-session"], "--fork-session needs"),
    (["--session-page-size", "5"], "need --list-sessions"),
    (["--session-page-token", "p1_x"], "need --list-sessions"),
    (["--session-revision", "r1_x"], "--session-revision needs"),
    (["--rebind"], "--rebind needs"),
    (["--no-session-persistence", "-c"], "--no-session-persistence and --continue"),
    (["--no-session-persistence", "--resume=x"], "--no-session-persistence and --resume"),
    (["--no-session-persistence", "--approvals=defer"], "--no-session-persistence and --approvals defer"),
    (["--dangerously-skip-permissions", "--permission-mode", "plan"], "excludes another --permission-mode"),
    (["--dangerously-skip-permissions", "--permission-mode", "default"], "excludes another --permission-mode"),
    (["--permission-mode", "bypassPermissions"], "needs --dangerously-skip-permissions"),
    (["--permission-mode", "plan", "--permission-mode", "acceptEdits"], "given twice"),
    (["--provider", "local", "--base-url", "http://localhost/v1"], "--provider local and --base-url"),
    (["--input-format", "stream-json"], "--input-format stream-json needs"),
    (["--include-partial-messages"], "--include-hook-events need"),
    (["--include-hook-events"], "--include-hook-events need"),
    (["--replay-user-messages", "--output-format", "stream-json"], "need --input-format stream-json"),
    (["--json-schema", "{}"], "--json-schema needs"),
    (["--bare", "--setting-sources", "user"], "--bare and --setting-sources"),
    (["--replay", "x", "--fallback-model", "m"], "--replay and --fallback-model"),
    (["--resume-session-at", "019a0000-0000-7000-8000-000000000001"], "--resume-session-at needs"),
    (["--resume-drops-turn", "019a0000-0000-7000-8000-000000000001", "-c"], "--resume-drops-turn needs"),
    (["--session-id", "019a0000-0000-7000-8000-000000000001", "-c"], "--session-id excludes"),
]


@pytest.mark.parametrize(("argv", "message"), CONFLICTING)
def test_flags_that_exclude_each_other(argv: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse([*argv, "prompt"])
    assert message in error.value.message
    assert error.value.fix


def test_every_conflict_of_the_table_is_tested() -> None:
    messages = " ".join(message for _, message in CONFLICTING)
    for conflict in CONFLICTS:
        assert any(part in conflict.message for _, part in CONFLICTING), (conflict.message, messages)


@pytest.mark.parametrize("wish", ["--help", "--version"])
def test_help_and_version_win_over_conflicts(wish: str) -> None:
    assert parse(["--continue", "--resume", "x", wish])


def test_the_table_is_consistent() -> None:
    names = [name for flag in FLAGS for name in flag.names]
    assert len(names) == len(set(names))
    fields = vars(Options())
    for flag in FLAGS:
        assert flag.group in GROUPS
        assert flag.text and not flag.text.endswith(".")
        assert isinstance(fields[flag.field], str) == bool(flag.value), flag.name


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["--output-format", "json", "--nonsense"], True),
        (["--output-format=json"], True),
        (["--output-format", "stream-json"], True),
        (["--output-format", "text"], False),
        (["--", "--output-format=json"], False),
        (["explain --output-format json"], False),
    ],
)
def test_a_wrong_command_line_still_says_whether_a_record_was_wanted(argv: list[str], wanted: bool) -> None:
    assert wants_json(argv) is wanted


words = st.one_of(
    st.sampled_from([n for f in FLAGS for n in f.names]), st.text(max_size=8), st.just("--"), st.just("-")
)


@given(st.lists(words, max_size=6))
def test_any_arguments_are_taken_or_refused_in_words(argv: list[str]) -> None:
    try:
        options = parse(argv)
    except UsageError as error:
        assert error.message and error.fix
    else:
        assert isinstance(options.prompt, str)


@given(st.lists(st.text(max_size=8), max_size=4))
def test_whatever_stands_behind_the_dashes_is_the_prompt(rest: list[str]) -> None:
    assert parse(["-p", "--", *rest]).prompt == " ".join(rest)


PROGRAM = ["--output-format", "stream-json", "--input-format=stream-json"]


def test_a_program_may_give_flags_that_are_unknown() -> None:
    options = parse([*PROGRAM, "--betas", "a,b", "--newer=x", "--model", "m"])
    assert options.unknown == ("--betas", "--newer")
    assert (options.model, options.prompt) == ("m", "")


def test_elsewhere_an_unknown_flag_names_the_nearest_one() -> None:
    with pytest.raises(UsageError) as error:
        parse(["--output-format", "stream-json", "--include-partial-message", "hi"])
    assert "--include-partial-messages" in error.value.fix


@pytest.mark.parametrize("argv", [["--verbose", ""], ["--verbose="], ["--replay-user-messages", "", "--verbose"]])
def test_a_program_may_give_a_boolean_flag_an_empty_value(argv: list[str]) -> None:
    options = parse([*PROGRAM, *argv, "--model", "m"])
    assert (options.verbose, options.model) == (True, "m")


@pytest.mark.parametrize("argv", [["--verbose="], ["--verbose=1"]])
def test_elsewhere_a_boolean_flag_takes_no_value(argv: list[str]) -> None:
    with pytest.raises(UsageError):
        parse([*argv, "hi"])


def test_a_program_may_give_a_boolean_flag_no_other_value() -> None:
    with pytest.raises(UsageError):
        parse([*PROGRAM, "--verbose=1"])


@pytest.mark.parametrize("argv", [["--system-prompt", ""], ["--system-prompt="], ["--system-prompt", "-x"]])
def test_an_empty_text_is_one_and_a_program_may_begin_one_with_a_dash(argv: list[str]) -> None:
    options = parse([*PROGRAM, *argv])
    assert "system_prompt" in options.given
    assert "append_system" not in options.given
