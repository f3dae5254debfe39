"""The files of a workspace, while they are listed and after."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from agenyx.proc.spawn import Processes
from agenyx.ui.chat.files import Files


def with_files(top: Path, work: Callable[[Files], Awaitable[None]], clock: Callable[[], float] = lambda: 0.0) -> None:
    async def run() -> None:
        processes = Processes()
        async with asyncio.timeout(60):
            await work(Files(processes, dict(os.environ), str(top), clock))
        await processes.close()

    asyncio.run(run())


async def found(files: Files, query: str, most: int = 50) -> list[str]:
    shown: list[list[str]] = [[]]
    await files.search(query, most, shown.append)
    return shown[-1]


def lay_out(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x", "utf-8")


def test_files_and_folders_without_what_is_ignored(tmp_path: Path) -> None:
    lay_out(tmp_path, "src/deep/a.py", "src/b.py", "out/made.o", ".env.example", ".git/HEAD", "esc\x1b.py", "ü x.md")
    (tmp_path / ".gitignore").write_text("out\n", "utf-8")

    async def work(files: Files) -> None:
        assert await found(files, "") == [
            ".env.example",
            ".gitignore",
            "esc\\x1b.py",
            "src/",
            "ü x.md",
            "src/b.py",
            "src/deep/",
            "src/deep/a.py",
        ]
        assert await found(files, "deepa") == ["src/deep/a.py"]
        assert await found(files, "SRC") == ["src/", "src/b.py", "src/deep/", "src/deep/a.py"]
        assert await found(files, "made") == []
        assert await files.all() == [".env.example", ".gitignore", "esc\\x1b.py", "src/b.py", "src/deep/a.py", "ü x.md"]

    with_files(tmp_path, work)


def test_many_files_are_shown_as_they_come_and_the_best_at_last(tmp_path: Path) -> None:
    lay_out(tmp_path, *(f"part_{number % 50}/module_{number:04}.py" for number in range(4_000)))

    async def work(files: Files) -> None:
        assert await found(files, "module_3999") == ["part_49/module_3999.py"]
        assert len(await found(files, "mod", 20)) == 20

    with_files(tmp_path, work)


def test_the_list_is_made_anew_when_it_is_old(tmp_path: Path) -> None:
    lay_out(tmp_path, "a.py")
    now = 0.0

    async def work(files: Files) -> None:
        nonlocal now
        assert await found(files, "") == ["a.py"]
        lay_out(tmp_path, "b.py")
        assert await found(files, "") == ["a.py"]
        now = 100.0
        assert await found(files, "") == ["a.py", "b.py"]

    with_files(tmp_path, work, lambda: now)


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    async def work(files: Files) -> None:
        assert await found(files, "a") == []

    with_files(tmp_path / "gone", work)


def test_a_search_can_be_given_up(tmp_path: Path) -> None:
    lay_out(tmp_path, *(f"module_{number:04}.py" for number in range(500)))

    async def work(files: Files) -> None:
        task = asyncio.create_task(found(files, "m"))
        await asyncio.sleep(0)
        task.cancel()
        assert await asyncio.gather(task, return_exceptions=True) != []
        assert await found(files, "module_0007") == ["module_0007.py"]

    with_files(tmp_path, work)
