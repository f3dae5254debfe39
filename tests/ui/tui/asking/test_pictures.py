"""How questions look: every size, two themes. The files hold the rows, and each run of text with its style."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.core.approval import Approval
from agenyx.core.tools import Command, Concern, Effects, PathRef
from support.tui import SIZES, snapshot

from .place import approval, place
from .test_inquiry import EXTRAS, PLAN, STORAGE, inquiry, plan

GOLDEN = Path(__file__).with_name("golden")
SCRIPT = "cd web && npm test && rm -rf build"
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n def f():\n-    return 1\n+    return 2\n"
PICTURES: dict[str, Approval] = {
    "command": approval(
        Effects(
            preview=SCRIPT,
            script=SCRIPT,
            commands=(
                Command(("cd", "web"), kinds=()),
                Command(("npm", "test"), kinds=("runs",)),
                Command(
                    ("rm", "-rf", "build"), kinds=("removes",), concerns=(Concern("danger", "build is lost for good"),)
                ),
            ),
        )
    ),
    "diff": approval(
        Effects(preview=DIFF, writes=(PathRef("a.py", b"/w/a.py", "/w"),)), name="Edit", args='{"file_path":"a.py"}'
    ),
    "long": approval(Effects(preview="\n".join(f"echo {at}" for at in range(80)))),
    "question": inquiry(STORAGE, EXTRAS),
    "plan": plan(PLAN + "\n```python\nprint('hi')\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
}


@pytest.mark.parametrize("theme", ["default", "light"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, size: tuple[int, int], theme: str) -> None:
    async with place(size, theme) as room:
        await room.ask(PICTURES[name])
        await room.ask(approval(id="apr_2"))
        await room.settle()
        snapshot(room.app, GOLDEN / f"{name}-{size[0]}x{size[1]}-{theme}.txt")
