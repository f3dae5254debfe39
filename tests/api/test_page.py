"""Every piece of docs/python.md runs as it stands, against a model server that has one answer to everything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import agenyx
from support.mock import command_env
from support.raw_server import RawServer
from support.wire_host import says

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "python.md").read_text("utf-8")
PIECES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(PIECES)))
def test_a_piece_runs(tmp_path: Path, number: int) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with RawServer([says('[{"file": "a.py", "problem": "none"}]')] * 2) as server:
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        done = subprocess.run(
            [sys.executable, "-c", PIECES[number]],
            cwd=work,
            env=command_env(tmp_path, **model),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        offline = "provider=Parrot()" in PIECES[number]
        assert bool(server.requests) is not offline
    assert "Hello!" in done.stdout if offline else "a.py" in done.stdout or "transfer" in PIECES[number]


def test_the_page_names_the_parameters_that_there_are() -> None:
    import inspect

    known = set(inspect.signature(agenyx.Agent).parameters) | set(inspect.signature(agenyx.tool).parameters)
    known |= {"output", "resume", "continue_", "fork", "rebind", "args", "answers", "matcher", "on_error"}
    named = set(re.findall(r"\b([a-z_]+)=", "\n".join(re.findall(r"`([^`\n]+)`", PAGE))))
    assert named <= known
