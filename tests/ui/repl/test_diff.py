"""/diff in a repository that would run programs."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from agenyx.app.settings import Settings
from agenyx.core.errors import AgenyxError
from agenyx.proc.spawn import Processes
from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.commands.diff import diff
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import ASCII, plain


class Host:
    def __init__(self) -> None:
        self.transcript = Transcript(lambda: 80, ASCII, lambda: 0.0)
        self.talk = None

    def steer(self, text: str) -> bool:
        return False

    def leave(self) -> None: ...
    async def replace(self, talk: object, *, close: bool) -> None: ...
    async def reopen(self, session: str) -> None: ...


def shown(work: Path, args: str = "") -> str:
    async def run() -> str:
        host, processes = Host(), Processes()
        try:
            context = Context(host, Settings(str(work)), dict(os.environ), str(work), str(work), processes)
            await diff(context, args)
        finally:
            await processes.close()
        return "\n".join(plain(spans) for spans in host.transcript.take())

    return asyncio.run(run())


def git(work: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@y")
    subprocess.run(["git", *identity, *words], cwd=work, check=True, capture_output=True)


def test_changes_are_shown_and_nothing_of_the_repository_runs(tmp_path: Path) -> None:
    work, witness = tmp_path / "work", tmp_path / "ran"
    work.mkdir()
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
    (work / "a.txt").write_text("new \x1b[2J\n", "utf-8")
    text = shown(work)
    assert "## main\n M a.txt\n?? .gitattributes\n" in text
    assert "-old\n+new \\x1b[2J" in text
    assert not witness.exists()
    assert "+new" not in shown(work, ".gitattributes")


def test_before_the_first_commit_and_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(AgenyxError, match="not in a git repository"):
        shown(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_text("new\n", "utf-8")
    git(tmp_path, "add", ".")
    assert "+new" in shown(tmp_path)
