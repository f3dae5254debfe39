"""The real program over a fake app: everything below `agenyx.ui` is replaced, FAKE_SCENE says by what.

Started as a process by the tests: the command line, streams, signals and approver are the real ones.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
import types
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from agenyx.app.settings import Settings
from agenyx.core import json
from agenyx.core.approval import Approval
from agenyx.core.errors import ConfigError
from agenyx.core.events import AgentEvent, Body, Outcome, StepStarted, TextDelta, TurnFinished, TurnStarted
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Command, Effects
from agenyx.core.verdict import Reason, Rule, Verdict

SCENE = os.environ.get("FAKE_SCENE", "echo")
COMMAND = os.environ.get("FAKE_COMMAND", "make test")
OFFER = os.environ.get("FAKE_OFFER", "")  # patterns of the rules that may be set, separated by semicolons
ID = os.environ.get("FAKE_APPROVAL", "apr_1")


def note(text: str) -> None:
    """Tell the test something, past the program's own output."""
    fd = os.open(os.environ["FAKE_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{text}\n".encode())
    os.close(fd)


class Conversation:
    session_id, model, persistent = "fake-session", "fake-model", True
    mcp = None

    def __init__(self, settings: Settings, emit: Callable[[AgentEvent], None], approver: Any) -> None:
        self._settings, self._emit, self._approver, self._seq = settings, emit, approver, 0
        self.hooks = SimpleNamespace(heard=None)
        self.parts = SimpleNamespace(source=SimpleNamespace(processes=SimpleNamespace(heard=None)))

    def emit(self, body: Body) -> None:
        self._seq += 1
        self._emit(AgentEvent(self._seq, self.session_id, "t1", 1, body))

    async def prompt(self, text: str) -> TurnFinished:
        self.emit(TurnStarted(text, self.model, self._settings.mode))
        self.emit(StepStarted())
        try:
            finished = TurnFinished(Outcome("done"), await self.answer(text), 1, 0.1)
        except asyncio.CancelledError:
            finished = TurnFinished(Outcome("cancelled", "Stopped by the user."), "", 1, 0.1)
        self.emit(finished)
        return finished

    async def answer(self, text: str) -> str:
        match SCENE:
            case "echo":
                return f"<{text}>"
            case "settings":
                return json.encode(self._settings).decode()
            case "stream":
                self.emit(TextDelta(0, "Hel"))
                self.emit(TextDelta(0, "lo\x1b[2J"))
                return "Hello\x1b[2J"
            case "wide":
                return "naïve → \u2028 日本"
            case "long":
                return "x" * 4_000_000
            case "fault":
                raise RuntimeError("the fake app is broken")
            case "ask":
                return await self.ask()
            case "wait":
                note("running")
                await asyncio.Event().wait()
            case "stubborn":
                note("running")
                while True:
                    try:
                        await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        note("cancelled")
            case "deaf":
                note("running")
                while True:
                    time.sleep(60)  # noqa: ASYNC251 - a loop that hangs is the point of it
            case _:
                raise AssertionError(SCENE)
        return ""

    async def ask(self) -> str:
        call = ToolCall("call_1", "w1", "Bash", json.encode({"command": COMMAND}).decode())
        effects = Effects(commands=(Command(tuple(COMMAND.split())),), preview=COMMAND, script=COMMAND)
        offer = tuple(Rule("allow", "Bash", pattern, "session") for pattern in OFFER.split(";") if pattern)
        verdict = Verdict("ask", (Reason("default", "Bash acts outside the conversation"),), offer=offer)
        note("asking")
        decision = await self._approver.decide(Approval(ID, call, verdict, effects))
        told = f"{decision.choice} stop={decision.stop} by={decision.by} message={decision.message!r}"
        return f"{told} scope={decision.scope} args={decision.args}"

    async def close(self) -> None:
        if "FAKE_NOTES" in os.environ:
            note("closed")


async def open_conversation(
    settings: Settings,
    env: Mapping[str, str],
    emit: Callable[[AgentEvent], None],
    approver: object,
    barrier: Callable[[], Awaitable[None]],
) -> Conversation:
    if SCENE == "unconfigured":
        raise ConfigError("no key is set", "Set OPENAI_API_KEY.")
    if SCENE == "broken":
        raise RuntimeError("the fake app is broken")
    return Conversation(settings, emit, approver)


if __name__ == "__main__":
    fake = types.ModuleType("agenyx.app.start")
    fake.open_conversation = open_conversation  # type: ignore[attr-defined]
    sys.modules["agenyx.app.start"] = fake
    from agenyx.__main__ import main

    main()
