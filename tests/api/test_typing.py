"""A user's code type-checks, in strict mode; and what is wrong in it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent


def test_a_program_type_checks_and_mistakes_in_it_do_not(tmp_path: Path) -> None:
    source = (HERE / "typed_use.py").read_text("utf-8")
    (tmp_path / "program.py").write_text(source, "utf-8")
    config = {
        "include": ["program.py"],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "reportUnnecessaryTypeIgnoreComment": "error",
        "extraPaths": [str(TOP / "src")],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    told = [f"{one['range']['start']['line'] + 1}: {one['message']}" for one in found["generalDiagnostics"]]
    assert told == []
    assert found["summary"]["filesAnalyzed"] == 1
