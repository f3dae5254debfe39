"""What checkpoints cost a tool turn: the same calls with and without a keeper, in one process.

    python benchmarks/checkpoints.py [--rounds N]

Prints the median milliseconds of what is done before and after a call: for one that only looks, an edit of a small
file, an edit of a large one, and in a git tree of 2,000 files a program of which not everything is seen.
"""
# ruff: noqa: T201, TID251, ASYNC221

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from agenyx.agent.checkpoint import Checkpoints
from agenyx.app.start import open_root
from agenyx.core.tools import Command, Effects
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes


async def cost(keeper: Checkpoints, effects: Effects, rounds: int, act: Path | None) -> float:
    """Median milliseconds of both halves together; `act` is changed in between."""
    taken: list[float] = []
    for number in range(rounds):
        call, started = f"call_{number}", time.perf_counter()
        await keeper.before(call, effects)
        spent = time.perf_counter() - started
        if act is not None:
            act.write_bytes(act.read_bytes()[:-1] + bytes([number % 256]))
        started = time.perf_counter()
        await keeper.after(call)
        keeper.ended(call)
        taken.append(spent + time.perf_counter() - started)
    return median(taken) * 1000


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder, "work"), Path(folder, "home")
        work.mkdir()
        (work / "small.py").write_bytes(b"x = 1\n" * 700)
        (work / "large.bin").write_bytes(os.urandom(1 << 20))
        for number in range(2000):
            place = work / f"d{number % 50}"
            place.mkdir(exist_ok=True)
            (place / f"f{number}.py").write_text(f"x = {number}\n")
        root, processes = open_root(os.path.realpath(work), str(home), folder), Processes()
        keeper = Checkpoints(root, "s", os.path.join(folder, "session"), processes, child_env(os.environ), print)
        program = Effects(commands=(Command(("make",), kinds=("runs",)),), script="make")
        cases = {"looks": (Effects(parallel=True), None)}
        for name in ("small.py", "large.bin"):
            cases[f"edit {name}"] = (Effects(writes=(root.ref(name, writing=True),)), work / name)
        cases["program, no git"] = (program, work / "small.py")
        for name, (effects, act) in cases.items():
            print(f"{name:<20} {await cost(keeper, effects, rounds, act):8.3f} ms")
        for words in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *words], cwd=work, check=True)
        print(f"{'program, git':<20} {await cost(keeper, program, min(rounds, 20), work / 'small.py'):8.3f} ms")
        await processes.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[2]) if sys.argv[1:2] == ["--rounds"] else 200))
