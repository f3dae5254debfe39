"""What a verdict on a shell command costs: a new command, and one that was seen before.

    python benchmarks/verdict.py [--rounds N]

Judges ordinary commands with 15 rules in a throw-away git repository, as is done before each call of the Bash tool.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from agenyx.app.permissions import bench
from agenyx.app.settings import Settings

COMMANDS = (
    "ls -la",
    "git status --short",
    "git log --oneline -20",
    "git diff HEAD~1 --stat -- src",
    "cat src/a.py | head -50",
    "rg -n 'def main' src tests",
    "find . -name '*.py' -not -path './.venv/*' | wc -l",
    "sed -n '1,80p' src/a.py",
    "cd src && python -m pytest -x -q 2>&1 | tail -20",
    "npm run build --silent",
    'for f in src/*.py; do wc -l "$f"; done',
    "mkdir -p build && cp src/a.py build/",
    "cargo test --all -- --nocapture",
    "docker ps -a --format '{{.Names}}'",
    "curl -sS https://example.org/a.json | jq '.items[].name'",
    "git add -A && git commit -m 'work'",
    "cat > notes.txt <<'E'\none\ntwo\nE",
    "export NODE_ENV=test; npm test -- --reporter=dot",
    "test -f src/a.py && echo yes || echo no",
    "awk '{ print $1 }' src/a.py | sort | uniq -c | sort -rn | head",
)
PROGRAMS = ("ls", "cat", "head", "tail", "wc", "rg", "grep", "git", "sort", "uniq", "jq", "test", "make", "npm", "sed")
RULES = ",".join(f"Bash({program}:*)" for program in PROGRAMS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        (work / "src").mkdir(parents=True)
        (work / "src" / "a.py").write_text("print(1)\n")
        subprocess.run(["git", "init", "-q", work], check=True)
        env = {**os.environ, "HOME": folder}
        first, again = asyncio.run(measure(Settings(str(work), allowed=RULES), env, rounds))
    for name, seconds in (("new", first), ("seen", again)):
        seconds.sort()
        p95 = seconds[int(len(seconds) * 0.95)]
        print(
            f"{name:5} median {statistics.median(seconds) * 1000:6.3f} ms   p95 {p95 * 1000:6.3f} ms   n {len(seconds)}"
        )


async def measure(settings: Settings, env: dict[str, str], rounds: int) -> tuple[list[float], list[float]]:
    first: list[float] = []
    again: list[float] = []
    async with bench(settings, env) as tried:
        await tried.judge("Bash(true)")  # loads the table of programs
        for number in range(rounds):
            calls = [
                f"Bash(: {number}; {command})" if "\n" in command else f"Bash({command} # {number})"
                for command in COMMANDS
            ]
            for times in (first, again):
                for call in calls:
                    start = time.perf_counter()
                    await tried.judge(call)
                    times.append(time.perf_counter() - start)
    return first, again


if __name__ == "__main__":
    main()
