"""Stored sessions without a model: real records in real files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agenyx.core.events import Outcome, Usage
from agenyx.core.ids import RandomIds
from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult, User
from agenyx.llm.request import Options
from agenyx.session.load import load, sessions_of
from agenyx.session.records import Accepted, Binding, Body, Finished, Opened, Prefix, Prompt, Response, Result
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore

NOON = 1_800_000_000.0


def turn(prompt: str, answer: str = "done", args: str = "") -> list[Body]:
    """The records of one turn, with one call where `args` are given."""
    bodies: list[Body] = [Prompt(User((Text(prompt),), "typed", f"prompt_{os.urandom(4).hex()}"))]
    if args:
        call = ToolCall(f"call_{os.urandom(4).hex()}", "w", "Read", args)
        bodies += [Response(Assistant((call,), "calls"), Usage(10, 0, 0, 5)), Accepted(call.id)]
        bodies.append(Result(ToolResult(call.id, "ok", (Text("what the tool said"),))))
    return [*bodies, Response(Assistant((Text(answer),), "end"), Usage(20, 0, 0, 7)), Finished(Outcome("done"))]


def store_session(
    home: Path, workspace: Path, name: str, turns: Sequence[list[Body]] = (), *, at: float = NOON, extra: int = 0
) -> Path:
    """Its folder. `at` is when it was written last; `extra` bytes of instructions stand before the first prompt."""
    directory = Path(sessions_of(str(home), str(workspace)), name)
    home.mkdir(0o700, exist_ok=True)
    store = FileStore(str(directory))
    state = load(str(directory)) if (directory / TRANSCRIPT).stat().st_size else State()
    session = Session(name, store, state, str(directory), RandomIds(), lambda: at)
    if state.opened is None:
        session.append(Opened(name, os.path.realpath(workspace), "1"), Binding("p", "f", "m"), turn="")
        session.append(Prefix("h", Options(), ("s" * (extra or 10),), ()), turn="")
    for number, bodies in enumerate(turns, 1):
        session.append(*bodies, turn=f"turn{number}", sync=False)
    session.close()
    os.utime(directory / TRANSCRIPT, (at, at))
    return directory
