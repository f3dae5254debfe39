"""The inventory of what can act: what is in it, what is left out and said, and when a file is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from agenyx.ext import acting
from agenyx.ext.acting import Inventory, load, take
from agenyx.workspace.acting import LIVE, Kind
from agenyx.workspace.files import FileProblem
from agenyx.workspace.trust import Trusted


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def taken(
    work: Path, home: Path | None = None, known: Mapping[str, Trusted] | None = None, kinds: frozenset[Kind] = LIVE
) -> Inventory:
    return take(str(work), str(home or work.parent / "home"), known or {}, kinds)


def names(inventory: Inventory, top: Path) -> list[str]:
    return [os.path.relpath(item.shown, top) for item in inventory.items if item.shown.startswith(f"{top}/")]


def problems(inventory: Inventory, top: Path) -> list[str]:
    return [problem.replace(f"{top}/", "") for problem in inventory.problems if str(top) in problem]


def test_instructions_from_the_root_down_then_the_rest(work: Path, tmp_path: Path) -> None:
    put(tmp_path / "AGENTS.md", "outer")
    put(work / "CLAUDE.md", "inner")
    put(work / ".agenyx" / "settings.toml", "effort = 'low'")
    put(work / ".agenyx" / "hooks" / "start.sh", "#!/bin/sh")
    put(work / ".mcp.json", "{}")
    put(work / ".claude" / "skills" / "x" / "SKILL.md", "skill")
    put(work / ".claude" / "skills" / "x" / "bin" / "run", "#!/bin/sh")
    put(work / ".claude" / "skills" / "x" / "node_modules" / "evil" / "SKILL.md", "no")
    put(work / ".claude" / "skills" / "x" / ".git" / "hooks" / "evil", "no")
    found = taken(work)
    assert names(found, tmp_path) == [
        "AGENTS.md",
        "work/CLAUDE.md",
        "work/.agenyx/settings.toml",
        "work/.agenyx/hooks/start.sh",
        "work/.claude/skills/x/SKILL.md",
        "work/.mcp.json",
    ]
    by_name = {os.path.relpath(item.shown, tmp_path): item for item in found.items}
    outer = by_name["AGENTS.md"]
    assert (outer.kind, outer.file.size, outer.file.sha256) == (
        "instructions",
        5,
        hashlib.sha256(b"outer").hexdigest(),
    )
    assert load(outer) == b"outer"
    assert names(taken(work, kinds=frozenset({"settings"})), tmp_path) == ["work/.agenyx/settings.toml"]


def test_what_is_no_ordinary_file_is_left_out_and_said(work: Path, tmp_path: Path) -> None:
    put(tmp_path / "secret", "secret")
    hooks = work / ".agenyx" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(hooks / "fifo")
    put(hooks / "huge", "x" * (acting.FILE_BYTES + 1))
    put(hooks / "blank", " \n")
    (work / "AGENTS.md").symlink_to(tmp_path / "secret")
    (work / "CLAUDE.md").mkdir()
    (tmp_path / "elsewhere").mkdir()
    put(tmp_path / "elsewhere" / "settings.json")
    (work / ".claude").symlink_to(tmp_path / "elsewhere")
    put(tmp_path / "elsewhere" / "skills" / "SKILL.md")
    found = taken(work)
    assert names(found, tmp_path) == []
    told = sorted(problems(found, work))
    for problem, words in zip(
        told,
        [
            "fifo was left out: it is a FIFO",
            f"huge was left out: it has more than {acting.FILE_BYTES >> 10} KiB",
            "link was left out: it is a symbolic link",
            "settings.json was left out: .claude is a symbolic link",
            "skills was left out: .claude is a symbolic link",
            "AGENTS.md was left out: it is a symbolic link",
            "CLAUDE.md was left out: it is a directory",
        ],
        strict=True,
    ):
        assert words in problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_left_out_and_said(work: Path) -> None:
    put(work / "AGENTS.md").chmod(0)
    found = taken(work)
    assert names(found, work) == []
    assert "permission denied" in problems(found, work)[0]


def test_bounds(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        put(work / ".agenyx" / "hooks" / str(number), "x" * 10)
    monkeypatch.setattr(acting, "MOST_FILES", 3)
    found = taken(work)
    assert names(found, work / ".agenyx" / "hooks") == ["0", "1", "2"]
    assert problems(found, work) == [".agenyx/hooks/3 was left out: all that acts together exceeds 3 files"]
    monkeypatch.setattr(acting, "TOTAL_BYTES", 25)
    assert names(taken(work), work / ".agenyx" / "hooks") == ["0", "1"]
    put(work / ".agenyx" / "hooks" / "a" / "b" / "c" / "deep")
    monkeypatch.setattr(acting, "TOTAL_BYTES", 1 << 20)
    monkeypatch.setattr(acting, "MOST_FILES", 9)
    monkeypatch.setattr(acting, "_DEPTH", 3)
    assert any("hooks/a/b/c was left out: it is too large or too deep" in one for one in problems(taken(work), work))


def test_the_home_is_no_project_content(work: Path) -> None:
    settings = put(work / ".agenyx" / "settings.toml")
    put(work / ".agenyx" / "skills" / "mine" / "SKILL.md")
    put(work / ".agenyx" / "AGENTS.md")
    put(work / "AGENTS.md")
    assert names(taken(work, work / ".agenyx"), work) == ["AGENTS.md"]
    inside = work / ".agenyx" / "below"
    inside.mkdir()
    assert names(taken(inside, work / ".agenyx"), work) == ["AGENTS.md"], "nor when the workspace lies in it"
    assert names(taken(work, work / ".agenyx" / "skills"), work) == ["AGENTS.md", os.path.relpath(settings, work)]
    assert names(taken(work, work / ".agenyx" / "skills" / "mine"), work / ".agenyx") == ["settings.toml"]
    moved = (work / ".agenyx").rename(work / ".codex")
    assert names(taken(work, moved), work) == ["AGENTS.md"]


def test_what_is_known_by_its_stamp_is_not_read(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(work / ".agenyx" / "settings.toml", "one")
    os.utime(path, (1, 1))

    def later(top: str, path: str, cap: int) -> tuple[bytes, Trusted]:
        return real(top, path, cap, lambda: 1 << 62)

    monkeypatch.setattr(acting, "fingerprint", later)
    first = taken(work)
    read: list[str] = []

    def watched(top: str, path: str, cap: int) -> tuple[bytes, Trusted]:
        read.append(path)
        return real(top, path, cap)

    monkeypatch.setattr(acting, "fingerprint", watched)
    assert taken(work, known=first.files).items == first.items
    assert read == []
    path.write_text("two")  # the same size
    os.utime(path, (1, 1))  # and the same time: the time of the change of the inode tells
    again = taken(work, known=first.files)
    assert read == [".agenyx/settings.toml"]
    assert again.files != first.files
    other = {name: Trusted(file.sha256, "hooks", 3, file.stamp) for name, file in first.files.items()}
    taken(work, known=other)
    assert len(read) == 2, "known in another role only"


real = acting.fingerprint


def test_what_is_used_is_what_was_judged(work: Path) -> None:
    path = put(work / "AGENTS.md", "one")
    (item,) = (item for item in taken(work).items if item.shown == str(path))
    path.write_text("two")
    with pytest.raises(FileProblem, match="changed"):
        load(item)
    path.unlink()
    path.symlink_to(put(work / "other", "one"))
    with pytest.raises(FileProblem):
        load(item)


def test_what_instructions_take_in_is_part_of_the_inventory(work: Path, tmp_path: Path) -> None:
    put(tmp_path / "AGENTS.md", "see @beside/one.md")
    put(tmp_path / "beside" / "one.md", "one, with @two.md")
    put(tmp_path / "beside" / "two.md", "two, back to @one.md")
    put(work / "CLAUDE.md", "@AGENTS.md @docs/a.md @docs/a.md `@docs/code.md` @someone @gone.md @docs")
    put(work / "AGENTS.md", "agents")
    put(work / "docs" / "a.md", "a")
    put(work / "docs" / "code.md", "not this")
    found = taken(work)
    assert names(found, tmp_path) == [
        "AGENTS.md",
        "beside/one.md",
        "beside/two.md",
        "work/AGENTS.md",
        "work/CLAUDE.md",
        "work/docs/a.md",
    ]
    by_name = {os.path.relpath(item.shown, tmp_path): item for item in found.items}
    assert (by_name["work/docs/a.md"].by, by_name["work/docs/a.md"].kind) == (str(work / "CLAUDE.md"), "instructions")
    assert [one.replace(f"{tmp_path}/", "") for one in found.asides if str(tmp_path) in one] == [
        "work/CLAUDE.md names @gone.md, which does not exist"
    ]
    before = found.files
    put(work / "docs" / "a.md", "b")
    changed = taken(work).files
    assert {path for path in changed if changed[path].sha256 != before[path].sha256} == {str(work / "docs" / "a.md")}


def test_what_instructions_may_not_take_in(work: Path, tmp_path: Path) -> None:
    put(work / ".env", "KEY=1")
    put(work / ".git" / "config", "x")
    put(work / ".agenyx" / "notes.md", "notes")
    put(work / ".agenyx" / "settings.toml", "effort = 'low'")
    put(tmp_path / "home" / "auth.json", "{}")
    put(tmp_path / "elsewhere" / "x.md", "x")
    (work / "link.md").symlink_to(tmp_path / "elsewhere" / "x.md")
    (work / "folder").symlink_to(tmp_path / "elsewhere")
    put(work / "huge.md", "x" * (acting.FILE_BYTES + 1))
    os.mkfifo(work / "fifo.md")
    put(
        work / "AGENTS.md",
        "@.env @.git/config @.agenyx/notes.md @.agenyx/settings.toml @link.md @folder/x.md @huge.md @fifo.md "
        "@../home/auth.json @../elsewhere/x.md @~/x.md @/etc/hostname.md",
    )
    found = taken(work, tmp_path / "home")
    assert names(found, work) == ["AGENTS.md", ".agenyx/notes.md", ".agenyx/settings.toml"]
    assert [item.kind for item in found.items][-1] == "settings"
    told = " | ".join(problems(found, work))
    for words in (
        "takes in .env, which was left out: .env may hold secrets",
        ".git/config, which was left out",
        "link.md was left out: it is a symbolic link",
        "x.md was left out: folder is a symbolic link",
        "huge.md was left out: it has more than 256 KiB",
        "fifo.md was left out: it is a FIFO",
    ):
        assert words in told
    assert [one.name for one in found.outside] == [
        "../home/auth.json",
        "../elsewhere/x.md",
        "~/x.md",
        "/etc/hostname.md",
    ]


def test_so_many_hops(work: Path) -> None:
    put(work / "AGENTS.md", "@1.md")
    for number in range(1, 9):
        put(work / f"{number}.md", f"@{number + 1}.md")
    found = taken(work)
    assert names(found, work) == ["AGENTS.md", "1.md", "2.md", "3.md", "4.md", "5.md"]
    assert problems(found, work) == ["6.md was left out: it is taken in by a file that is 5 files away already"]
