"""A workspace in which a tool is called as the boundary calls it: arguments from JSON, observations kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core import json
from agenyx.core.messages import Media
from agenyx.core.tools import Effects
from agenyx.proc import programs
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Look, Outcome, Tool
from agenyx.workspace.root import Root


def guarded(real: bytes) -> str:
    parts = real.split(b"/")
    return "it may hold secrets" if parts[-1] == b".env" or b".git" in parts else ""


class Workspace:
    """`path` is the folder; `seen` is what tools of this session observed."""

    def __init__(self, path: Path, state: Path) -> None:
        self.path = path
        self.root = Root(str(path), guarded)
        self.seen: dict[str, str] = {}
        self.result_chars = 50_000
        self.keep: Callable[[bytes, str], Media | str | None] = lambda data, name: "This model cannot see images."
        self.env = child_env({"PATH": "/usr/bin:/bin", "HOME": str(state)})
        self._state = state

    def project(self, tool: Tool[Any], **args: object) -> Effects:
        async def main() -> Effects:
            processes = Processes()
            shell = Shell(processes, self.root.path, str(self._state), self.env)
            try:
                return await tool.project(self._args(tool, args), Look(self.root, self.seen, shell))
            finally:
                await processes.close()

        return asyncio.run(main())

    def call(self, tool: Tool[Any], *, between: Callable[[], object] = lambda: None, **args: object) -> Outcome:
        """Project, then run with what was judged; `between` happens after the judgement and before the effect."""

        async def main() -> Outcome:
            processes = Processes()
            shell = Shell(processes, self.root.path, str(self._state), self.env)
            parsed = self._args(tool, args)
            try:
                async with asyncio.timeout(60):
                    effects = await tool.project(parsed, Look(self.root, self.seen, shell))
                    between()
                    context = Context(
                        self.root,
                        self.seen,
                        shell,
                        processes,
                        lambda data: None,
                        result_chars=self.result_chars,
                        effects=effects,
                        keep=self.keep,
                    )
                    return await tool.run(parsed, context)
            finally:
                await processes.close()

        outcome = asyncio.run(main())
        self.seen.update((observed.path, observed.sha256) for observed in outcome.observed)
        return outcome

    def ok(self, tool: Tool[Any], **args: object) -> str:
        outcome = self.call(tool, **args)
        assert outcome.status == "ok", outcome
        return said(outcome)

    def fails(self, tool: Tool[Any], **args: object) -> str:
        outcome = self.call(tool, **args)
        assert outcome.status == "error", outcome
        return said(outcome)

    def put(self, name: str, content: str | bytes = b"") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    @staticmethod
    def _args(tool: Tool[Any], args: dict[str, object]) -> Any:
        return parse_args(tool, json.encode(args).decode())


def said(outcome: Outcome) -> str:
    text = "".join(getattr(block, "text", "") for block in outcome.content)
    text.encode()  # what the model gets can always be encoded
    return text


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir()
    return Workspace(tmp_path / "work", tmp_path / "state")


@pytest.fixture
def endless_rg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a search program in place that prints something and then never ends."""

    def install(printed: str) -> None:
        program = tmp_path / "rg"
        program.write_text(f"#!/bin/sh\nprintf '{printed}'\nexec sleep 600\n", "utf-8")
        program.chmod(0o755)
        monkeypatch.setattr(programs, "find", lambda *_: str(program))

    return install


@pytest.fixture
def newest() -> Callable[[Path, int], None]:
    """Sets a file's time of change: the higher the number, the newer."""
    import os

    def touch(path: Path, age: int) -> None:
        os.utime(path, ns=(10**18 + age, 10**18 + age))

    return touch
