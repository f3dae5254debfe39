"""A home and a workspace with hooks, the command line, and a model that calls Bash once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.mock import Mock, agenyx, command_env


class Place:
    """A home, a workspace, and a model that calls Bash once with `command`, or only answers."""

    def __init__(self, top: Path, mock: Mock) -> None:
        self.mock, self.home, self.work = mock, top / "home", top / "work"
        (self.home / ".agenyx").mkdir(parents=True)
        self.work.mkdir()
        self.env = command_env(self.home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")
        self.calls("touch made.txt")

    def calls(self, command: str) -> None:
        self.mock.reset("hello", keep_bodies=True, prefer="shell", final_command=command)

    def hooks(self, **events: Any) -> None:
        (self.home / ".agenyx" / "hooks.json").write_text(json.dumps({"hooks": events}))

    def theirs(self, where: str, **events: Any) -> None:
        path = self.work / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": events}))

    def script(self, text: str, name: str = "hook.py", where: Path | None = None) -> Path:
        path = (where or self.home) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{text}\n")
        path.chmod(0o755)
        return path

    def run(self, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        return agenyx(*argv, cwd=self.work, env={**self.env, **env})

    def said(self) -> list[str]:
        """The texts of the last request that are not the model's."""
        messages = json.loads(self.mock.bodies()[-1])["messages"]
        return [str(message["content"]) for message in messages if message["role"] in ("user", "tool")]

    def made(self) -> bool:
        return (self.work / "made.txt").exists()

    def records(self) -> list[dict[str, Any]]:
        (path,) = (self.home / ".agenyx" / "sessions").glob("*/*/transcript.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]


def group(command: str, *args: str, matcher: str = "Bash", **more: Any) -> list[Any]:
    hook = {"type": "command", "command": command, **({"args": list(args)} if args else {}), **more}
    return [{"matcher": matcher, "hooks": [hook]}]
