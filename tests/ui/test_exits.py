"""Exit codes, as one function of how a run ended."""

from __future__ import annotations

import pytest

from agenyx.core.errors import AgenyxError, ConfigError, StoreError, UsageError
from agenyx.core.events import Failure, FailureKind, Outcome, OutcomeKind, TurnFinished
from agenyx.ui.exits import code_of, complaint, explain
from support.golden import load


def ended(kind: OutcomeKind, failure: FailureKind | None = None) -> TurnFinished:
    return TurnFinished(Outcome(kind, "", Failure(failure, "it broke") if failure else None), "", 1, 1.0)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        (ended("done"), 0),
        (ended("failed"), 1),
        (ended("failed", "auth"), 1),
        (ended("failed", "quota"), 1),
        (ended("failed", "busy"), 75),
        (ended("step_limit"), 5),
        (ended("budget"), 6),
        (ended("loop"), 1),
        (ended("stopped"), 1),
        (ended("cancelled"), 130),
        (UsageError("x"), 2),
        (ConfigError("x"), 1),
        (StoreError("x"), 1),
        (RuntimeError("x"), 1),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_the_code_says_how_it_ended(how: TurnFinished | BaseException, code: int) -> None:
    assert code_of(how) == code


@pytest.mark.parametrize("number", [1, 2, 15])
def test_a_signal_wins(number: int) -> None:
    assert code_of(ended("done"), number) == 128 + number
    assert code_of(UsageError("x"), number) == 128 + number


@pytest.mark.parametrize(
    ("turn", "code"), [("work", 0), ("failed", 1), ("busy", 75), ("limit", 5), ("stopped", 1), ("cancelled", 130)]
)
def test_the_golden_turns(turn: str, code: int) -> None:
    finished = load(turn)[-1].body
    assert isinstance(finished, TurnFinished)
    assert code_of(finished) == code


def test_errors_are_one_sentence_and_what_to_do() -> None:
    assert complaint(*explain(AgenyxError("no key", "Set it."))) == "agenyx: no key\nSet it.\n"
    assert complaint(*explain(AgenyxError("no key"))) == "agenyx: no key\n"
    message, fix = explain(KeyError("a\nb"))
    assert message == "unexpected error: KeyError: 'a\\nb'"
    assert "--debug" in fix
    assert "\x1b" not in complaint("bad\x1b[2J name")
