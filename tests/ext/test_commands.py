"""Command files as others write them."""

from __future__ import annotations

from agenyx.ext.commands import Template, templates
from agenyx.ext.sources import Source


def source(path: str, text: str | bytes) -> Source:
    data = text if isinstance(text, bytes) else text.encode()
    return Source("commands", "user", "/c", path, f"/c/{path}", data)


def read(text: str | bytes, path: str = "a.md") -> Template:
    found, problems = templates([source(path, text)])
    assert not problems
    return found[0]


def test_a_head_is_read_in_the_forms_in_use() -> None:
    one = read(
        "---\nallowed-tools: Bash(git add:*), Bash(git commit -m, x), Read\ndescription: 'Commit: now'\n"
        "argument-hint: [scope] [message]\nmodel: haiku\n---\n\nDo it\n"
    )
    assert one == Template(
        "a",
        "Commit: now",
        "[scope] [message]",
        ("Bash(git add:*)", "Bash(git commit -m, x)", "Read"),
        "haiku",
        "Do it",
        "/c/a.md",
    )
    other = read("---\nallowed-tools:\n  - Read\n  - Bash(ls:*)\nargument-hint: [issue]\n---\nx")
    assert (other.tools, other.hint) == (("Read", "Bash(ls:*)"), "[issue]")


def test_without_a_head_the_first_line_describes_it() -> None:
    one = read("\n# Tidy up\n\nall of it", "tools/tidy-up.md")
    assert (one.name, one.description, one.body) == ("tools:tidy-up", "Tidy up", "# Tidy up\n\nall of it")
    assert len(read("x" * 5000).description) == 1024


def test_bytes_that_are_no_text_and_broken_heads_do_no_harm() -> None:
    assert read(b"Go \xff on").body == "Go \ufffd on"
    found, problems = templates(
        [source("a.md", "---\n: :\nGo on"), source("b c.md", "x"), source("d.md", "---\n---\n")]
    )
    assert [one.name for one in found] == ["a"] and found[0].body.endswith("Go on")
    assert len(problems) == 3 and all(problem.startswith("/c/") for problem in problems)
