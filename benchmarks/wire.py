#!/usr/bin/env python3
"""What JSON lines cost in processor time, beside the same answer as text: an answer of 20,000 pieces.

    python benchmarks/wire.py [--pieces 20000] [--runs 3] [--json]

The real command line against a scripted model server, user and system time of the whole process, the best of the runs.
`partial` tells every piece as it comes. Needs the development tools (`make test` installs them) and no network.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.mock import command_env, mock_server

RECORDS = ("--output-format", "stream-json")
WAYS = {"text": (), "records": RECORDS, "partial": (*RECORDS, "--include-partial-messages")}
LIMIT = 1.5  # times the text, for partial


def spent(flags: tuple[str, ...], cwd: Path, env: dict[str, str]) -> float:
    """Seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "agenyx", "-p", *flags, "hi"],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=300,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pieces", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with mock_server() as mock, tempfile.TemporaryDirectory() as folder:
        mock.reset(f"long-{given.pieces}")
        place = Path(folder)
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{mock.url}/v1", "AGENYX_MODEL": "mock-model"}
        env = command_env(place, **model)
        spent(WAYS["partial"], place, env)  # compiled files are there now
        found = {name: min(spent(flags, place, env) for _ in range(given.runs)) for name, flags in WAYS.items()}
    ratio = found["partial"] / found["text"]
    if given.json:
        print(json.dumps({"pieces": given.pieces, "seconds": found, "ratio": round(ratio, 3), "limit": LIMIT}))
    else:
        for name, seconds in found.items():
            print(f"{name:8} {seconds:6.2f} s   {seconds / found['text']:.2f} x")
    return 0 if ratio < LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())
