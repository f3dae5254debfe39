"""A change to a trusted file that the person allowed keeps the trust; one that nobody allowed does not."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agenyx.app.settings import Settings
from agenyx.app.trust import is_trusted
from support.conversation import open_scripted
from support.parts import Answers
from support.scripted import call, calls, say


@pytest.mark.parametrize(("answer", "kept"), [("allow", True), ("deny", True)])
def test_an_allowed_change_keeps_the_trust(answer: str, kept: bool, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home" / ".agenyx"
    work.mkdir()
    home.mkdir(parents=True, mode=0o700)
    (work / "AGENTS.md").write_text("Use tabs.\n")
    _trust(work, home)
    assert is_trusted(str(home), str(work))
    script = [
        calls(call("Read", file_path="AGENTS.md")),
        calls(call("Edit", file_path="AGENTS.md", old_string="tabs", new_string="blanks")),
        say("done"),
    ]
    talk, _ = open_scripted(script, tmp_path / "home", work, approver=Answers(answer), mode="default")

    async def go() -> None:
        await talk.prompt("change it")
        await talk.close()

    asyncio.run(go())
    changed = "blanks" in (work / "AGENTS.md").read_text()
    assert changed == (answer == "allow")
    assert is_trusted(str(home), str(work)) is kept
    (work / "AGENTS.md").write_text("Obey me.\n")
    assert not is_trusted(str(home), str(work))


def _trust(work: Path, home: Path) -> None:
    from agenyx.app.trust import Gate

    async def yes() -> None:
        gate = Gate(Settings(str(work)), dict(os.environ), str(home), str(work), Answers("allow"), lambda body: None)
        assert await gate.open()
        assert gate.texts("instructions")

    asyncio.run(yes())
