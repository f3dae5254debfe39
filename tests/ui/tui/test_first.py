"""What is loaded when: the first frame needs nothing heavy, and no other way loads the toolkit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.ui.tui.first import frame
from support.mock import command_env
from support.tui import rows, see
from support.tui_app import full


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] if name.startswith(("textual", "rich")) else name for name in done.stdout.split()}


@pytest.mark.parametrize("way", ["agenyx.ui.cli", "agenyx.ui.repl.start", "agenyx.ui.once", "agenyx.ui.wire.main"])
def test_no_other_way_loads_the_toolkit(way: str) -> None:
    assert not loaded(f"import {way}") & {"textual", "rich"}


def test_the_first_frame_needs_nothing_heavy() -> None:
    found = loaded("import agenyx.ui.tui.first")
    assert not found & {"textual", "rich", "asyncio", "msgspec"}


def test_the_screen_needs_nothing_of_what_opens_a_conversation() -> None:
    found = loaded("import agenyx.ui.tui.start")
    assert not found & {"agenyx.app.start", "agenyx.app.runtime", "agenyx.agent.engine", "agenyx.llm.provider"}
    assert not found & {"agenyx.workspace.git", "agenyx.ext.acting"}


@pytest.mark.parametrize("size", [(1, 1), (3, 80), (80, 24), (500, 200)])
def test_the_first_frame_fits(size: tuple[int, int]) -> None:
    assert frame(*size).endswith("> ") or frame(*size).endswith(">\x1b[0m ")


async def test_a_very_large_window(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    env = command_env(home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL="http://127.0.0.1:9/v1", AGENYX_MODEL="m")
    async with full(work, env, size=(500, 200)) as (pilot, wiring):
        await see(pilot, "shows commands and keys")
        assert len(rows(wiring.app)) == 200
