"""What records cost, in processor time of the whole program."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from support.mock import command_env, mock_server

DELTAS = 20_000
MOST = 1.5  # times the processor time of text mode


def spent(flags: tuple[str, ...], cwd: Path, env: dict[str, str]) -> float:
    """Seconds of processor time, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "agenyx", "-p", *flags, "hi"],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert done.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_twenty_thousand_pieces_cost_little_more_than_text(tmp_path: Path) -> None:
    with mock_server() as mock:
        mock.reset(f"long-{DELTAS}")
        env = command_env(
            tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="mock-model"
        )
        records = ("--output-format", "stream-json", "--include-partial-messages")
        spent(records, tmp_path, env)  # compiled files are there now
        text = min(spent((), tmp_path, env) for _ in range(3))
        partial = min(spent(records, tmp_path, env) for _ in range(3))
    assert partial < MOST * text, (partial, text)
