"""The command lines of sub-commands."""

from __future__ import annotations

import pytest

from agenyx.core.errors import UsageError
from agenyx.ui.arguments import arguments


def parse(*argv: str) -> tuple[list[str], bool, str, bool]:
    found = arguments("x", argv, switches=("--on",), values=("--value",), words=(0, 2))
    return found.words, found.on("--on"), found.value("--value"), found.help


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        ([], ([], False, "", False)),
        (["a", "--on", "b"], (["a", "b"], True, "", False)),
        (["--value", "v"], ([], False, "v", False)),
        (["--value=v=w"], ([], False, "v=w", False)),
        (["--value", "-x"], ([], False, "-x", False)),
        (["--", "--on"], (["--on"], False, "", False)),
        (["-"], (["-"], False, "", False)),
        (["-h", "a", "b", "c"], (["a", "b", "c"], False, "", True)),
        (["--help"], ([], False, "", True)),
    ],
)
def test_what_arguments_mean(argv: list[str], found: object) -> None:
    assert parse(*argv) == found


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--of"], "agenyx x has no flag --of"),
        (["--on=1"], "--on does not accept a value"),
        (["--value"], "--value needs a value"),
        (["--value", "--on"], "--value needs a value"),
        (["--value="], "--value needs a value"),
        (["a", "b", "c"], "too many words"),
    ],
)
def test_mistakes(argv: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse(*argv)
    assert caught.value.fix


def test_too_few_words() -> None:
    with pytest.raises(UsageError, match="too few words"):
        arguments("x", [], words=(1, 1))
