"""Transcripts of other programs: what readers see of one, and lines to make one of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenyx.app.interchange.outgoing import Exported, exported
from agenyx.app.interchange.taking import Taken, take
from agenyx.core.redact import Masker
from agenyx.session.load import load
from agenyx.session.state import State

SESSION = "11111111-2222-4333-8444-555555555555"


def out(directory: str | Path) -> Exported:
    return exported(str(directory), Masker())


def into(path: Path, top: Path, workspace: str, **env: str) -> Taken:
    """Import a file into a home below `top`."""
    home = top / ".agenyx"
    return take(str(path), str(home), workspace, {"HOME": str(top), "AGENYX_HOME": str(home), **env})


def state(made: Taken) -> State:
    found = load(made.directory)
    assert not found.problems, found.problems
    return found


def seen(rows: Sequence[bytes]) -> list[dict[str, Any]]:
    """The lines as readers take them: identities that anything may have are numbered in the order they come."""
    numbers: dict[str, int] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: number(item) if name in _IDENTITIES else plain(item) for name, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list) else value

    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(item) for item in value]
        return value if value is None else numbers.setdefault(value, len(numbers))

    return [plain(json.loads(row)) for row in rows]


_IDENTITIES = ("uuid", "parentUuid", "logicalParentUuid", "leafUuid", "sessionId", "requestId", "upto", "kept")


class Lines:
    """Lines as Claude Code writes them, each behind the one before it unless `above` says otherwise."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._last: str | None = None

    def add(self, kind: str, content: Any, *, above: Any = ..., uuid: str = "", **more: Any) -> str:
        uuid = uuid or f"u{len(self.rows)}"
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": more.pop("id", f"msg_{uuid}"), "type": "message", "model": "claude-x"}
            message |= {"stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 2}}
        self.rows.append(
            {
                "parentUuid": self._last if above is ... else above,
                "isSidechain": False,
                "type": kind,
                "message": message,
                "uuid": uuid,
                "sessionId": SESSION,
                "cwd": "/somewhere/else",
                "version": "2.1.0",
                "timestamp": f"2026-11-03T10:00:{len(self.rows) % 60:02d}.500Z",
                **more,
            }
        )
        self._last = uuid
        return uuid

    def call(self, name: str, call: str, given: Any, **more: Any) -> str:
        return self.add("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}], **more)

    def result(self, call: str, content: Any, *, failed: bool = False, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}
        return self.add("user", [block], **more)

    def write(self, path: Path) -> Path:
        rows = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in self.rows]
        path.write_bytes(b"\n".join(rows) + b"\n")
        return path
