"""What a person's own instructions take in: any text, wherever it lies, but no secret."""

from __future__ import annotations

from pathlib import Path

from agenyx.ext.imports import HOPS
from agenyx.ext.sources import of_person


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_from_anywhere_each_once_links_followed(tmp_path: Path) -> None:
    home, person = tmp_path / ".agenyx", tmp_path
    elsewhere = put(tmp_path / "dotfiles" / "style.md", "style @style.md @../.agenyx/AGENTS.md")
    (home / "notes").mkdir(parents=True)
    (home / "notes" / "link.md").symlink_to(elsewhere)
    put(home / "AGENTS.md", "mine @notes/link.md @~/dotfiles/style.md @someone @gone.md `@code.md`")
    put(home / "rules" / "a.md", "rule @more.md")
    put(home / "rules" / "more.md", "of the rules folder already")
    found, problems = of_person("instructions", str(home), str(person))
    assert [(source.shown, source.by) for source in found] == [
        (str(home / "AGENTS.md"), ""),
        (str(elsewhere), str(home / "AGENTS.md")),
    ]
    assert problems == (f"{home}/AGENTS.md names @gone.md, which does not exist",)
    ruled, problems = of_person("rules", str(home), str(person))
    assert [source.by for source in ruled] == ["", ""]
    assert problems == ()


def test_never_a_secret_nor_what_is_too_large_or_too_far(tmp_path: Path) -> None:
    home = tmp_path / ".agenyx"
    put(tmp_path / ".ssh" / "id_rsa", "SECRET")
    put(home / "auth.json", "SECRET")
    put(home / "huge.md", "x" * 300_000)
    for number in range(HOPS + 3):
        put(home / f"{number}.md", f"@{number + 1}.md")
    put(home / "AGENTS.md", "@~/.ssh/id_rsa @auth.json @huge.md @0.md")
    found, problems = of_person("instructions", str(home), str(tmp_path))
    assert b"SECRET" not in b"".join(source.data for source in found)
    assert len(found) == 1 + HOPS
    assert [problem.rpartition("/")[2].partition(",")[0] for problem in problems] == [
        "id_rsa",
        "auth.json",
        "huge.md",
        f"{HOPS}.md",
    ]
