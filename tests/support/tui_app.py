"""The whole full screen without a terminal: the real app, a model server of the test, and a pilot.

async with full(work, env, size=(80, 24)) as (pilot, wiring):
    await see(pilot, "shows commands and keys")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agenyx.app.settings import Settings
from agenyx.ui.tui.wiring import Wiring


@asynccontextmanager
async def full(
    work: Path, env: Mapping[str, str], size: tuple[int, int] = (80, 24), **settings: Any
) -> AsyncGenerator[tuple[Pilot[None], Wiring], None]:
    wiring = Wiring(Settings(cwd=str(work), **settings), env)
    async with wiring.app.run_test(size=size) as pilot:
        talking = asyncio.ensure_future(wiring.talk())
        try:
            yield pilot, wiring
        finally:
            wiring.approver.close()
            wiring.chat.leave()
            await asyncio.wait((talking,), timeout=30)
            talking.cancel()
            await wiring.processes.close()
