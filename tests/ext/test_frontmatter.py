"""Heads of Markdown files as people really write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ext.frontmatter import Front, read


def values(head: str) -> dict[str, object]:
    front = read(f"---\n{head}\n---\nbody\n")
    assert front.body == "body\n"
    return dict(front.values)


def test_head_and_body() -> None:
    front = read("\ufeff---\r\nname: x\r\n---\r\n# Title\r\n")
    assert front == Front({"name": "x"}, "# Title\n")
    assert read("# no head\n---\nname: x\n---\n") == Front({}, "# no head\n---\nname: x\n---\n")
    assert read("---\nname: x\n...\nbody").body == "body"
    assert read("") == Front()


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("key: plain text", "plain text"),
        ("key: Use when: a colon stands in it", "Use when: a colon stands in it"),
        ("key: https://example.org/#part", "https://example.org/#part"),
        ("key: text # a comment", "text"),
        ('key: "quoted: \\"text\\" # no comment\\n\\u00e9"', 'quoted: "text" # no comment\né'),
        ("key: 'it''s'  # comment", "it's"),
        ('key: "first" and more', '"first" and more'),
        ("key: 'never closed", "'never closed"),
        ('key: "over\n  two lines"', "over two lines"),
        ("key: one\n  two\n  three", "one two three"),
        ("key:\n  on the next line", "on the next line"),
        ("key:", ""),
        ("key: ~", ""),
        ("key: null", ""),
        ("key: true", True),
        ("key: False", False),
        ('key: "true"', "true"),
        ("key: yes", "yes"),
        ("key: 12", "12"),
        ("key: *.py", "*.py"),
        ("key: src/**/*.{ts,tsx}", "src/**/*.{ts,tsx}"),
        ("'key' : x", "x"),
        ("key: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree"),
        ("key: >-\n  one\n  two\n\n  three\n", "one two\nthree"),
        ("key: |2\n    one\n  two", "  one\ntwo"),
        ("key: >\n  text\n    kept\n  after", "text\n  kept\nafter"),
    ],
)
def test_scalars(head: str, value: object) -> None:
    assert values(head) == {"key": value}
    assert values(f"before: 1\n{head}\nafter: 2") == {"before": "1", "key": value, "after": "2"}


@pytest.mark.parametrize(
    ("head", "items"),
    [
        ("key: [a, b]", ["a", "b"]),
        ("key: []", []),
        ("key: [\"a, b\", 'c', d ] # why", ["a, b", "c", "d"]),
        ("key: [\n  a,\n  b, # why\n]", ["a", "b"]),
        ("key: [Bash(git add:*, git diff), Read]", ["Bash(git add:*, git diff)", "Read"]),
        ("key: [src/*.{ts,tsx}, b]", ["src/*.{ts,tsx}", "b"]),
        ("key:\n  - a\n  - 'b # c'\n  - d # why\n", ["a", "b # c", "d"]),
        ("key:\n- Bash(git:*)\n- Read\n", ["Bash(git:*)", "Read"]),
        ("key:\n  # why\n\n  - long\n    item\n  - b", ["long item", "b"]),
    ],
)
def test_lists(head: str, items: list[str]) -> None:
    assert values(head) == {"key": items}
    assert values(f"{head}\nafter: 2") == {"key": items, "after": "2"}


def test_what_is_not_understood_is_told_and_hides_nothing() -> None:
    front = read(
        "---\nname: x\nmetadata:\n  author: y\nhooks:\n  PreToolUse:\n    - matcher: Bash\n"
        "servers:\n  - one:\n      type: stdio\n{odd}\nname: z\nlist: [a, b\nlast: w\n---\n"
    )
    assert front.values == {"name": "z", "list": "[a, b", "last": "w"}
    assert front.problems == (
        "hooks holds values inside values, which are passed over",
        "servers holds values inside values, which are passed over",
        "line 11 is not a key with a value",
        "name stands there twice, and the later one counts",
        "list begins with [ and has no ] at its end",
    )


def test_a_head_without_an_end_is_text() -> None:
    front = read("---\nname: x\n\nmore text\n")
    assert (front.values, front.body) == ({}, "---\nname: x\n\nmore text\n")
    assert front.problems == ("the head has no line --- at its end",)
    assert read("---").problems == ()


def test_views_of_a_value() -> None:
    front = read("---\na: x, Bash(b, c) ,d\nb: [e, f]\nc: true\nd: 'No'\ne: maybe\n---\n")
    assert front.items("a") == ["x", "Bash(b, c)", "d"]
    assert (front.items("b"), front.text("b"), front.items("none")) == (["e", "f"], "e, f", [])
    assert (front.flag("c", False), front.flag("d", True), front.flag("e", True), front.text("c")) == (
        True,
        False,
        True,
        "true",
    )
    assert (front.text("none", "other"), front.flag("none", True)) == ("other", True)


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "key: x\n" * 100_000 + "---\n",
        "---\nkey: [" + "[" * 60_000 + "\n---\n",
        "---\n" + "a:\n" * 15_000 + "---\n",
        "---\nkey: '" + "''" * 30_000 + "\n---\n",
        '---\nkey: "\n' + " \\\n" * 15_000 + "---\n",
        "---\n" + "\n".join(f'k{n}: "' for n in range(6_000)) + "\n---\n",
        "---\n" + "\n".join(f"k{n}: [" for n in range(6_000)) + "\n---\n",
        "---\nkey: " + "#" * 60_000 + "\n---\n",
        "---\nkey: " + " " * 60_000 + "x\n---\n",
        "---\nkey:\n" + '  - "\n' * 10_000 + "---\n",
        "---\nkey:\n" + "  - a\n" * 10_000 + "---\n",
    ],
)
def test_hostile_heads_are_bounded(text: str) -> None:
    started = time.monotonic()
    front = read(text)
    assert time.monotonic() - started < 5
    assert len(front.values) <= 256
    assert len(front.problems) <= 20
    assert all(len(value) <= 1000 for value in front.values.values() if isinstance(value, list))


@given(st.text(alphabet=" \n\t-:#[]{}'\"|>\\abx,&*", max_size=80))
def test_any_text_gives_an_answer(text: str) -> None:
    front = read(f"---\n{text}\n---\nbody")
    assert front.body.endswith("body")
    assert all(isinstance(value, (str, bool, list)) for value in front.values.values())
