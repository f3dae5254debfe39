"""Long answers as records: every piece comes, and together they are the answer. What it costs: benchmarks/wire.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support.mock import command_env, mock_server

DELTAS = 20_000


def test_all_of_twenty_thousand_pieces_come(tmp_path: Path) -> None:
    with mock_server() as mock:
        mock.reset(f"long-{DELTAS}")
        env = command_env(
            tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="mock-model"
        )
        flags = ("--output-format", "stream-json", "--include-partial-messages")
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", "-p", *flags, "hi"],
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=True,
        )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    events = [one["event"] for one in records if one["type"] == "stream_event"]
    pieces = [one["delta"]["text"] for one in events if one["type"] == "content_block_delta"]
    assert len("".join(pieces)) > DELTAS
    assert "".join(pieces) == records[-1]["result"]
