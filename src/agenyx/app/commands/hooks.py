"""/hooks: what hangs on events here, where each stands, and what is wrong with it."""

from __future__ import annotations

from msgspec import structs

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    """Raises AgenyxError."""
    from agenyx.app.hook_bench import hook_bench, lines

    async with hook_bench(desk.conversation.parts.source.settings, desk.env) as bench:
        rows = bench.rows()
        data = {"hooks": [structs.asdict(row) for row in rows], "problems": bench.problems}
        return Reply("\n".join(lines(rows, bench.problems)), data)
