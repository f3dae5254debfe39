"""Hooks that a host gives as functions: on a real conversation with real tools, a subagent, a summary."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.runtime import Conversation
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Notice
from agenyx.core.hooks import Event
from agenyx.core.messages import Step, User
from agenyx.ext.hooks.callback import Callback
from support.children import Routed
from support.conversation import open_scripted
from support.scripted import Scripted, call, calls, say

Answer = dict[str, Any] | None


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("apple\n")
    return tmp_path / "work"


class Heard:
    """Functions that remember what they were told, one an event."""

    def __init__(self, **answers: Callable[[dict[str, Any]], Answer] | Answer) -> None:
        self.told: list[dict[str, Any]] = []
        self._answers = answers

    def callbacks(self) -> list[Callback]:
        return [Callback(event, self._one) for event in self._answers]  # type: ignore[arg-type]

    def _one(self, payload: dict[str, Any]) -> Answer:
        self.told.append(payload)
        answer = self._answers[payload["hook_event_name"]]
        return answer(payload) if callable(answer) else answer

    def events(self) -> list[str]:
        return [payload["hook_event_name"] for payload in self.told]

    def of(self, event: Event) -> list[dict[str, Any]]:
        return [payload for payload in self.told if payload["hook_event_name"] == event]


def talk(
    model: Any,
    home: Path,
    work: Path,
    heard: Heard,
    do: Callable[[Conversation], Coroutine[Any, Any, Any]],
    **more: Any,
) -> tuple[Any, Any, list[AgentEvent]]:
    events: list[AgentEvent] = []

    async def scenario() -> tuple[Any, Any]:
        conversation, session = open_scripted(model, home, work, events=events, callbacks=heard.callbacks(), **more)
        try:
            return await do(conversation), session
        finally:
            await conversation.close()

    found, session = asyncio.run(scenario())
    return found, session, events


def test_a_function_denies_a_call_of_a_real_tool(home: Path, work: Path) -> None:
    heard = Heard(PreToolUse={"decision": "block", "reason": "read only"}, PermissionDenied=None)
    model = Scripted([calls(call("Write", file_path="b.txt", content="x")), say("done")])
    _, session, _ = talk(model, home, work, heard, lambda c: c.prompt("go"))
    assert not (work / "b.txt").exists()
    (step,) = [entry for entry in session.state.entries if isinstance(entry, Step) and entry.results]
    assert step.results[0].text == "Denied by a hook: read only"
    assert heard.of("PermissionDenied")[0]["tool_input"] == {"file_path": "b.txt", "content": "x"}


def test_a_subagent_meets_the_same_hooks_under_its_name(home: Path, work: Path) -> None:
    def guard(payload: dict[str, Any]) -> Answer:
        return {"decision": "block", "reason": "not for children"} if payload.get("agent_id") else None

    def stop(payload: dict[str, Any]) -> Answer:
        return None if payload["stop_hook_active"] else {"decision": "block", "reason": "say it again"}

    context = {"hookSpecificOutput": {"additionalContext": "be quick"}}
    heard = Heard(PreToolUse=guard, SubagentStart=context, SubagentStop=stop, Stop=None)
    model = Routed(
        {
            "main": [calls(call("Task", description="find the fruit")), say("It is an apple.")],
            "find": [calls(call("Read", file_path="a.txt")), say("I may not read."), say("I really may not.")],
        }
    )
    finished, _, _ = talk(model, home, work, heard, lambda c: c.prompt("main"), mode="default")
    assert finished.text == "It is an apple."
    (started,), stops = heard.of("SubagentStart"), heard.of("SubagentStop")
    assert started["agent_type"] == "general"
    assert [one["stop_hook_active"] for one in stops] == [False, True]
    assert {one["agent_id"] for one in stops} == {started["agent_id"]}
    assert Path(stops[0]["agent_transcript_path"]).is_file()
    first = [entry.text for entry in model.of("find")[0].entries if isinstance(entry, User)]
    assert first[-1] == '<hook_context event="SubagentStart">\nbe quick\n</hook_context>'
    last = model.of("find")[-1].entries
    assert "not for children" in "".join(r.text for e in last if isinstance(e, Step) for r in e.results)
    assert heard.events().count("Stop") == 1, "the end of the child is not the end of the turn"


def test_a_summary_may_be_held_back_and_is_followed_by_a_fresh_start(home: Path, work: Path) -> None:
    def holds(payload: dict[str, Any]) -> Answer:
        return {"decision": "block", "reason": "not yet"} if payload["custom_instructions"] == "no" else None

    def begins(payload: dict[str, Any]) -> Answer:
        return {"hookSpecificOutput": {"additionalContext": f"begun by {payload['source']}"}}

    heard = Heard(PreCompact=holds, PostCompact=None, SessionStart=begins)
    model = Scripted([say("one"), say("two"), say("a summary of it"), say("three")])

    async def do(conversation: Conversation) -> None:
        await conversation.prompt("first")
        await conversation.prompt("second")
        with pytest.raises(UsageError, match="not yet"):
            await conversation.compact("no")
        assert await conversation.compact("the plan") is not None
        await conversation.prompt("third")

    talk(model, home, work, heard, do)
    assert heard.events() == ["SessionStart", "PreCompact", "PreCompact", "PostCompact", "SessionStart"]
    assert heard.of("PreCompact")[1]["trigger"] == "manual"
    assert heard.of("PostCompact")[0]["compact_summary"]
    texts = [entry.text for entry in model.requests[-1].entries if isinstance(entry, User)]
    assert texts[-2:] == ['<hook_context event="SessionStart">\nbegun by compact\n</hook_context>', "third"]


def test_a_prompt_that_is_held_back_leaves_the_conversation_as_it_was(home: Path, work: Path) -> None:
    def guard(payload: dict[str, Any]) -> Answer:
        return {"decision": "block", "reason": "too loud"} if payload["prompt"].isupper() else None

    heard, model = Heard(UserPromptSubmit=guard, SessionStart=None), Scripted([say("quiet")])

    async def do(conversation: Conversation) -> tuple[Any, Any]:
        held = await conversation.prompt("LOUD")
        return held, await conversation.prompt("soft")

    (held, finished), session, _ = talk(model, home, work, heard, do)
    assert (held.outcome.kind, held.outcome.message) == ("stopped", "A hook held the prompt back: too loud")
    assert finished.text == "quiet"
    assert "LOUD" not in [entry.text for entry in session.state.entries if isinstance(entry, User)]
    assert heard.events().count("SessionStart") == 1


def test_context_of_the_start_is_not_lost_with_a_prompt_that_is_held_back(home: Path, work: Path) -> None:
    held: list[int] = []

    def guard(payload: dict[str, Any]) -> Answer:
        held.append(1)
        return {"continue": False, "stopReason": "wait"} if len(held) == 1 else None

    start = {"hookSpecificOutput": {"additionalContext": "remember me"}}
    model = Scripted([say("done")])

    async def do(conversation: Conversation) -> None:
        await conversation.prompt("one")
        await conversation.prompt("two")

    talk(model, home, work, Heard(UserPromptSubmit=guard, SessionStart=start), do)
    assert "remember me" in "".join(entry.text for entry in model.requests[0].entries if isinstance(entry, User))


def test_a_function_that_raises_blocks_and_is_told(home: Path, work: Path) -> None:
    def broken(payload: dict[str, Any]) -> Answer:
        raise KeyError("nothing")

    model = Scripted([calls(call("Bash", command="touch b.txt")), say("done")])
    _, _, events = talk(model, home, work, Heard(PreToolUse=broken), lambda c: c.prompt("go"))
    assert not (work / "b.txt").exists()
    assert any("KeyError" in event.body.text for event in events if isinstance(event.body, Notice))
