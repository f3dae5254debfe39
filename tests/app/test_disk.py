"""A disk that fills up in the middle of a turn, and has room again later."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support.disk import namespaces
from support.mock import agenyx, command_env
from support.raw_server import RawServer, call, content, finish, stream

STEPS = 40
# The first run meets a full disk; then there is room, on the same disk, and a second one goes on.
SMALL = """
mount -t tmpfs -o size=160k,mode=700 none "$0" && mkdir -m 700 "$0/h" || exit 99
"$@" do it >one.out 2>one.err; echo $? >one.code
mount -o remount,size=64m "$0" && cp -r "$0/h" first
"$@" --continue >two.out 2>two.err; echo $? >two.code; cp -r "$0/h" second
"""
LIMITED = """
mkdir -m 700 "$0/h"
(ulimit -f 64; "$@" do it >one.out 2>one.err; echo $? >one.code)
cp -r "$0/h" first
"$@" --continue >two.out 2>two.err; echo $? >two.code; cp -r "$0/h" second
"""


def test_the_turn_ends_with_a_clear_error_and_goes_on_once_there_is_room(tmp_path: Path) -> None:
    work, small, notes = tmp_path / "work", tmp_path / "small", tmp_path / "notes"
    for folder in (work, small, notes):
        folder.mkdir(mode=0o700)
    script = [
        [
            stream(
                call("Bash", json.dumps({"command": f"echo {n} >> ran.txt; head -c 6000 /dev/zero | tr '\\0' x"})),
                finish("tool_calls"),
            )
        ]
        for n in range(STEPS)
    ]
    program = [sys.executable, "-m", "agenyx", "-p", "--dangerously-skip-permissions", "--cwd", str(work)]
    before = ["unshare", "-Urm"] if namespaces() else []
    with RawServer([*script, [stream(content("All is done."), finish())]]) as server:
        env = command_env(
            tmp_path,
            OPENAI_API_KEY="k" * 20,
            OPENAI_BASE_URL=f"{server.url}/v1",
            AGENYX_MODEL="m",
            AGENYX_HOME=str(small / "h"),
        )
        shell = [*before, "sh", "-c", SMALL if before else LIMITED, str(small)]
        done = subprocess.run([*shell, *program], cwd=notes, env=env, check=False, timeout=300)
    assert done.returncode == 0

    def noted(name: str) -> str:
        return (notes / name).read_text("utf-8")

    assert noted("one.code") == "1\n", noted("one.err")
    assert "the session could not be written" in noted("one.err") and "--continue" in noted("one.err")
    assert "Traceback" not in noted("one.err") + noted("two.err")
    assert (noted("two.code"), noted("two.out")) == ("0\n", "All is done.\n"), noted("two.err")
    ran = (work / "ran.txt").read_text("utf-8").split()
    assert len(ran) == len(set(ran)), "no effect twice"
    (first,), (second,) = (list((notes / name).rglob("transcript.jsonl")) for name in ("first", "second"))
    assert second.read_bytes().startswith(first.read_bytes()), "what was written stays as it is"
    env["AGENYX_HOME"] = str(notes / "second")
    shown = json.loads(agenyx("sessions", "show", second.parent.name, "--json", cwd=work, env=env).stdout)
    assert shown["outcome"] == "done" and len(shown["problems"]) <= 1, "at most the record that did not fit"
    assert shown["prompts"] == 1
