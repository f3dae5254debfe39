"""Which files a few letters mean, and which commands."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agenyx.app.commands.table import BUILTIN
from agenyx.proc.spawn import Processes
from agenyx.ui.chat.files import Files
from agenyx.ui.chat.fuzzy import best
from agenyx.ui.repl.complete import Suggestions

PATHS = ["src/agenyx/ui/repl/loop.py", "src/loop.py", "docs/loop/readme.md", "tests/test_loop.py", "a.txt"]


def test_the_closest_come_first() -> None:
    assert best("loop.py", PATHS, 9)[0] == "src/loop.py"
    assert best("loop", PATHS, 9)[:2] == ["src/loop.py", "src/agenyx/ui/repl/loop.py"]
    assert best("uirlo", PATHS, 9) == ["src/agenyx/ui/repl/loop.py"]
    assert best("A.T", PATHS, 9) == ["a.txt"]
    assert best("zz", PATHS, 9) == []
    assert best("", PATHS, 2) == PATHS[:2]


def test_files_of_the_workspace_without_the_ignored_ones(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("out\n", "utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "made.bin").write_text("x", "utf-8")
    (tmp_path / "kept.py").write_text("x", "utf-8")
    (tmp_path / "esc\x1b.py").write_text("x", "utf-8")

    async def complete(text: str) -> list[str]:
        processes = Processes()
        files = Files(processes, dict(os.environ), str(tmp_path))
        suggestions = Suggestions(lambda: BUILTIN, files)
        found = [c.text async for c in suggestions.get_completions_async(Document(text), CompleteEvent())]
        await processes.close()
        return found

    assert asyncio.run(complete("see @")) == [".gitignore", "esc\\x1b.py", "kept.py"]
    assert asyncio.run(complete("see @kp")) == ["kept.py"]
    assert asyncio.run(complete("mail a@k")) == []
    assert asyncio.run(complete("/mo")) == ["model", "mode"]
    assert asyncio.run(complete("/mode acc")) == ["acceptEdits"]
    assert asyncio.run(complete("say /mo")) == []
