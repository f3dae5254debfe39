#!/usr/bin/env python3
"""How long Ctrl+C takes in the REPL: from the key until the running command is gone and the input is there again.

    python benchmarks/cancel.py [--runs 20] [--json]

The real command line on a pseudo-terminal, a scripted model server, and `sleep 60` in the Bash tool. One process talks
through all the runs, as a person would. Needs the development tools (`make test` installs them) and no network.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.mock import command_env
from support.pty_screen import Screen
from support.raw_server import RawServer, call, finish, stream

COMMAND = "echo $$ > pid; exec sleep 60"
STOPPED = "Stopped by the user."


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def one(screen: Screen, work: Path, number: int) -> tuple[float, float]:
    """Milliseconds from Ctrl+C until the command is gone, and until the REPL says so and takes input again."""
    pid_file = work / "pid"
    pid_file.unlink(missing_ok=True)
    screen.type(f"run {number}\r")
    screen.until(lambda: pid_file.exists() and pid_file.read_text("utf-8").endswith("\n"), "the command runs")
    pid = int(pid_file.read_text("utf-8"))
    screen.until(lambda: screen.shows("Ctrl+C stops") and screen.shows("running Bash"), "it is shown")
    settled = time.monotonic() + 0.3
    screen.until(lambda: time.monotonic() > settled, "it has run for a while")
    before = screen.text.count(STOPPED)
    begun = time.monotonic()
    os.write(screen.master, b"\x03")
    gone = back = 0.0
    while not (gone and back):
        now = time.monotonic()
        if now - begun > 30:
            raise SystemExit(f"the command did not end; the screen:\n{screen.text}")
        if not gone and not alive(pid):
            gone = now
        screen.read()
        if not back and STOPPED.encode() in screen.data[-4000:] and screen.text.count(STOPPED) > before:
            back = time.monotonic()
        time.sleep(0.001)
    return (gone - begun) * 1000, (back - begun) * 1000


def measure(runs: int) -> dict[str, dict[str, float]]:
    script = [[stream(call("Bash", json.dumps({"command": COMMAND})), finish("tool_calls"))] for _ in range(runs + 1)]
    with tempfile.TemporaryDirectory() as folder, RawServer(script) as server:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        env = command_env(
            home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m", TERM="xterm"
        )
        program = [sys.executable, "-m", "agenyx", "chat", "--permission-mode", "bypassPermissions"]
        with Screen([*program, "--dangerously-skip-permissions"], work, env, rows=40) as screen:
            screen.see("shows commands and keys")
            one(screen, work, 0)  # what is only loaded once does not count
            times = [one(screen, work, number) for number in range(1, runs + 1)]
            screen.type("\x04")
            screen.end()
    return {
        name: {
            "median": statistics.median(row),
            "p95": sorted(row)[max(0, round(0.95 * len(row)) - 1)],
            "max": max(row),
        }
        for name, row in (("command gone", [t[0] for t in times]), ("input back", [t[1] for t in times]))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Milliseconds that Ctrl+C takes in the REPL.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.runs)
    if given.json:
        print(json.dumps({"runs": given.runs, "load": os.getloadavg()[0], "milliseconds": found}))
        return
    print(f"Ctrl+C during `sleep 60`, {given.runs} runs, load {os.getloadavg()[0]:.1f}")
    for name, row in found.items():
        print(f"{name:13} median {row['median']:6.1f} ms   p95 {row['p95']:6.1f} ms   max {row['max']:6.1f} ms")


if __name__ == "__main__":
    main()
