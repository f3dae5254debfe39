"""The whole command line over a fake app: streams, encodings, settings, faults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.json import decode


def test_flags_reach_the_app(fake: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    model = ["--model", "m", "--provider", "openai", "--base-url=http://localhost:1/v1", "--effort=max"]
    rest = ["--permission-mode", "plan", "--max-steps", "3", "--cwd", "sub", "--no-session-persistence"]
    rest += ["--max-budget-usd=0.5", "--max-tokens=900", "--tool-set", "core", "--output-style", "Learning"]
    rest += ["--allowed-tools", "Bash(ls)", "--allowedTools=Edit", "--disallowed-tools", "Read(.env)"]
    given = '{"permissions": {"ask": ["Write"], "additionalDirectories": ["more"]}, "env": {"A": "b"}}'
    rest += ["--add-dir", "lib", "--fallback-model", "n,o", "--settings", given]
    code, out, err = fake.run("settings", "-p", *model, *rest, "hi")
    assert (code, err) == (0, "")
    assert decode(out) == {
        "cwd": str(tmp_path / "sub"),
        "model": "m",
        "provider": "openai",
        "base_url": "http://localhost:1/v1",
        "effort": "max",
        "record": "",
        "replay": "",
        "replay_loose": False,
        "mode": "plan",
        "mode_given": True,
        "unsafe": False,
        "max_steps": 3,
        "max_usd": 0.5,
        "max_tokens": 900,
        "resume": "",
        "continue_": False,
        "persist": False,
        "trust": False,
        "bare": False,
        "defer": False,
        "yielding": [],
        "allowed": "Bash(ls),Edit",
        "disallowed": "Read(.env)",
        "tool_set": "core",
        "agents": "",
        "output_style": "Learning",
        "style_given": True,
        "fork": False,
        "placed": True,
        "rebind": False,
        "mcp_config": "",
        "mcp_strict": False,
        "session_id": "",
        "system_prompt": None,
        "append_system": "",
        "tools": None,
        "sources": None,
        "retool": False,
        "resume_at": "",
        "drops_turn": "",
        "fallback": ["n", "o"],
        "add_dirs": ["lib", "more"],
        "rules": [["ask", "Write", "--settings, permissions.ask"]],
        "hooks": "",
        "variables": [["A", "b"]],
    }


@pytest.mark.parametrize(
    ("argv", "field", "value"),
    [
        (["--dangerously-skip-permissions"], "mode", "bypassPermissions"),
        (["--dangerously-skip-permissions"], "unsafe", True),
        (["--resume", "abc"], "resume", "abc"),
        (["--continue"], "continue_", True),
        (["--approvals", "defer"], "defer", True),
        (["--approvals", "ask"], "defer", False),
        ([], "mode", "default"),
        ([], "max_steps", 0),
        ([], "persist", True),
    ],
)
def test_one_flag_reaches_the_app(fake: Any, argv: list[str], field: str, value: object) -> None:
    assert decode(fake.run("settings", "-p", *argv, "hi")[1])[field] == value


def test_a_prompt_needs_no_flag(fake: Any) -> None:
    assert fake.run("echo", "do", "it")[:2] == (0, "<do it>\n")


def test_a_mistake_is_told_on_stderr_with_code_2(fake: Any) -> None:
    code, out, err = fake.run("echo", "--modle", "x")
    assert (code, out) == (2, "")
    assert err.startswith("agenyx: unknown flag --modle\nDid you mean --model?")


@pytest.mark.parametrize("argv", [["--cwd", "nowhere"], ["--cwd", "file"]])
def test_cwd_has_to_be_a_directory(fake: Any, tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "file").touch()
    code, _, err = fake.run("echo", "-p", *argv, "hi")
    assert code == 2
    assert "is not a directory" in err


def test_a_current_directory_that_is_gone(fake: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    fake.cwd = gone
    code, _, err = fake.run("echo", "-p", "hi", preexec_fn=lambda: os.rmdir(gone))
    assert code == 2
    assert "current directory no longer exists" in err


@pytest.mark.parametrize(
    ("scene", "argv", "code", "errors"),
    [
        ("unconfigured", [], 1, ["no key is set", "Set OPENAI_API_KEY."]),
        ("echo", ["--nonsense"], 2, ["unknown flag --nonsense"]),
        ("echo", ["--cwd", "nowhere"], 2, ["--cwd nowhere is not a directory"]),
        ("broken", [], 1, ["unexpected error: RuntimeError: the fake app is broken"]),
        ("fault", [], 1, ["unexpected error: RuntimeError: the fake app is broken"]),
    ],
)
def test_a_start_that_fails_gives_one_record(
    fake: Any, scene: str, argv: list[str], code: int, errors: list[str]
) -> None:
    got, out, err = fake.run(scene, "-p", "--output-format", "json", *argv, "hi")
    assert got == code
    record = decode(out)
    assert record["type"] == "result"
    assert record["is_error"] is True
    assert record["errors"][: len(errors)] == errors
    assert err.startswith(f"agenyx: {errors[0]}\n")
    assert "Traceback" not in err


def test_a_fault_is_one_sentence_and_its_traceback_is_for_debug(fake: Any) -> None:
    code, out, err = fake.run("fault", "-p", "hi")
    assert (code, out) == (1, "")
    assert err.startswith("agenyx: unexpected error: RuntimeError: the fake app is broken\n")
    assert "--debug" in err
    assert "Traceback" not in err
    assert "Traceback" in fake.run("fault", "-p", "hi", "--debug")[2]
    assert fake.notes == ["closed", "closed"]


def test_json_is_utf_8_whatever_the_locale(fake: Any) -> None:
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    out = fake.run("wide", "-p", "hi", "--output-format", "json", env=env)[1]
    record = decode(out)
    assert record["result"] == "naïve → \u2028 日本"
    assert record["session_id"] == "fake-session"


@pytest.mark.parametrize(
    ("env", "shown"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "na?ve ? ? ??\n"),
        ({"PYTHONIOENCODING": "ascii:strict"}, "na?ve ? ? ??\n"),
        ({"LC_ALL": "C"}, "naïve → \u2028 日本\n"),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "na?ve ? ? ??\n"),
    ],
)
def test_no_locale_crashes_it(fake: Any, env: dict[str, str], shown: str) -> None:
    assert fake.run("wide", "-p", "hi", env=env) == (0, shown, "")


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["--naïve"]])
def test_no_locale_crashes_the_light_commands(fake: Any, env: dict[str, str], argv: list[str]) -> None:
    code, out, err = fake.run("echo", *argv, env=env)
    assert code in (0, 2)
    assert out or err
    assert "Traceback" not in err


def test_a_prompt_of_bytes_that_are_no_text(fake: Any) -> None:
    code, out, _ = fake.run("echo", "-p", b"caf\xe9")
    assert (code, out) == (0, "<caf\ufffd>\n")


@pytest.mark.parametrize("argv", [["-p", "hi"], ["-p", "hi", "--output-format", "json"]])
def test_a_reader_that_goes_away_is_no_fault(fake: Any, argv: list[str]) -> None:
    with fake.start("long", *argv) as process:
        head = subprocess.run(["head", "-c1"], stdin=process.stdout, capture_output=True, timeout=60, check=True)
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=60) == 141
    assert head.stdout in (b"x", b"{")
    assert err == b""


@pytest.mark.parametrize("argv", [["--help"], ["--version"]])
def test_light_commands_survive_a_closed_reader(fake: Any, argv: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    code, _, err = fake.run("echo", *argv, stdout=write)
    os.close(write)
    assert (code, err) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_answer_that_cannot_be_written_is_a_failure(fake: Any) -> None:
    with open("/dev/full", "wb") as full:
        code, _, err = fake.run("echo", "-p", "hi", stdout=full)
    assert code == 1
    assert err == "agenyx: the answer could not be written: No space left on device\n"


def test_closed_standard_streams(fake: Any) -> None:
    def close() -> None:
        for fd in (0, 1, 2):
            os.close(fd)

    assert fake.run("echo", "-p", "hi", preexec_fn=close) == (0, "", "")
    assert fake.run("echo", "--help", preexec_fn=close)[0] == 0
    assert fake.run("echo", "--nonsense", preexec_fn=close)[0] == 2


def test_debug_is_json_lines_only(fake: Any) -> None:
    code, out, err = fake.run("echo", "-p", "secret words", "--debug")
    assert (code, out) == (0, "<secret words>\n")
    rows = [decode(row) for row in err.splitlines()]
    assert [row["msg"] for row in rows] == [
        "session construction started",
        "session construction completed",
        "turn admission started",
        "turn started",
        "model iteration started",
        "turn completed",
        "session shutdown started",
        "session shutdown completed",
    ]
    assert "secret" not in err


def test_a_terminal_sees_the_stream_once_and_neutral(tty: Any) -> None:
    screen = tty("stream", "-p", "hi")
    assert screen.end() == 0
    assert screen.screen.count(b"Hello\\x1b[2J") == 1
    assert b"\x1b" not in screen.screen


def test_local_is_dispatched(fake: Any, tmp_path: Path) -> None:
    program = (
        "import sys, types; fake = types.ModuleType('agenyx.ui.local');"
        "fake.main = lambda argv, env: (print(argv), 7)[1];"
        "sys.modules['agenyx.ui.local'] = fake; sys.argv[1:] = ['local', 'install', '--x'];"
        "from agenyx.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (7, "['install', '--x']\n")
