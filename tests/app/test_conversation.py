"""What a person may change while a session lives: mode, model, the direction of the running turn, a fresh start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, ModeChanged, PrefixBroke
from agenyx.core.messages import Step, User
from agenyx.llm.request import Request
from support.conversation import open_scripted
from support.parts import Answers
from support.scripted import Scripted, call, calls, say


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def write(n: int) -> Any:
    return calls(call("Write", file_path=f"f{n}.txt", content="x\n"))


def statuses(session: Any) -> list[str]:
    steps = [entry for entry in session.state.entries if isinstance(entry, Step)]
    return [result.status for step in steps for result in step.results]


def test_the_mode_changes_at_once_and_the_model_is_told_by_a_record(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        events: list[AgentEvent] = []
        script = [write(1), say("a"), write(2), say("b"), write(3), say("c")]
        conversation, session = open_scripted(script, tmp_path / "home", work, mode="acceptEdits", events=events)
        await conversation.prompt("one")
        conversation.set_mode("plan")
        await conversation.prompt("two")
        conversation.set_mode("acceptEdits")
        await conversation.prompt("three")
        assert statuses(session) == ["ok", "denied", "ok"]
        notices = [e.text for e in session.state.entries if isinstance(e, User) and e.origin == "notice"]
        assert [("plan" in text, "acceptEdits" in text) for text in notices[1:]] == [(True, False), (False, True)]
        assert [event.body.mode for event in events if isinstance(event.body, ModeChanged)] == ["plan", "acceptEdits"]
        with pytest.raises(UsageError, match="dangerously"):
            conversation.set_mode("bypassPermissions")
        await conversation.close()

    asyncio.run(scenario())


def test_a_mode_switched_between_question_and_answer_is_judged_anew(work: Path, tmp_path: Path) -> None:
    class Switches(Answers):
        async def decide(self, approval: Any) -> Any:
            conversation.set_mode("plan")
            return await super().decide(approval)

    async def scenario() -> None:
        nonlocal conversation
        conversation, session = open_scripted(
            [write(1), say("ok")], tmp_path / "home", work, mode="default", approver=Switches("allow")
        )
        await conversation.prompt("one")
        assert statuses(session) == ["denied"]
        assert not (work / "f1.txt").exists()
        await conversation.close()

    conversation: Any = None
    asyncio.run(scenario())


def test_steering_reaches_the_running_turn_or_stands_before_the_next(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        def steered(request: Request) -> Any:
            conversation.steer("use tabs")
            return calls(call("LS"))

        provider = Scripted([steered, say("a"), say("b")])
        conversation, _ = open_scripted(provider, tmp_path / "home", work)
        await conversation.prompt("one")
        assert provider.requests[1].entries[-1].text == "use tabs"  # type: ignore[union-attr]
        conversation.steer("and be short")
        await conversation.prompt("two")
        last = [entry.text for entry in provider.requests[2].entries if isinstance(entry, User)]
        assert last[-2:] == ["and be short", "two"]
        await conversation.close()

    asyncio.run(scenario())


def test_status_tells_the_facts_and_usage_grows(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        conversation, _ = open_scripted([say("a"), say("b")], tmp_path / "home", work)
        before = conversation.status()
        assert (before.usage, before.context, before.workspace) == (None, None, str(work))
        await conversation.prompt("one")
        await conversation.prompt("two")
        after = conversation.status()
        assert after.usage is not None
        assert (after.usage.fresh, after.usage.out, after.context) == (20, 10, 15)
        assert (after.model, after.mode, after.persistent) == ("scripted-model", "bypassPermissions", True)
        await conversation.close()

    asyncio.run(scenario())


def test_another_model_from_the_next_turn_on(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        events: list[AgentEvent] = []
        first, second = Scripted([say("a"), say("never")]), Scripted([say("never"), say("b")])
        second.binding = "other"
        conversation, session = open_scripted(first, tmp_path / "home", work, events=events)
        await conversation.prompt("one")
        with pytest.raises(UsageError):
            conversation.set_model("second")
        conversation._model.reopen = lambda name: second
        conversation.set_model("second")
        assert (await conversation.prompt("two")).text == "b"
        assert session.state.binding is not None
        assert session.state.binding.model == second.requests[0].model == "second"
        assert any(isinstance(event.body, PrefixBroke) for event in events)
        await conversation.close()

    asyncio.run(scenario())


def test_another_effort_is_a_declared_break_and_stays_on_resume(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        events: list[AgentEvent] = []
        provider = Scripted([say("a"), say("b"), say("c")])
        conversation, session = open_scripted(provider, tmp_path / "home", work, events=events)
        await conversation.prompt("one")
        with pytest.raises(UsageError, match="enormous"):
            conversation.set_effort("enormous")
        conversation.set_effort("high")
        await conversation.prompt("two")
        assert [request.options.effort for request in provider.requests] == ["", "high"]
        broken = [event.body.cause for event in events if isinstance(event.body, PrefixBroke)]
        assert len(broken) == 1
        assert "high" in broken[0]
        assert session.state.prefix is not None
        assert session.state.prefix.cause == broken[0]
        await conversation.close()
        again, _ = open_scripted(provider, tmp_path / "home", work)
        assert again.effort == "high"
        await again.prompt("three")
        assert provider.requests[-1].options.effort == "high"
        await again.close()

    asyncio.run(scenario())


def test_settings_of_a_workspace_that_is_none(tmp_path: Path) -> None:
    from agenyx.app.start import open_conversation

    async def nothing() -> None:
        pass

    settings = Settings(str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="is not a directory"):
        asyncio.run(open_conversation(settings, {"HOME": str(tmp_path)}, lambda event: None, Answers(), nothing))


def test_another_provider_is_not_asked_with_an_effort_that_it_refuses(work: Path, tmp_path: Path) -> None:
    """A session at effort high goes on at the embedded model, which takes none, and back."""

    class Other(Scripted):
        binding = "another"

    async def scenario() -> None:
        first = Scripted([say("a")])
        settings = Settings(str(work), mode="bypassPermissions", unsafe=True, effort="high")
        conversation, _ = open_scripted(first, tmp_path / "home", work, settings=settings)
        conversation.set_effort("high")
        await conversation.prompt("one")
        await conversation.close()
        assert first.requests[-1].options.effort == "high"
        events: list[AgentEvent] = []
        second = Other([say("b")])
        profile = Profile("local", "local", "http://127.0.0.1")
        again, _ = open_scripted(second, tmp_path / "home", work, events=events, profile=profile)
        assert again.effort == ""
        await again.prompt("two")
        await again.close()
        assert second.requests[-1].options.effort == ""
        broken = [event.body.cause for event in events if isinstance(event.body, PrefixBroke)]
        assert any("the reasoning effort changed from high to the default" in cause for cause in broken)

    asyncio.run(scenario())


def test_a_set_of_tools_that_was_chosen_holds_for_a_session_that_goes_on(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        provider = Scripted([say("a"), say("b"), say("c")])
        conversation, _ = open_scripted(provider, tmp_path / "home", work)
        await conversation.prompt("one")
        await conversation.close()
        settings = Settings(str(work), mode="bypassPermissions", unsafe=True, tool_set="core")
        for prompt in ("two", "three"):
            events: list[AgentEvent] = []
            again, _ = open_scripted(provider, tmp_path / "home", work, events=events, settings=settings, size="core")
            await again.prompt(prompt)
            await again.close()
            assert [tool.name for tool in provider.requests[-1].tools][:3] == ["Read", "Write", "Edit"]
            assert len(provider.requests[-1].tools) == 7
            broke = any(isinstance(event.body, PrefixBroke) for event in events)
            assert broke is (prompt == "two"), "a declared break, once"

    asyncio.run(scenario())


def test_the_window_that_the_server_told_is_shown(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        conversation, _ = open_scripted([say("a")], tmp_path / "home", work, windows={"scripted-model": 4096})
        assert conversation.status().window == 4096
        await conversation.close()

    asyncio.run(scenario())


def test_a_session_is_renamed_while_a_turn_runs(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        def answer(request: Request) -> Any:
            assert conversation.rename("  the second\n name ") == "the second name"
            return calls(call("Write", file_path="f.txt", content="x\n"))

        conversation, session = open_scripted([answer, say("done"), say("more")], tmp_path / "home", work)
        assert conversation.title() == ""
        with pytest.raises(UsageError, match="nothing to name"):
            conversation.rename("too early")
        assert (await conversation.prompt("mend it\nplease")).outcome.kind == "done"
        assert statuses(session) == ["ok"] and conversation.title() == "the second name"
        with pytest.raises(UsageError, match="characters"):
            conversation.rename("x" * 300)
        await conversation.close()
        conversation, session = open_scripted([say("a"), say("b"), say("more")], tmp_path / "home", work)
        assert conversation.title() == "the second name" and not session.state.problems
        assert (await conversation.prompt("go on")).text == "more"
        await conversation.close()

    asyncio.run(scenario())
