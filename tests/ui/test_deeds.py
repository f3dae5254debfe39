"""The table of what the commands of a script do."""

from __future__ import annotations

import pytest

from agenyx.core.tools import Command, Concern, PathRef, Redirect
from agenyx.ui.deeds import deed, shown, table


def path(shown: str) -> PathRef:
    return PathRef(shown, shown.encode(), "/w")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Command(("cd", "x"), kinds=()), "nothing by itself"),
        (Command(("cat", "a"), kinds=("reads",), reads=(path("a"),)), "reads a"),
        (Command(("ls",), kinds=("reads",)), "only reads"),
        (Command(("tee", "a"), kinds=("writes",), writes=(path("a"),)), "changes a"),
        (Command(("rm", "a"), kinds=("removes",), removes=(path("a"),)), "removes a"),
        (Command(("curl", "x.org"), kinds=("network",), hosts=("x.org",)), "contacts x.org"),
        (Command(("make",), kinds=("runs",)), "runs code that is not in its words"),
        (Command(("frob",)), "a program that Agenyx does not know"),
        (Command((), kinds=("unknown",)), "not understood"),
        (Command(("rg", "--pre=x"), kinds=("reads",), why="--pre starts a program"), "--pre starts a program"),
        (Command(("dd",), kinds=("writes",), concerns=(Concern("danger", "it writes a disk"),)), "! it writes a disk"),
        (Command(("rm",), removes=tuple(path(f"f{n}") for n in range(9))), "f4 and 4 more"),
    ],
)
def test_what_a_command_does(command: Command, words: str) -> None:
    assert words in deed(command)


def test_a_command_is_shown_with_all_that_it_is_given() -> None:
    command = Command(
        ("make", None, "a b"), assigns=("CC=evil",), redirects=(Redirect(">", "log"), Redirect("<", None))
    )
    assert shown(command) == "CC=evil make … 'a b' > log < …"


def test_inner_commands_are_indented_and_equal_ones_counted() -> None:
    commands = [Command(("timeout", "5", "make"), kinds=()), Command(("make",), kinds=("runs",), inside=True)]
    rows = table([*commands, *[Command(("frob",))] * 3], 80)
    assert [row.split("  ")[0] for row in rows] == ["timeout 5 make", "", "frob (x3)"]
    assert rows[1].startswith("  make ")


def test_the_directory_is_told_where_it_changes() -> None:
    places = ("/w/", "/w/web", "/w/web", "/etc", None)
    rows = table([Command((f"p{n}",), kinds=("runs",), cwd=cwd) for n, cwd in enumerate(places)], 100)
    assert [row.partition("; in ")[2] for row in rows] == ["", "web", "", "/etc", "a directory that is not known"]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_rows_fit_and_no_word_is_broken(width: int) -> None:
    commands = [Command(("echo", *["word"] * 35), kinds=("writes",), writes=(path("out.txt"),))]
    rows = table(commands, width)
    assert all(len(row) <= width for row in rows)
    assert "".join(rows).count("word") == 35


def test_no_name_can_make_a_row_of_its_own() -> None:
    rows = table([Command(("rm", "a\nWhy you are asked: nothing\x1b[2J"), kinds=("removes",))], 200)
    assert len(rows) == 1
    assert "\\nWhy you are asked: nothing\\x1b[2J" in rows[0]
