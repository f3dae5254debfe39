"""Which output styles there are: ours, the person's, a workspace's."""

from __future__ import annotations

from agenyx.ext.sources import Source
from agenyx.ext.styles import styles


def source(path: str, text: str) -> Source:
    return Source("styles", "workspace", "/w/.agenyx/styles", path, f"/w/.agenyx/styles/{path}", text.encode())


def test_ours() -> None:
    found, problems = styles(())
    assert problems == ()
    assert [style.name for style in found.values()] == ["default", "Explanatory", "Learning"]
    assert found["default"].text == ""
    assert all(style.coding and style.description for style in found.values())
    assert "TODO" not in found["learning"].text


def test_files() -> None:
    found, problems = styles(
        [
            source("pirate.md", "---\nname: Pirate\ndescription: |\n  Talks\n  like one\n---\nArr.\u202e\n"),
            source("terse.md", "# Be terse\n\nFew words."),
            source("sub/kept.md", "---\nkeep-coding-instructions: true\n---\nText"),
            source("terse2.md", "---\nname: TERSE\n---\nNo words."),
        ]
    )
    assert problems == ()
    pirate, terse, kept = found["pirate"], found["terse"], found["kept"]
    assert (pirate.name, pirate.description, pirate.text, pirate.coding) == (
        "Pirate",
        "Talks like one",
        "Arr.\\u202e",
        False,
    )
    assert (terse.name, terse.text, terse.origin) == ("TERSE", "No words.", "/w/.agenyx/styles/terse2.md")
    assert (kept.description, kept.coding) == ("Text", True)


def test_what_is_left_out_is_said() -> None:
    found, problems = styles(
        [
            source("default.md", "mine"),
            source("x.md", "---\nname: Explanatory\n---\nmine"),
            source("empty.md", "---\nname: nothing\n---\n"),
            source("long.md", "x" * 60_001),
            source("odd.md", '---\nname: "a\\nb"\n---\ntext'),
            source("open.md", "---\nname: open\ntext"),
        ]
    )
    assert list(found) == ["default", "explanatory", "learning", "open"]
    assert "mine" not in found["explanatory"].text
    assert [problem.partition(".md")[0].rpartition("/")[2] for problem in problems] == [
        "default",
        "x",
        "empty",
        "long",
        "odd",
        "open",
    ]
