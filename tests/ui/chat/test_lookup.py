"""What the text before the caret asks for, and what answers it."""

from __future__ import annotations

import pytest

from agenyx.app.commands.table import BUILTIN
from agenyx.ui.chat import lookup
from agenyx.ui.chat.fuzzy import SLICE, Index, best
from agenyx.ui.chat.lookup import Ask, ask_of


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("see @", Ask("mention", 5, "")),
        ("see @src/lo", Ask("mention", 5, "src/lo")),
        ("@my\\ file", Ask("mention", 1, "my file")),
        ("(@a", Ask("mention", 2, "a")),
        ("one\n@a", Ask("mention", 5, "a")),
        ("/x one @a", Ask("mention", 8, "a")),
        ("@server:a://b", Ask("mention", 1, "server:a://b")),
        ("mail a@b", None),
        ("@a b", None),
        ("`@a`", None),
        ("/", Ask("command", 1, "")),
        ("/mo", Ask("command", 1, "mo")),
        ("/tmp/x", None),
        ("say /mo", None),
        ("/mode ", Ask("value", 6, "", "mode")),
        ("/Mode pl", Ask("value", 6, "pl", "mode")),
        ("/rewind files 3", Ask("value", 14, "3", "rewind")),
        ("/mode\nplan", None),
        ("", None),
    ],
)
def test_what_is_asked_for_at_the_end(text: str, ask: Ask | None) -> None:
    assert ask_of(text, len(text)) == ask


def test_what_is_asked_for_within_a_text() -> None:
    assert ask_of("see @src now", 8) == Ask("mention", 5, "src")
    assert ask_of("/mo de", 3) is None  # a name that is followed by words is there already
    assert ask_of("/mode plan", 8) is None


def names(query: str) -> list[str]:
    return [command.name for command in lookup.commands(query, BUILTIN)]


def test_commands_by_name_and_alias() -> None:
    assert names("mod")[:2] == ["model", "mode"]
    assert names("ex")[:2] == ["export", "exit"]  # as near: in the order of the table
    assert names("quit")[0] == "exit"
    assert names("")[:2] == ["help", "status"]
    assert names("qqq") == []
    assert lookup.named("thinking", BUILTIN) is not None and lookup.named("nope", BUILTIN) is None


def test_values_by_themselves_and_by_what_is_said_of_them() -> None:
    known = [("0190-a", "fix the parser"), ("0190-b", "write docs"), ("plan", "")]
    assert lookup.values("pl", known) == [("plan", "")]
    assert lookup.values("docs", known) == [("0190-b", "write docs")]
    assert lookup.values("", known) == known


def test_names_are_written_as_the_expansion_reads_them() -> None:
    from agenyx.ext.imports import named

    for name in ("src/a b.py", "plain.md", "docs/ü x/"):
        assert named(f"see @{lookup.mention(name)} now") == [name]


def test_an_index_finds_what_the_plain_search_finds() -> None:
    paths = [f"src/part_{number % 7}/module_{number:05}.py" for number in range(3 * SLICE)]
    paths += ["src/Loop.py", "src/[x](y).py", "src/a\nb.py"]
    index = Index()
    index.add(paths[:SLICE])
    index.add(paths[SLICE:])
    for query in ("loop", "module_00042", "srcmod77", "[x](y)", "a\nb", "ZZZ", "mod.py"):
        answers = list(index.search(query, 20, lambda: False))
        assert (answers[-1] if answers else []) == best(query, paths, 20)
        first = list(index.search(query, 20, lambda: False, 0, 2 * SLICE))
        rest = list(index.search(query, 20, lambda: False, 2 * SLICE, best=first[-1] if first else ()))
        assert (rest or first or [[]])[-1] == best(query, paths, 20)  # in parts, as they are listed
    assert list(index.search("", 3, lambda: False))[-1] == ["src/Loop.py", "src/[x](y).py", "src/a\nb.py"]


def test_a_search_ends_when_it_is_not_wanted_any_more() -> None:
    index = Index()
    index.add(["a"] * 5 * SLICE)
    looks = iter([False, False, True])
    assert len(list(index.search("a", 3, lambda: next(looks)))) == 2


def test_many_letters_that_do_not_match_take_no_time() -> None:
    index = Index()
    index.add(["a" * 200 + "b"] * 50)
    assert list(index.search("a" * 30 + "c", 9, lambda: False)) == []  # it would take years if it ever looked back
