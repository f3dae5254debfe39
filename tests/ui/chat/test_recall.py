"""Walking through earlier inputs."""

from __future__ import annotations

from agenyx.ui.chat.recall import Recall


def recall(*entries: str) -> Recall:
    made = Recall()
    made.begin(list(reversed(entries)))
    return made


def test_up_and_down_again_to_what_was_typed() -> None:
    walk = recall("one", "two")
    assert (walk.previous("draft"), walk.previous("two")) == ("two", "one")
    assert walk.previous("one") is None
    assert (walk.next("one"), walk.next("two")) == ("two", "draft")
    assert walk.next("draft") is None
    assert not walk.walking


def test_only_what_begins_so() -> None:
    walk = recall("git log", "ls", "git status", "git log -1")
    assert [walk.previous("git l", "git l"), walk.previous("git log -1")] == ["git log -1", "git log"]
    assert walk.previous("git log") is None
    assert [walk.next("git log"), walk.next("git log -1")] == ["git log -1", "git l"]


def test_what_was_changed_on_the_way_stays_until_something_is_sent() -> None:
    walk = recall("one", "two")
    walk.previous("draft")
    assert walk.previous("two, changed") == "one"
    assert walk.next("one") == "two, changed"
    assert walk.next("two, changed") == "draft"
    walk.add("three")
    assert [walk.previous(""), walk.previous("three"), walk.previous("two")] == ["three", "two", "one"]


def test_an_input_stands_where_it_was_used_last() -> None:
    walk = recall("one", "two", "one", "three")
    assert walk.entries == ["two", "one", "three"]
    walk.add("two")
    walk.add("  ")
    assert walk.entries == ["one", "three", "two"]
    walk = Recall()
    walk.add("now")
    walk.begin(["late", "now", "early"])  # the file comes when something was sent already
    assert walk.entries == ["early", "late", "now"]
