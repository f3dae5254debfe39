#!/usr/bin/env python3
"""How long stored sessions take: a list of 5,000, going on with one of 100,000 records and 100 MB, whole or damaged,
deleting one.

    python benchmarks/sessions.py [--sessions 5000] [--runs 5] [--json]

Real files in a throw-away folder; each figure is taken in a process of its own, the median of the runs. The memory is
the most that the process held. Needs no network.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from agenyx.core.events import Outcome, Usage
from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult, User
from agenyx.llm.request import Options
from agenyx.session.load import sessions_of
from agenyx.session.records import (
    Accepted,
    Binding,
    Body,
    EffectsBegun,
    Finished,
    Opened,
    Prefix,
    Prompt,
    Record,
    Response,
    Result,
    encode,
)
from support.mock import command_env
from support.stored import store_session, turn

RECORDS = 100_000
OUTPUT = "    value = compute(value)  # what a tool returned\n" * 75
LIST = """
import sys, time
from agenyx.app.sessions import row_of
from agenyx.session.inventory import sessions
begun = time.perf_counter()
found = sessions(sys.argv[1], sys.argv[2])
rows = [row_of(one) for one in found[:50]]
print(time.perf_counter() - begun, len(found))
"""
LOAD = """
import resource, sys, time
from agenyx.session.load import load
begun, busy = time.perf_counter(), time.process_time()
state = load(sys.argv[1])
took = time.perf_counter() - begun, time.process_time() - busy
assert bool(state.problems) == (sys.argv[2] == "damaged"), state.problems[:3]
print(*took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, len(state.problems))
"""
DELETE = """
import sys, time
from agenyx.app.sessions import remove, revision
begun = time.perf_counter()
status = remove(sys.argv[1], revision(sys.argv[1]))
assert status == "deleted", status
print(time.perf_counter() - begun)
"""


def write_large(directory: Path, name: str) -> tuple[int, int]:
    """A transcript of RECORDS records and about 100 MB; says how many of both."""
    directory.mkdir(0o700, parents=True)
    count = 0
    with (directory / "transcript.jsonl").open("wb") as file:

        def put(body: Body, turn: str) -> None:
            nonlocal count
            parent = f"rec_{count:024x}" if count else ""
            count += 1
            file.write(encode(Record(1, f"rec_{count:024x}", count, parent, 1.8e9 + count, turn, body)))

        for body in (Opened(name, "/w", "1"), Binding("p", "f", "m"), Prefix("h", Options(), ("s",), ())):
            put(body, "")
        number = 0
        while count + 35 < RECORDS:
            number += 1
            put(Prompt(User((Text("mend the next thing, please"),), "typed", f"prompt_{number}")), f"turn_{number}")
            for step in range(8):
                call = ToolCall(f"call_{number}_{step}", "w", "Read", '{"file_path":"/w/src/module.py"}')
                blocks = (Text("I look at the module."), call)
                put(Response(Assistant(blocks, "calls"), Usage(1, 2, 3, 4, 5), "id"), f"turn_{number}")
                put(Accepted(call.id), f"turn_{number}")
                put(EffectsBegun((call.id,), False), f"turn_{number}")
                put(Result(ToolResult(call.id, "ok", (Text(OUTPUT),))), f"turn_{number}")
            put(Response(Assistant((Text("done"),), "end"), Usage(1, 2, 3, 4, 5), "id"), f"turn_{number}")
            put(Finished(Outcome("done")), f"turn_{number}")
        return count, file.tell()


def damage(whole: Path, directory: Path) -> None:
    """The same transcript as a bad disk and a careless editor leave it: each 500th line hurt in one of five ways."""
    directory.mkdir(0o700)
    with (whole / "transcript.jsonl").open("rb") as old, (directory / "transcript.jsonl").open("wb") as new:
        for number, line in enumerate(old):
            match number % 2500:
                case 500:
                    new.write(b"\x00" * len(line) + b"\n")
                case 1000:
                    new.write(line[: len(line) // 2] + b"\n")
                case 1500:
                    pass
                case 2000:
                    new.write(line + line)
                case 2499:
                    new.write(b'{"v":1,"note":"not a record"}\n' + line)
                case _:
                    new.write(line)
        new.write(line[:40])


def timed(program: str, *argv: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program, *argv], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def command(home: Path, work: Path, runs: int, *argv: str) -> float:
    """Seconds of the whole command line, start included."""
    times: list[float] = []
    for _ in range(runs):
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", *argv], cwd=work, env=command_env(home), capture_output=True, check=False
        )
        times.append(time.perf_counter() - begun)
        if done.returncode:
            raise SystemExit(done.stderr.decode())
    return statistics.median(times)


def measure(sessions: int, runs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, ".agenyx"), Path(folder, "work")
        work.mkdir()
        top = Path(sessions_of(str(home), str(work)))
        first = store_session(home, work, "s00000", [turn("mend the parser", args="{}")], extra=15_000)
        content = (first / "transcript.jsonl").read_bytes()
        for number in range(1, sessions):
            directory = top / f"s{number:05}"
            directory.mkdir(0o700)
            (directory / "transcript.jsonl").write_bytes(content)
        listed = [timed(LIST, str(home), str(work))[0] for _ in range(runs)]
        whole = command(Path(folder), work, runs, "sessions", "list")
        empty = command(Path(folder), work, runs, "sessions", "--help")
        page = command(Path(folder), work, runs, "--list-sessions", "--cwd", str(work))
        gone = [timed(DELETE, str(top / f"s{number:05}"))[0] for number in range(1, runs + 1)]
        large = top / "large"
        records, size = write_large(large, "large")
        loaded = [timed(LOAD, str(large), "whole") for _ in range(runs)]
        damage(large, top / "damaged")
        mended = [timed(LOAD, str(top / "damaged"), "damaged") for _ in range(runs)]
        shown = command(Path(folder), work, 1, "sessions", "show", "damaged", "--json")
        return {
            "sessions": sessions,
            "list_seconds": statistics.median(listed),
            "list_command_seconds": whole,
            "start_seconds": empty,
            "page_of_100_with_revisions_command_seconds": page,
            "delete_seconds": statistics.median(gone),
            "records": records,
            "bytes": size,
            "load_seconds": statistics.median(one[0] for one in loaded),
            "load_cpu_seconds": statistics.median(one[1] for one in loaded),
            "load_peak_bytes": statistics.median(one[2] for one in loaded),
            "damaged_load_seconds": statistics.median(one[0] for one in mended),
            "damaged_load_cpu_seconds": statistics.median(one[1] for one in mended),
            "damaged_load_peak_bytes": statistics.median(one[2] for one in mended),
            "damaged_problems_listed": mended[0][3],
            "damaged_show_command_seconds": shown,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    os.umask(0o077)
    figures = measure(given.sessions, given.runs)
    if given.json:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        print(f"{name:44} {figure:,.3f}" if name.endswith("seconds") else f"{name:44} {figure:,.0f}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{'peak of any process, bytes':44} {most * 1024:,}")


if __name__ == "__main__":
    main()
