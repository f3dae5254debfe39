"""The reasoning effort: where it comes from and what is refused at the start."""

from __future__ import annotations

import pytest

from agenyx.config.effort import choose_effort
from agenyx.config.profiles import EFFORTS, Profile
from agenyx.core.errors import UsageError
from agenyx.ui import flags

DECLARED = Profile(
    "a", "azure_openai", "https://r.example", efforts=("low", "high"), default_effort="low", declares=True
)
SILENT = Profile("z", "azure_openai", "https://r.example", declares=True)
OPEN = Profile("o", "openai", "https://api.openai.com/v1")
LOCAL = Profile("local", "local", "http://127.0.0.1")


@pytest.mark.parametrize(
    ("profile", "variable", "flag", "known", "chosen"),
    [
        (DECLARED, "", "", None, "low"),
        (DECLARED, "high", "", None, "high"),
        (DECLARED, "low", "high", None, "high"),
        (DECLARED, "max", "high", None, "high"),
        (DECLARED, "high", "", ("max",), "high"),
        (SILENT, "", "", None, ""),
        (OPEN, "", "", None, ""),
        (OPEN, " max ", "", None, "max"),
        (OPEN, "", "none", None, "none"),
        (OPEN, "", "low", ("low",), "low"),
        (LOCAL, "high", "", None, ""),
    ],
)
def test_precedence(profile: Profile, variable: str, flag: str, known: tuple[str, ...] | None, chosen: str) -> None:
    assert choose_effort(profile, flag, {"AGENYX_REASONING_EFFORT": variable}, known) == chosen


@pytest.mark.parametrize(
    ("profile", "variable", "flag", "known", "words"),
    [
        (DECLARED, "max", "", None, ["AGENYX_REASONING_EFFORT", "'max'", "low, high"]),
        (DECLARED, "", "none", None, ["--effort", "'none'", "low, high"]),
        (SILENT, "", "low", None, ["declares no", "capabilities.reasoning.efforts"]),
        (OPEN, "HIGH", "", None, ["'HIGH'", "none, low, medium, high, xhigh, max"]),
        (OPEN, "", "max", ("low",), ["'max'", "low"]),
        (OPEN, "", "max", (), ["declares no", "takes none"]),
        (LOCAL, "", "high", None, ["takes no reasoning effort"]),
    ],
)
def test_refusals(profile: Profile, variable: str, flag: str, known: tuple[str, ...] | None, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        choose_effort(profile, flag, {"AGENYX_REASONING_EFFORT": variable}, known)
    said = f"{caught.value.message} {caught.value.fix}"
    assert all(word in said for word in words), said


def test_the_table_of_flags_knows_the_same_words() -> None:
    assert flags.EFFORTS == EFFORTS
