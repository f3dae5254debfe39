"""Hooks that are programs, as real processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.ext.hooks.command import CommandHook, missing, scripts
from agenyx.ext.hooks.environment import hook_env
from agenyx.ext.hooks.model import OUTPUT_BYTES, Entry, HookResult
from agenyx.proc.spawn import Processes
from agenyx.shell import program

PAYLOAD = b'{"hook_event_name":"PreToolUse","tool_name":"Bash"}\n'


def entry(command: str, *args: str, **more: Any) -> Entry:
    return Entry("PreToolUse", "command", command=command, args=args or None, **more)


def run(one: Entry, work: Path, env: dict[str, str] | None = None, check: Callable[[], str] = lambda: "") -> HookResult:
    child = hook_env({**os.environ, **(env or {})}, str(work), one.allowed, ("s3cret-s3cret-s3cret",))[0]

    async def scenario() -> HookResult:
        processes = Processes()
        try:
            return await CommandHook(one, processes, str(work), child, check=check).run(PAYLOAD)
        finally:
            await processes.close()

    return asyncio.run(scenario())


def script(work: Path, text: str, name: str = "hook.py") -> Path:
    path = work / name
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_payload_is_one_line_of_json_on_standard_input(tmp_path: Path) -> None:
    path = script(tmp_path, "import sys; sys.stdout.write(sys.stdin.read())")
    assert run(entry(str(path), "-"), tmp_path).output.encode() == PAYLOAD


@pytest.mark.parametrize("code", [0, 1, 2, 7])
def test_exit_codes_and_both_outputs(tmp_path: Path, code: int) -> None:
    path = script(tmp_path, f"import sys; print('out'); print('err', file=sys.stderr); sys.exit({code})")
    found = run(entry(str(path), "x"), tmp_path)
    assert (found.code, found.output, found.errors, found.failure) == (code, "out\n", "err\n", "")


def test_with_a_list_of_arguments_no_shell_sees_them(tmp_path: Path) -> None:
    path = script(tmp_path, "import sys; print(sys.argv[1:])")
    found = run(entry(str(path), "$(touch owned)", "a b", ";", "*"), tmp_path)
    assert found.output.strip() == str(["$(touch owned)", "a b", ";", "*"])
    assert not (tmp_path / "owned").exists()


def test_the_folder_of_the_project_is_filled_in_in_both_forms(tmp_path: Path) -> None:
    script(tmp_path, "import sys; print(sys.argv[1])")
    found = run(entry("${CLAUDE_PROJECT_DIR}/hook.py", "$AGENYX_PROJECT_DIR/x"), tmp_path)
    assert found.output.strip() == f"{tmp_path}/x"
    assert run(entry('"$CLAUDE_PROJECT_DIR"/hook.py "$AGENYX_PROJECT_DIR"'), tmp_path).output.strip() == str(tmp_path)


def test_a_line_runs_in_the_shell_of_the_bash_tool(tmp_path: Path) -> None:
    found = run(entry("cat | grep -c PreToolUse; echo $((1 + 1)); pwd"), tmp_path)
    assert found.output.split() == ["1", "2", str(tmp_path)]


def test_a_line_where_there_is_no_shell_fails_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_BASH", "/nonexistent/bash")
    monkeypatch.setattr(program, "_SH", "/nonexistent/sh")
    monkeypatch.setattr("agenyx.ext.hooks.environment.search_path", lambda path: [str(tmp_path)])
    assert "no shell was found" in run(entry("echo x"), tmp_path).failure
    path = script(tmp_path, "import sys; sys.exit(2)")
    assert run(entry(str(path), "-"), tmp_path).code == 2, "a list of arguments needs none"


def test_a_hook_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    text = (
        "import os, subprocess, time; p = subprocess.Popen(['sleep', '99']); print(p.pid, flush=True); time.sleep(99)"
    )
    started = time.monotonic()
    found = run(entry(str(script(tmp_path, text)), "-", timeout=0.5), tmp_path)
    assert "no answer within 0.5 seconds" in found.failure
    assert time.monotonic() - started < 20
    try:
        state = Path(f"/proc/{int(found.output)}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        state = "gone"
    assert state in ("Z", "X", "gone")


def test_a_flood_is_cut_off(tmp_path: Path) -> None:
    found = run(entry("yes"), tmp_path)
    assert "printed more than 256 KiB" in found.failure
    assert len(found.output) <= OUTPUT_BYTES


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (entry("./gone.sh", "x"), "gone.sh is not there"),
        (entry("python3", "gone.py"), "gone.py is not there"),
        (entry("python3 gone.py --strict"), "gone.py is not there"),
        (entry("$CLAUDE_PROJECT_DIR/gone.sh"), "gone.sh is not there"),
        (entry("no-such-program-here", "x"), "was not found"),
        (entry("./plain.txt", "x"), "may not be executed"),
    ],
)
def test_what_is_missing_is_a_failure_of_its_own_and_no_exit_code(tmp_path: Path, one: Entry, why: str) -> None:
    (tmp_path / "plain.txt").write_text("no program\n")
    found = run(one, tmp_path)
    assert why in found.failure
    assert found.code == 0, "python and sh end with 2 for a script that is not there, which would block everything"


def test_lines_that_are_more_than_one_command_are_left_to_the_shell(tmp_path: Path) -> None:
    assert not missing(entry("python3 gone.py || true"), str(tmp_path), {"PATH": os.environ["PATH"]})
    assert not scripts(entry("python3 -m module"), str(tmp_path))


def test_what_may_not_run_now_does_not(tmp_path: Path) -> None:
    path = script(tmp_path, "open('ran', 'w')")
    assert run(entry(str(path), "-"), tmp_path, check=lambda: "it has changed").failure == "it has changed"
    assert not (tmp_path / "ran").exists()


def test_the_environment_is_closed(tmp_path: Path) -> None:
    path = script(tmp_path, "import json, os; print(json.dumps(dict(os.environ)))")
    env = {
        "OPENAI_API_KEY": "k" * 20,
        "CI": "1",
        "MY_TOKEN": "t" * 20,
        "ODD": "x s3cret-s3cret-s3cret",
        "LD_PRELOAD": "/x.so",
        "HTTPS_PROXY": "http://p",
        "LC_TIME": "C",
    }
    one = entry(str(path), "-", allowed=("CI", "MY_TOKEN", "OPENAI_API_KEY", "ODD"))
    seen = json.loads(run(one, tmp_path, env).output)
    assert seen["CI"] == "1"
    assert seen["AGENYX_PROJECT_DIR"] == seen["CLAUDE_PROJECT_DIR"] == str(tmp_path)
    assert not {"OPENAI_API_KEY", "MY_TOKEN", "ODD", "LD_PRELOAD", "HTTPS_PROXY"} & seen.keys()
    known = {"HOME", "TMPDIR", "TMP", "TEMP", "TEMPDIR", "LANG", "LANGUAGE", "NO_COLOR", "PATH", "TERM", "CI"}
    others = {name for name in seen if name not in known and not name.startswith(("LC_", "AGENYX_", "CLAUDE_"))}
    assert not others, others


def test_credentials_that_an_entry_asks_for_are_named(tmp_path: Path) -> None:
    assert hook_env({"MY_TOKEN": "t" * 20, "CI": "1"}, "/w", ("MY_TOKEN", "CI", "NONE"), ())[1] == ("MY_TOKEN",)
