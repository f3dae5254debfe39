"""What a Markdown text takes in, and what only looks like it."""

from __future__ import annotations

import time

import pytest

from agenyx.ext.imports import MOST, is_path, named, place


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("@a.md", ["a.md"]),
        ("See @README.md, @./docs/b.md and (@~/c.md).", ["README.md", "./docs/b.md", "~/c.md"]),
        ("- @/abs/d.md\n* **@e.md**\n> @f.md!", ["/abs/d.md", "e.md", "f.md"]),
        ("@my\\ notes/a.md", ["my notes/a.md"]),
        ("@a.md @a.md", ["a.md"]),
        ("mail me@example.org or a@b", []),
        ("`@a.md` and ``x ` @b.md`` but @c.md", ["c.md"]),
        ("a ` stray tick before @a.md", ["a.md"]),
        ("`over\ntwo @a.md lines` @b.md", ["b.md"]),
        ("`open\n\n@a.md` x", ["a.md"]),
        ("```\n@a.md\n```\n@b.md", ["b.md"]),
        ("```sh\n@a.md\n~~~\n@b.md\n```\n@c.md", ["c.md"]),
        ("~~~~\n@a.md\n~~~\n@b.md\n~~~~\n@c.md", ["c.md"]),
        ("- ```\n  @a.md\n  ```\n@b.md", ["b.md"]),
        ("```\n@a.md never closed", []),
        ("``` @a.md ``` @b.md", ["b.md"]),
        ("@ @. @... @/ @\0x", []),
    ],
)
def test_named(text: str, paths: list[str]) -> None:
    assert named(text) == paths


def test_places() -> None:
    assert place("./x/../y.md", "/w/a") == "/w/a/y.md"
    assert place("../y.md", "/w/a") == "/w/y.md"
    assert place("/etc/x", "/w") == "/etc/x"
    assert place("~/x", "/w", "/home/me") == "/home/me/x"
    assert place("~/x", "/w") == ""
    assert [is_path(name) for name in ("alice", "docs/x", "x.md", "pytest.fixture")] == [False, True, True, False]


@pytest.mark.parametrize("text", ["`" * 250_000, "` `` " * 50_000, "@a" * 100_000, " @\\ " * 60_000, ">" * 250_000])
def test_hostile_texts_take_little_time(text: str) -> None:
    started = time.monotonic()
    assert len(named(text)) <= MOST
    assert time.monotonic() - started < 5


def test_so_many_at_most() -> None:
    assert len(named(" ".join(f"@f{n}.md" for n in range(500)))) == MOST
