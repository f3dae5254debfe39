"""/diff in a repository that would run programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agenyx.core.errors import AgenyxError, UsageError

from .places import Place


def git(work: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@y")
    subprocess.run(["git", *identity, *words], cwd=work, check=True, capture_output=True)


def test_changes_are_shown_and_nothing_of_the_repository_runs(place: Place, tmp_path: Path) -> None:
    work, witness = place.work, tmp_path / "ran"
    git(work, "init", "-q", "-b", "main")
    (work / "a.txt").write_text("old\n", "utf-8")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first")
    program = f"sh -c 'echo ran >> {witness}; cat'"
    for key in (
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "filter.f.clean",
        "filter.f.process",
        "diff.d.textconv",
    ):
        git(work, "config", key, program)
    git(work, "config", "filter.f.required", "true")
    (work / ".gitattributes").write_text("* filter=f diff=d\n", "utf-8")
    (work / "a.txt").write_text("new\n", "utf-8")
    reply = place.reply("/diff")
    assert reply.text == "## main\n M a.txt\n?? .gitattributes"
    assert "-old\n+new" in reply.diff and reply.data["diff"] in reply.diff
    assert not witness.exists()
    assert "+new" not in place.reply("/diff .gitattributes").diff


def test_before_the_first_commit_and_outside_of_a_repository(place: Place) -> None:
    with pytest.raises(AgenyxError, match="not in a git repository"):
        place.reply("/diff")
    git(place.work, "init", "-q", "-b", "main")
    (place.work / "a.txt").write_text("new\n", "utf-8")
    git(place.work, "add", ".")
    assert "+new" in place.reply("/diff").diff
    with pytest.raises(UsageError, match="outside the workspace"):
        place.reply(f"/diff ..{os.sep}other")
