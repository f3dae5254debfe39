"""What really runs is among what was judged: generated scripts, programs that record, and the judge of the Bash tool.

300 scripts; AGENYX_SCRIPTS sets another number (`make nightly`: 5,000).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from agenyx.core.tools import Effects
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell
from agenyx.tools.commands import Analyses, effects_of
from agenyx.tools.spec import Look
from agenyx.workspace.root import Root
from attacks import grammar

SCRIPTS = int(os.environ.get("AGENYX_SCRIPTS", "300"))
GROUPS = 6


@pytest.mark.parametrize("group", range(GROUPS))
def test_what_runs_was_judged(tmp_path: Path, group: int) -> None:
    scripts = [grammar.generate(Random(f"judged {seed}")) for seed in range(group, SCRIPTS, GROUPS)]
    env = grammar.prepare(tmp_path)
    seen = ran = 0
    for script, effects in zip(scripts, judge(tmp_path, env, scripts), strict=True):
        if effects.opaque:
            continue  # somebody is asked about it as a whole
        seen += 1
        (tmp_path / "record").unlink(missing_ok=True)
        grammar.run(tmp_path, env, script)
        for where, argv in grammar.places(tmp_path):
            ran += 1
            assert any(
                covers(list(command.argv), argv) and same(tmp_path / "work", command.cwd, where)
                for command in effects.commands
            ), f"{argv} ran in {where!r} and was not judged:\n{script}"
    assert seen >= len(scripts) // 2 and ran >= seen, "most scripts are seen whole, or this shows nothing"


def judge(directory: Path, env: dict[str, str], scripts: list[str]) -> list[Effects]:
    async def main() -> list[Effects]:
        processes, work = Processes(), str(directory / "work")
        look = Look(Root(work), {}, Shell(processes, work, str(directory / "state"), env))
        analyses = Analyses()
        try:
            return [await effects_of(script, look, analyses) for script in scripts]
        finally:
            await processes.close()

    return asyncio.run(main())


def covers(judged: list[str | None], real: list[str]) -> bool:
    """Whether the words are the real ones; None stands for any number of words."""
    if not judged:
        return not real
    if judged[0] is None:
        return any(covers(judged[1:], real[start:]) for start in range(len(real) + 1))
    return bool(real) and judged[0] == real[0] and covers(judged[1:], real[1:])


def same(work: Path, judged: str | None, where: str) -> bool:
    return judged is None or os.path.realpath(os.path.join(work, judged)) == os.path.realpath(work / where)
