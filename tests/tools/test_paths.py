"""What all file tools promise: what was judged is what is opened, and what is protected is left out and told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.policy.paths import protection
from agenyx.tools.edit import Edit
from agenyx.tools.git import GitCommit, GitDiff, GitStatus
from agenyx.tools.glob import Glob
from agenyx.tools.grep import Grep
from agenyx.tools.ls import LS
from agenyx.tools.multiedit import MultiEdit
from agenyx.tools.paths import left_out
from agenyx.tools.picker import Picker
from agenyx.tools.read import Read
from agenyx.tools.spec import Context, Tool
from agenyx.tools.write import Write
from agenyx.workspace.root import Root
from support.repository import git, repository

LOOKING: tuple[tuple[Tool[Any], dict[str, Any]], ...] = (
    (Read(), {"file_path": "dir/f"}),
    (Grep(), {"pattern": "s", "path": "dir/f"}),
    (Grep(), {"pattern": "s", "path": "dir"}),
    (LS(), {"path": "dir"}),
    (Glob(), {"pattern": "dir/*"}),
    (Picker(), {"path": "dir"}),
)
CHANGING: tuple[tuple[Tool[Any], dict[str, Any]], ...] = (
    (Write(), {"file_path": "dir/f", "content": "new"}),
    (Edit(), {"file_path": "dir/f", "old_string": "plain", "new_string": "new"}),
    (MultiEdit(), {"file_path": "dir/f", "edits": [{"old_string": "plain", "new_string": "new"}]}),
)


def guarded(work: Any, home: str = "") -> None:
    """Give the workspace the protection that the program has."""
    path = work.root.path
    work.root = Root(
        path,
        lambda real: protection(real, path, home or "/nowhere"),
        changing=lambda real: protection(real, path, home or "/nowhere", "write"),
        below=lambda real: protection(real, path, home or "/nowhere", "tree"),
        home=home,
    )


def swap_file(work: Any) -> Callable[[], None]:
    def swap() -> None:
        (work.path / "dir/f").unlink()
        (work.path / "dir/f").symlink_to(work.path.parent / "outside/f")

    return swap


def swap_folder(work: Any) -> Callable[[], None]:
    def swap() -> None:
        (work.path / "dir").rename(work.path / "kept")
        (work.path / "dir").symlink_to(work.path.parent / "outside")

    return swap


@pytest.fixture
def outside(work: Any) -> Path:
    folder = work.path.parent / "outside"
    folder.mkdir()
    (folder / "f").write_text("plain secret", "utf-8")
    (folder / "listed-secret").touch()
    work.put("dir/f", "plain text")
    return folder


@pytest.mark.parametrize("swap", [swap_file, swap_folder])
@pytest.mark.parametrize(("tool", "args"), [*LOOKING, *CHANGING], ids=lambda value: getattr(value, "name", ""))
def test_a_link_that_appears_after_the_judgement_leads_nowhere(
    work: Any, outside: Path, tool: Tool[Any], args: dict[str, Any], swap: Any
) -> None:
    work.seen[str(work.path / "dir/f")] = "0" * 64
    outcome = work.call(tool, between=swap(work), **args)
    assert "secret" not in "".join(block.text for block in outcome.content)
    assert (outside / "f").read_text("utf-8") == "plain secret"
    assert sorted(os.listdir(outside)) == ["f", "listed-secret"]
    if swap is swap_folder:
        assert outcome.status == "error", outcome


@pytest.mark.parametrize(("tool", "args"), LOOKING[:2], ids=lambda value: getattr(value, "name", ""))
def test_another_file_in_the_place_of_the_judged_one_is_not_read(work: Any, tool: Tool[Any], args: Any) -> None:
    work.put("dir/f", "plain text")
    work.put("hidden", "plain secret")

    def swap() -> None:
        (work.path / "dir/f").unlink()
        os.link(work.path / "hidden", work.path / "dir/f")

    outcome = work.call(tool, between=swap, **args)
    assert outcome.status == "error" and "replaced meanwhile" in outcome.content[0].text


@pytest.mark.parametrize(("tool", "args"), LOOKING, ids=lambda value: getattr(value, "name", ""))
def test_another_folder_in_the_place_of_the_judged_one_is_not_searched(work: Any, tool: Tool[Any], args: Any) -> None:
    work.put("dir/f", "plain text")
    work.put("other/f", "plain secret")

    def swap() -> None:
        (work.path / "dir").rename(work.path / "kept")
        (work.path / "other").rename(work.path / "dir")

    outcome = work.call(tool, between=swap, **args)
    assert outcome.status == "error" and "replaced meanwhile" in outcome.content[0].text


@pytest.mark.parametrize(("tool", "args"), CHANGING, ids=lambda value: getattr(value, "name", ""))
def test_a_change_goes_to_the_judged_place_only(work: Any, tool: Tool[Any], args: Any) -> None:
    work.put("dir/f", "plain text")
    work.ok(Read(), file_path="dir/f")

    other = work.put("other", "plain other")

    def swap() -> None:
        other.rename(work.path / "dir/f")

    outcome = work.call(tool, between=swap, **args)
    assert outcome.status == "error" and (work.path / "dir/f").read_text("utf-8") == "plain other"


@pytest.mark.parametrize(("tool", "args"), [*LOOKING, *CHANGING], ids=lambda value: getattr(value, "name", ""))
def test_without_a_judgement_nothing_is_done(work: Any, outside: Path, tool: Tool[Any], args: Any) -> None:
    import asyncio

    nothing: Any = None
    parsed = work._args(tool, args)
    outcome = asyncio.run(tool.run(parsed, Context(work.root, {}, nothing, nothing, lambda _: None)))
    assert outcome.status == "error" and "not judged" in outcome.content[0].text
    assert (work.path / "dir/f").read_text("utf-8") == "plain text"


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "..", "/etc/passwd", "~root/x", "file:///etc/passwd", "//host/share", "/proc/self/environ"],
)
@pytest.mark.parametrize("tool", [Read(), Write(), Edit(), LS(), Grep(), Picker()], ids=lambda tool: tool.name)
def test_every_tool_refuses_the_same_places(work: Any, tool: Tool[Any], path: str) -> None:
    named = "file_path" if tool.name in ("Read", "Write", "Edit") else "path"
    more = {"Write": {"content": "x"}, "Edit": {"old_string": "", "new_string": "x"}, "Grep": {"pattern": "x"}}
    args = {named: path, **more.get(tool.name, {})}
    effects = work.project(tool, **args)
    assert all(ref.problem for ref in (*effects.reads, *effects.writes))
    assert work.fails(tool, **args)


def test_protected_files_below_a_folder_are_left_out_and_counted(work: Any) -> None:
    guarded(work)
    for name in (".env", "conf/.ENV.local", "conf/id_rsa", "plain", "AGENTS.md", "package.json", "conf/.env.example"):
        work.put(name, "needle\n")
    listed = work.ok(LS()).splitlines()
    assert listed == [
        "AGENTS.md",
        "conf/",
        "package.json",
        "plain",
        "[1 protected name was left out: .env; Read asks the user for it]",
    ]
    note = "[3 protected files were left out: .env, conf/.ENV.local, conf/id_rsa; Read asks the user for them]"
    for tool, args in (
        (Glob(), {"pattern": "**"}),
        (Grep(), {"pattern": "needle"}),
        (Grep(), {"pattern": "needle", "output_mode": "files"}),
    ):
        *lines, last = work.ok(tool, **args).splitlines()
        assert last == note
        assert sorted(line.partition(":")[0] for line in lines) == [
            "AGENTS.md",
            "conf/.env.example",
            "package.json",
            "plain",
        ]
    pages = work.ok(Picker()).splitlines()
    assert [line.split()[1] for line in pages[:4]] == ["AGENTS.md", "conf/.env.example", "package.json", "plain"]
    assert "3 protected files were left out" in pages[-1]
    assert work.project(Read(), file_path="conf/.ENV.local").reads[0].protected


def test_a_protected_folder_that_the_user_was_asked_for_is_shown(work: Any) -> None:
    guarded(work)
    work.put(".ssh/id_rsa", "needle\n")
    assert work.project(LS(), path=".ssh").reads[0].protected
    assert work.ok(LS(), path=".ssh") == "id_rsa"
    assert work.ok(Grep(), pattern="needle", path=".ssh") == ".ssh/id_rsa:1:needle"
    assert work.ok(Glob(), pattern=".ssh/*") == ".ssh/id_rsa"
    work.put(".vscode/.env", "needle\n")  # asked for as a control, which says nothing of secrets in it
    assert "needle" not in work.ok(Grep(), pattern="need", path=".vscode")


def test_what_steers_programs_is_read_freely_and_asked_for_before_a_change(work: Any) -> None:
    guarded(work)
    for name in ("AGENTS.md", "package.json", "tests/conftest.py", ".github/workflows/ci.yml"):
        work.put(name, "old")
        assert not work.project(Read(), file_path=name).reads[0].protected
        assert not work.project(Write(), file_path=name, content="new", dry_run=True).reads[0].protected
        for tool, args in (
            (Write(), {"content": "new"}),
            (Edit(), {"old_string": "old", "new_string": "new"}),
            (MultiEdit(), {"edits": [{"old_string": "old", "new_string": "new"}]}),
        ):
            assert "outside Agenyx's rules" in work.project(tool, file_path=name, **args).writes[0].protected
    assert work.project(Write(), file_path="new/conftest.py", content="x").writes[0].protected  # also where it is new


def test_the_own_folder_inside_the_workspace_is_invisible_to_every_tool(work: Any) -> None:
    home = work.path / "state/agenyx"
    guarded(work, str(home))
    work.put("state/agenyx/auth.json", "needle key\n")
    work.put("state/agenyx/sessions/x", "needle talk\n")
    work.put("state/other", "needle\n")
    assert work.ok(Grep(), pattern="needle") == "state/other:1:needle"
    assert work.ok(Glob(), pattern="**") == "state/other"
    assert work.ok(LS(), path="state") == "other"
    assert "agenyx" not in work.ok(Picker()).partition("\n")[0]
    for tool, args in (
        (Read(), {"file_path": "state/agenyx/auth.json"}),
        (Write(), {"file_path": "state/agenyx/new", "content": "x"}),
        (Edit(), {"file_path": "state/agenyx/auth.json", "old_string": "needle", "new_string": "x"}),
        (LS(), {"path": "state/agenyx"}),
        (Grep(), {"pattern": "needle", "path": "state/agenyx"}),
        (Glob(), {"pattern": "state/agenyx/**"}),
        (Picker(), {"path": "state/agenyx"}),
        (GitDiff(), {"path": "state/agenyx"}),
    ):
        assert "belongs to Agenyx itself" in work.fails(tool, **args), tool.name
    assert (home / "auth.json").read_text("utf-8") == "needle key\n" and not (home / "new").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_shows_no_secret_and_asks_before_it_commits_one(work: Any) -> None:
    guarded(work)
    repository(work.path)
    for name in (".env", "sub/.Env", "plain", "AGENTS.md"):
        work.put(name, "old\n")
    git(work.path, "add", "-f", ".")
    effects = work.project(GitCommit(), message="x")
    assert [(concern.level, concern.part) for concern in effects.concerns] == [
        ("always", ".env"),
        ("always", "sub/.Env"),
    ]
    git(work.path, "commit", "-q", "-m", "first")
    for name in (".env", "sub/.Env", "plain", "AGENTS.md"):
        work.put(name, "CHANGED\n")
    text = work.ok(GitDiff())
    assert text.count("+CHANGED") == 2 and "[2 protected files were left out: .env, sub/.Env" in text
    assert "+CHANGED" not in work.ok(GitDiff(), path="sub") and "+CHANGED" in work.ok(GitDiff(), path="sub/.Env")
    assert ".env" in work.ok(GitStatus())
    work.put(".vscode/.env", "old\n")
    git(work.path, "add", "-f", ".vscode")
    assert "+old" not in work.ok(GitDiff(), staged=True, path=".vscode")  # asked for as a control, not for its secrets
    git(work.path, "rm", "-q", "--cached", "-rf", ".vscode")
    assert not work.project(GitCommit(), message="x").concerns  # nothing is staged
    assert len(work.project(GitCommit(), message="x", all=True).concerns) == 2
    git(work.path, "rm", "-q", "--cached", "-f", ".env")
    assert not work.project(GitCommit(), message="x").concerns  # to stop tracking it publishes nothing


def test_the_note_names_a_few(work: Any) -> None:
    assert left_out([]) == ""
    text = left_out([f"f{number:04}" for number in range(1200, 0, -1)])
    assert text.startswith("1,200 protected files were left out: f0001, f0002, f0003, f0004, f0005, …;")
