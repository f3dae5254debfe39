"""Every snippet of the corpus gives, through the Shell, what bash 5.2 gave when it was recorded.

Those that are POSIX give the same in dash.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.proc.spawn import Processes
from agenyx.shell import program
from agenyx.shell.program import Choice
from agenyx.shell.system import Shell
from shell.corpus.record import HERE, PATH, Case, environment, load

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="recorded with GNU programs")

CASES = {f"{path.stem}: {case.name}": case for path in sorted(HERE.glob("*.txt")) for case in load(path)}
BASH = ("/bin/bash", "-c", "echo $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))")
DASH = shutil.which("dash", path=PATH)


def run(drive, case: Case, place: Path, choice: Choice) -> list[tuple[int, str]]:
    if case.missing:
        pytest.skip(f"needs {', '.join(case.missing)}")
    root = place / "work space"
    root.mkdir()

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(place / "state"), environment(str(root)), choice)
        results: list[tuple[int, str]] = []
        for call in case.calls:
            result = await shell.run(call.command, 40)
            assert not result.timed_out, result
            results.append((result.code, result.output.head.decode().replace(str(root.resolve()), "ROOT")))
        return results

    return drive(body)


@pytest.fixture(scope="module")
def new_bash() -> None:
    if int(subprocess.run(BASH, stdout=subprocess.PIPE, check=True).stdout) < 502:
        pytest.skip("recorded with bash 5.2")


def test_there_is_something_to_run():
    assert len(CASES) == sum(len(load(path)) for path in HERE.glob("*.txt"))  # no name stands twice
    assert len(CASES) >= 250 and sum(case.posix for case in CASES.values()) >= 130


@pytest.mark.usefixtures("new_bash")
@pytest.mark.parametrize("name", CASES)
def test_as_bash_does(drive, tmp_path, name):
    case = CASES[name]
    assert run(drive, case, tmp_path, "bash") == [(call.code, call.output) for call in case.calls]


@pytest.mark.skipif(DASH is None, reason="needs dash")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.posix])
def test_as_bash_does_in_dash(drive, tmp_path, monkeypatch, name):
    monkeypatch.setattr(program, "_SH", DASH)
    case = CASES[name]
    assert run(drive, case, tmp_path, "sh") == [(call.code, call.output) for call in case.calls]
