"""`agenyx hooks` and `/hooks`: what hangs where, what is wrong, and what would come of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.ext.hooks.config import EVENTS
from support.mock import agenyx, command_env, mock_server


class Place:
    def __init__(self, top: Path) -> None:
        self.home, self.work = top / "home", top / "work"
        (self.home / ".agenyx").mkdir(parents=True)
        self.work.mkdir()
        self.env = command_env(self.home)

    def hooks(self, **events: Any) -> None:
        (self.home / ".agenyx" / "hooks.json").write_text(json.dumps({"hooks": events}))

    def script(self, text: str) -> str:
        path = self.home / "hook.py"
        path.write_text(f"#!{sys.executable}\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def run(self, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        return agenyx(*argv, cwd=self.work, env={**self.env, **env})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def group(command: str, **more: Any) -> list[Any]:
    return [{"matcher": "Bash", "hooks": [{"type": "command", "command": command, **more}]}]


def test_without_hooks_the_list_says_where_to_begin(place: Place) -> None:
    assert place.run("hooks", "list").stdout == "There are no hooks. See: agenyx hooks --help\n"


def test_the_list_says_what_each_does_where_it_stands_and_what_is_wrong(place: Place) -> None:
    place.hooks(
        PreToolUse=[
            *group("./gone.sh", timeout=5, once=True, **{"if": "Bash(git:*)"}),
            {"hooks": [{"type": "prompt"}]},
        ],
        Stop=[{"hooks": [{"type": "http", "url": "https://10.0.0.1/x"}]}],
    )
    settings = place.work / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"PostToolUse": group("true")}}))
    text = place.run("hooks", "list", "--trust-workspace").stdout
    assert "  ./gone.sh\n      matcher Bash, if Bash(git:*), once, 5 s, on error block; " in text
    assert "WRONG: the script" in text
    assert "POST https://10.0.0.1/x" in text
    assert "10.0.0.1 is on a private network" in text
    assert "60 s, on error warn, imported; " in text
    assert "'prompt' are not supported" in text
    rows = json.loads(place.run("hooks", "list", "--trust-workspace", "--json").stdout)
    assert [(row["event"], row["imported"]) for row in rows["hooks"]] == [
        ("PreToolUse", False),
        ("Stop", False),
        ("PostToolUse", True),
    ]
    untrusted = place.run("hooks", "list").stdout
    assert "imported" not in untrusted
    assert "not trusted" in untrusted


def test_a_hook_is_tried_on_a_sample(place: Place) -> None:
    guard = "import json, sys\nif 'rm' in json.load(sys.stdin)['tool_input']['command']:\n"
    guard += "    print('no rm', file=sys.stderr); sys.exit(2)"
    place.hooks(PreToolUse=group(place.script(guard), args=[]))
    done = place.run("hooks", "test", "pretooluse", "--tool", "Bash", "--input", '{"command": "rm x"}')
    assert done.returncode == 0
    assert "PreToolUse: 1 hook ran" in done.stdout
    assert "exit code 2" in done.stdout
    assert "errors: no rm" in done.stdout
    assert "means: it would be blocked: no rm" in done.stdout
    calm = json.loads(place.run("hooks", "test", "PreToolUse", "--json").stdout)
    assert (calm["runs"][0]["exit_code"], calm["meaning"]) == (0, "nothing would be held back")
    other = place.run("hooks", "test", "PreToolUse", "--tool", "Write", "--input", '{"file_path": "a", "content": ""}')
    assert "no hook is for this" in other.stdout


def test_conditions_are_looked_at_as_in_a_run(place: Place) -> None:
    place.hooks(PreToolUse=group("exit 2", **{"if": "Bash(git push:*)"}))
    assert "1 hook ran" in place.run("hooks", "test", "PreToolUse", "--input", '{"command": "git push -f"}').stdout
    assert "no hook" in place.run("hooks", "test", "PreToolUse", "--input", '{"command": "git status"}').stdout


@pytest.mark.parametrize(
    "event",
    [event for event in EVENTS if event != "PreToolUse"],
)
def test_every_event_has_a_sample(place: Place, event: str) -> None:
    place.hooks(**{event: [{"hooks": [{"command": "cat >&2; exit 2"}]}]})
    ran = json.loads(place.run("hooks", "test", event, "--json").stdout)
    (run,) = ran["runs"]
    told = json.loads(run["stderr"])
    assert told["hook_event_name"] == event
    assert told["session_id"]
    assert run["meaning"]


def test_a_hook_that_fails_is_an_exit_code(place: Place) -> None:
    place.hooks(Stop=[{"hooks": [{"command": "exit 7"}]}])
    done = place.run("hooks", "test", "Stop")
    assert done.returncode == 1
    assert "exit code 7" in done.stdout
    assert "Nothing was held back" in done.stdout


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ((), "needs a command"),
        (("frob",), "does not understand"),
        (("test",), "needs an event"),
        (("test", "Nothing"), "The events are: PreToolUse, "),
        (("test", "Stop", "--tool", "Bash"), "is about no tool"),
        (("test", "PreToolUse", "--input", "{"), "--input is not JSON"),
        (("test", "PreToolUse", "--tool", "Bash", "--input", "{}"), "does not take these arguments"),
        (("list", "--frob"), "no flag"),
    ],
)
def test_mistakes_are_told_with_what_to_do(place: Place, argv: tuple[str, ...], told: str) -> None:
    done = place.run("hooks", *argv)
    assert done.returncode == 2
    assert told in done.stderr


def test_help_teaches(place: Place) -> None:
    text = place.run("hooks", "--help").stdout
    assert "agenyx hooks test PreToolUse --tool Bash" in text
    assert "agenyx hooks" in place.run("--help").stdout
    assert " hooks " in place.run("completion", "bash").stdout


def test_hostile_files_do_not_control_the_terminal(place: Place) -> None:
    place.hooks(**{"Stop": [{"hooks": [{"command": "echo \x1b[2J\u202e"}]}], "\x1b[2J": []})
    text = place.run("hooks", "list").stdout
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_slash_command_says_the_same_before_the_model(place: Place) -> None:
    place.hooks(Stop=[{"hooks": [{"command": "true"}]}])
    with mock_server() as mock:
        mock.reset("hello")
        env = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{mock.url}/v1", "AGENYX_MODEL": "m"}
        done = place.run("-p", "/hooks", **env)
        assert done.stdout.startswith("Stop\n  true\n"), done.stderr
        assert not mock.log()
