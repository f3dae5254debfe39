"""Every file of `examples/` as a person runs it, against a model server that plays a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mock import command_env
from support.raw_server import RawServer
from support.wire_host import calls, says

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

SCRIPTS: dict[str, list[Any]] = {
    "hello.py": [says("It holds a README.")],
    "own_tool.py": [calls("in_stock", item="screw", unit="boxes"), says("There are 20 boxes.")],
    "approvals.py": [calls("transfer", amount=100, to="Ada"), says("Ada got it.")],
    "deferred.py": [calls("publish", path="news.txt", text="Hello"), says("It is published.")],
    "hooks.py": [
        calls("Bash", command="git push"),
        calls("Bash", command="git status"),
        says("Pushing is for people."),
    ],
    "watch.py": [calls("LS", path="."), says("README.md is the largest.")],
    "conversation.py": [
        says("By writing it."),
        calls("Write", file_path="notes.txt", content="one line\n"),
        says("It is written."),
        says("One line."),
    ],
    "structured.py": [says('[{"file": "README.md", "problem": "short", "severity": "low"}]')],
    "mcp_server.py": [calls("mcp__loud__shout", text="hello"), says("It says HELLO.")],
    "provider.py": [],
    "several.py": [says("None."), says("None."), says("None.")],
}


def example(folder: Path, server: RawServer, name: str, *argv: str, typed: str = "") -> str:
    """What the program prints; its workspace is `folder`/work."""
    home, work = folder / "home", folder / "work"
    for one in (home, work):
        one.mkdir(exist_ok=True)
    (work / "README.md").write_text("# Demo\n\nA directory for a test.\n", "utf-8")
    if not (work / ".git").exists():
        subprocess.run(["git", "init", "-q", str(work)], check=True)
    model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
    program = [sys.executable, str(EXAMPLES / name), *argv]
    env = command_env(home, **model)
    done = subprocess.run(
        program, cwd=work, env=env, input=typed, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def results(server: RawServer) -> list[str]:
    """The results of calls that the last request carried."""
    return [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "tool"]


def test_every_example_has_a_script() -> None:
    assert sorted(SCRIPTS) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("hello.py", ["It holds a README.", "[1 steps, 10 tokens in, 2 out, session "]),
        ("own_tool.py", ["There are 20 boxes."]),
        ("hooks.py", ["Pushing is for people.", "Bash ran for "]),
        ("watch.py", ['* LS {"path": "."}', "  LS ok after", "= done after 2 steps: README.md is the largest."]),
        ("conversation.py", ["By writing it.", "It is written.", "30 tokens were sent in session ", "One line."]),
        ("structured.py", ["low: README.md: short"]),
        ("mcp_server.py", ["It says HELLO."]),
        ("provider.py", ["It begins with: "]),
        ("several.py", ["tests: None.", "names: None.", "docs: None."]),
    ],
)
def test_an_example_runs_and_shows_what_it_promises(tmp_path: Path, name: str, lines: list[str]) -> None:
    with RawServer(SCRIPTS[name]) as server:
        shown = example(tmp_path, server, name)
        for line in lines:
            assert line in shown
        match name:
            case "own_tool.py":
                assert results(server) == ["20"]
            case "hooks.py":
                refused, status = results(server)
                assert "Denied by a hook: Pushing is for people." in refused and "README.md" in status
                assert shown.count("Bash ran for") == 1
            case "conversation.py":
                assert (tmp_path / "work" / "notes.txt").read_text("utf-8") == "one line\n"
            case "mcp_server.py":
                assert results(server) == ["HELLO"]
            case "provider.py":
                assert "# Demo" in shown and server.requests == []
            case _:
                pass


@pytest.mark.parametrize(
    ("typed", "result"),
    [
        ("y\n", "transferred 100 euros to Ada"),
        ("h\n", "transferred 50 euros to Ada"),
        ("she has enough\n", "Denied: she has enough"),
    ],
)
def test_the_example_of_approvals_asks(tmp_path: Path, typed: str, result: str) -> None:
    with RawServer(SCRIPTS["approvals.py"]) as server:
        shown = example(tmp_path, server, "approvals.py", typed=typed)
        assert "transfer needs an approval for every call" in shown and shown.endswith("Ada got it.\n")
        assert results(server)[0].endswith(result)


def test_the_example_of_deferred_calls_goes_on_in_another_process(tmp_path: Path) -> None:
    with RawServer(SCRIPTS["deferred.py"]) as server:
        first = example(tmp_path, server, "deferred.py")
        assert "waits: publish changes news.txt" in first
        assert not (tmp_path / "work" / "news.txt").exists() and len(server.requests) == 1
        session = first.splitlines()[-1].removeprefix("session ")
        assert example(tmp_path, server, "deferred.py", session) == "It is published.\n"
        assert (tmp_path / "work" / "news.txt").read_text("utf-8") == "Hello"
        assert len(server.requests) == 2


def test_no_example_depends_on_this_repository() -> None:
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text("utf-8")
        assert "support" not in text and "agenyx." not in text.replace("agenyx.events", "").replace(
            "agenyx.providers", ""
        ), path.name
