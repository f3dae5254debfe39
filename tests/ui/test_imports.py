"""What is loaded when the first request leaves: every module of it stands in `modules.txt`.

A module that is new here makes every start slower. Add it only when the first request needs it; otherwise import it
where it is used. To rewrite the list: AGENYX_WRITE_MODULES=1 pytest tests/ui/test_imports.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.mock import command_env

LIST = Path(__file__).with_name("modules.txt")
RECORD = """
import os, sys
import agenyx.llm.stream as stream
def first_request(*_):
    with open(os.environ["RECORD"], "w") as file:
        file.write("\\n".join(sorted(sys.modules)))
    os._exit(0)
before = set(sys.modules)
stream.stream = first_request
for name in before:
    if name.startswith("agenyx.llm.provider"):
        raise SystemExit("the provider must be imported after the hook is set")
from agenyx.__main__ import main
sys.argv = ["agenyx", "-p", "hello"]
main()
"""
HEAVY = {
    "argparse",
    "click",
    "rich",
    "httpx",
    "http.client",
    "json",
    "importlib.metadata",
    "importlib.resources",
    "tempfile",
    "shutil",
    "urllib.request",
    "email.message",
    "tomllib",
    "dataclasses",
    "random",
    "pathlib",
    "difflib",
    "multiprocessing",
}


def loaded(tmp_path: Path) -> set[str]:
    record = tmp_path / "record"
    env = command_env(
        tmp_path,
        OPENAI_API_KEY="k" * 20,
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        AGENYX_MODEL="m",
        RECORD=str(record),
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{RECORD}"],
        cwd=tmp_path,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert record.exists(), done.stderr
    return {name for name in record.read_text("utf-8").splitlines() if not name.startswith("__editable__")}


def test_every_module_before_the_first_request_is_listed(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert not found & HEAVY
    ours = sorted(name for name in found if name.split(".")[0] in ("agenyx", "msgspec"))
    if os.environ.get("AGENYX_WRITE_MODULES"):
        LIST.write_text("\n".join(sorted(found)) + "\n", "utf-8")
    listed = LIST.read_text("utf-8").split()
    assert ours == [name for name in listed if name.split(".")[0] in ("agenyx", "msgspec")]
    if sys.version_info[:2] == (3, 11):  # the standard library's own imports differ from version to version
        assert sorted(found - set(listed)) == []
