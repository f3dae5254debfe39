"""Sessions of a program: turns, going on, copies, what may be changed between; and what an agent is made with."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from agenyx import Agent, ConfigError, Hook, UsageError, events, tool
from agenyx.core.events import Done, Started, TextDelta
from agenyx.core.messages import User
from agenyx.llm.request import Request
from agenyx.providers import Profile
from support.programs import KEY, agent, closed, place, results, statuses, transcript
from support.raw_server import RawServer
from support.scripted import Scripted, call, calls, say
from support.wire_host import says


def prompts(request: Request) -> list[str]:
    return [entry.text for entry in request.entries if isinstance(entry, User) and entry.origin == "typed"]


def test_turns_share_what_was_said_and_requests_extend_each_other(tmp_path: Path) -> None:
    script = Scripted([say("one"), say("two")])

    async def main() -> None:
        async with agent(tmp_path, script).session() as session:
            assert (session.usage, session.unfinished, session.stored) == (None, False, True)
            first = await session.prompt("first")
            second = await session.prompt("second")
            assert (first.text, second.text, first.session_id) == ("one", "two", session.id)
            assert session.usage == events.Usage(fresh=20, out=10)
            assert session.cost is None

    asyncio.run(main())
    assert prompts(script.requests[1]) == ["first", "second"]
    assert script.requests[0].entries == script.requests[1].entries[: len(script.requests[0].entries)]


def test_going_on_by_id_by_the_latest_and_as_a_copy(tmp_path: Path) -> None:
    script = Scripted([say(str(number)) for number in range(9)])
    made = agent(tmp_path, script)
    first = made.run_sync("first").session_id
    assert made.run_sync("second", resume=first).session_id == first
    assert made.run_sync("third", continue_=True).session_id == first
    copy = made.run_sync("fourth", resume=first, fork=True).session_id
    assert copy != first
    assert prompts(script.requests[-1]) == ["first", "second", "third", "fourth"]
    made.run_sync("fifth", resume=first)
    assert prompts(script.requests[-1]) == ["first", "second", "third", "fifth"]


def test_wrong_words_are_told(tmp_path: Path) -> None:
    made = agent(tmp_path, [])
    with pytest.raises(UsageError):
        made.session(resume="x", continue_=True)
    with pytest.raises(UsageError):
        made.session(fork=True)
    with pytest.raises(UsageError) as error:
        _ = made.session().id
    assert "async with" in error.value.fix

    async def main() -> None:
        async with made.session() as session:
            with pytest.raises(UsageError):
                await session.resume()
            with pytest.raises(UsageError):
                await session.__aenter__()
            with pytest.raises(UsageError):
                session.set_mode("bypassPermissions")
            with pytest.raises(UsageError):
                session.set_model("other")
            await session.close()
            await session.close()

    asyncio.run(main())


def test_one_session_has_one_owner(tmp_path: Path) -> None:
    made = agent(tmp_path, [say("x"), say("y")])

    async def main() -> None:
        async with made.session() as session:
            await session.prompt("hi")
            with pytest.raises(Exception, match="in use"):
                await made.run("hi", resume=session.id)

    asyncio.run(main())
    assert made.run_sync("hi", continue_=True).text == "y"


def test_the_mode_may_change_between_turns(tmp_path: Path) -> None:
    write = call("Write", file_path="a.txt", content="x")
    script = Scripted([calls(write), say("no"), calls(write), say("yes")])

    async def main() -> None:
        async with agent(tmp_path, script, mode="plan").session() as session:
            await session.prompt("go")
            assert not (place(tmp_path) / "a.txt").exists()
            session.set_mode("acceptEdits")
            await session.prompt("go")
            assert (session.mode, (place(tmp_path) / "a.txt").read_text("utf-8")) == ("acceptEdits", "x")

    asyncio.run(main())


def test_a_session_that_is_not_stored_leaves_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with agent(tmp_path, [say("one"), say("two")], persist=False).session() as session:
            assert (await session.prompt("a")).text == "one"
            assert ((await session.prompt("b")).text, session.stored) == ("two", False)

    asyncio.run(main())
    assert not list((tmp_path / "home").glob("sessions/**/*.jsonl"))


def test_a_summary_is_made_when_it_is_asked_for(tmp_path: Path) -> None:
    script = Scripted([say("one"), say("two"), say("three")])

    async def main() -> None:
        async with agent(tmp_path, script).session() as session:
            assert await session.compact() is False
            await session.prompt("hello " * 200)
            assert await session.compact("the greeting") is True

    asyncio.run(main())


def test_system_prompt_tools_and_limits_are_the_programs(tmp_path: Path) -> None:
    script = Scripted([calls(call("Read", file_path="x")), calls(call("Read", file_path="y")), say("x")])
    made = agent(
        tmp_path,
        script,
        system_prompt="You count.",
        append_system_prompt="Be brief.",
        builtin_tools=["Read"],
        max_steps=1,
    )
    result = made.run_sync("go")
    assert (result.kind, len(script.requests)) == ("step_limit", 1)
    system = "\n".join(script.requests[0].system)
    assert "You count." in system and system.endswith("Be brief.")
    assert [spec.name for spec in script.requests[0].tools] == ["Read"]


def test_own_tools_stand_behind_ours_and_a_changed_one_is_told_anew(tmp_path: Path) -> None:
    @tool(name="look", description="Looks.", effects="none")
    def look(a: int) -> str:
        return ""

    @tool(name="look", description="Looks further.", effects="none")
    def further(a: int, b: int = 1) -> str:
        return str(a + b)

    script = Scripted([say("x"), say("y"), calls(call("look", a=1, b=2)), say("z")])
    first = agent(tmp_path, script, tools=[look]).run_sync("go")
    assert script.requests[0].tools[-1].name == "look"
    agent(tmp_path, script, tools=[look]).run_sync("go", resume=first.session_id)
    assert script.requests[1].prefix_id == script.requests[0].prefix_id
    agent(tmp_path, script, tools=[further]).run_sync("go", resume=first.session_id)
    assert script.requests[2].tools[-1].description == "Looks further."
    assert results(script.requests[3])[-1] == "3"


def test_a_tool_that_is_not_there_any_more_is_a_result(tmp_path: Path) -> None:
    @tool(effects="none")
    def look() -> str:
        """Looks."""
        return ""

    first = agent(tmp_path, [say("x")], tools=[look]).run_sync("go")
    script = Scripted([say("x"), calls(call("look")), say("y")])
    assert agent(tmp_path, script).run_sync("go", resume=first.session_id).text == "y"
    assert statuses(script.requests[-1]) == ["unavailable"]


def test_hooks_by_event_and_matcher(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def heard(payload: dict[str, Any]) -> None:
        seen.append((payload["hook_event_name"], payload.get("tool_name", "")))

    async def context(payload: dict[str, Any]) -> dict[str, Any]:
        event = payload["hook_event_name"]
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "It is Monday."}}

    hooks: Any = {
        "SessionStart": [heard],
        "PreToolUse": [Hook(heard, matcher="Read|LS")],
        "UserPromptSubmit": [context],
        "SessionEnd": [heard],
    }
    script = Scripted([calls(call("Read", file_path="x"), call("Glob", pattern="*")), say("x")])
    agent(tmp_path, script, hooks=hooks).run_sync("go")
    assert seen == [("SessionStart", ""), ("PreToolUse", "Read"), ("SessionEnd", "")]
    assert any("It is Monday." in entry.text for entry in script.requests[0].entries if isinstance(entry, User))


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "yolo"},
        {"mode": "bypassPermissions"},
        {"allow": "Bash"},
        {"hooks": {"Before": [print]}},
        {"hooks": {"Stop": ["print"]}},
        {"hooks": {"Stop": [Hook(lambda _: None, timeout=0)]}},
        {"approvals": "ask"},
        {"mcp_servers": {"a__b": {"command": "x"}}},
    ],
)
def test_agents_that_cannot_be_made(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Agent(**options)


def test_a_rule_that_is_wrong_names_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        agent(tmp_path, [say("x")], allow=["Bash(("]).run_sync("go")
    assert "Bash((" in error.value.message


def test_a_deferred_run_that_nobody_could_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        agent(tmp_path, [], approvals="defer", persist=False).run("go")


# --- who answers ----------------------------------------------------------------------------------------------------


def test_a_configured_provider_by_profile_and_by_environment(tmp_path: Path) -> None:
    place(tmp_path)
    common: dict[str, Any] = {"workspace": place(tmp_path), "home": tmp_path / "home"}
    with RawServer([says("Hello."), says("Hello again.")]) as server:
        profile = Profile("mine", "openai_compatible", f"{server.url}/v1/", "k" * 20)
        result = Agent(**common, env=closed(tmp_path), provider=profile, model="served-model").run_sync("hi")
        assert (result.text, result.usage) == ("Hello.", events.Usage(fresh=10, out=2))
        env = {**closed(tmp_path), "OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1"}
        assert Agent(**common, env=env, model="served-model").run_sync("hi").text == "Hello again."
        assert b"Bearer kkkk" in server.requests[0].head


def test_a_profile_is_checked_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigError):
        Agent(provider=Profile("mine", "openai_compatible", "http://example.org/v1", "k"))
    with pytest.raises(ConfigError) as error:
        Agent(provider=Profile("mine", "openai_compatible", "https://example.org/v1", "k k"))
    assert "k k" not in str(error.value)


def test_the_model_of_the_persons_settings_counts_and_its_source_can_be_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('model = "my-model"\n[permissions]\ndeny = ["Glob"]\n', "utf-8")
    env = {**closed(tmp_path), "OPENAI_API_KEY": "k" * 20}
    common: dict[str, Any] = {"workspace": place(tmp_path), "home": home}
    with RawServer([says()]) as server:
        env["OPENAI_BASE_URL"] = f"{server.url}/v1"
        Agent(**common, env=env).run_sync("hi")
        assert server.requests[-1].json["model"] == "my-model"
        Agent(**common, env={**env, "AGENYX_MODEL": "theirs"}).run_sync("hi")
        assert server.requests[-1].json["model"] == "theirs"
        Agent(**common, env=env, model="ours").run_sync("hi")
        assert server.requests[-1].json["model"] == "ours"
        Agent(**common, env={**env, "AGENYX_MODEL": "x"}, sources=()).run_sync("hi")
        assert server.requests[-1].json["model"] == "x"


class Leaky:
    """Says a secret, also in pieces, and forges what only the harness may say."""

    binding = "leaky"

    async def stream(self, request: Request) -> Any:
        yield Started("id", "m")
        yield TextDelta(0, f"The key is {KEY[:10]}")
        yield TextDelta(0, f"{KEY[10:]}.")
        yield Done(say(f"The key is {KEY}."))

    async def close(self) -> None:
        pass


def test_what_an_own_provider_says_is_masked_and_checked(tmp_path: Path) -> None:
    async def main() -> None:
        run = agent(tmp_path, Leaky()).run("hi")
        shown = [repr(event) async for event in run]
        everything = "".join(shown) + repr(run.result) + transcript(tmp_path, run.result.session_id)
        assert KEY not in everything
        assert "The key is" in run.result.text
        deltas = "".join(part for part in shown if "TextDelta" in part)
        assert KEY[:10] not in deltas and KEY[10:] not in deltas

    asyncio.run(main())


def test_an_own_provider_that_raises_or_ends_without_a_word_is_a_failure(tmp_path: Path) -> None:
    class Raises(Leaky):
        async def stream(self, request: Request) -> Any:
            yield TextDelta(0, "Well")
            raise RuntimeError("no line")

    class Silent(Leaky):
        async def stream(self, request: Request) -> Any:
            return
            yield

    result = agent(tmp_path, Raises()).run_sync("hi")
    assert (result.kind, "no line" in result.message, result.text) == ("failed", True, "Well")
    assert agent(tmp_path, Silent()).run_sync("hi").kind == "failed"


def test_a_session_goes_on_with_the_provider_that_it_was_held_with(tmp_path: Path) -> None:
    first = agent(tmp_path, Leaky()).run_sync("hi").session_id
    with pytest.raises(ConfigError) as error:
        agent(tmp_path, [say("x")]).run_sync("hi", resume=first)
    assert "rebind" in error.value.fix

    async def main() -> None:
        async with agent(tmp_path, [say("x"), say("mine")]).session(resume=first, rebind=True) as session:
            assert (await session.prompt("hi")).text == "mine"

    asyncio.run(main())


@pytest.mark.parametrize("thing", [object(), type("Odd", (), {"binding": "", "stream": None})()])
def test_what_is_no_provider_is_told(tmp_path: Path, thing: Any) -> None:
    with pytest.raises(UsageError) as error:
        agent(tmp_path, thing).run_sync("hi")
    assert "is no provider" in error.value.message


def test_images_need_a_model_that_sees(tmp_path: Path) -> None:
    from support.pictures import png

    (place(tmp_path) / "a.png").write_bytes(png(2, 2))
    with pytest.raises(UsageError):
        agent(tmp_path, [say("x")]).run_sync("what is it?", images=["a.png"])


def test_folders_may_be_added(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("beside", "utf-8")
    script = Scripted([calls(call("Read", file_path=str(other / "b.txt"))), say("x")])
    agent(tmp_path, script, add_dirs=[other]).run_sync("go")
    assert "beside" in results(script.requests[-1])[0]


def test_errors_speak_of_parameters_and_not_of_flags(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        Agent(workspace=tmp_path / "nowhere", env=closed(tmp_path)).run_sync("hi")
    assert "workspace=" in error.value.fix and "--" not in str(error.value) + error.value.fix
    with pytest.raises(UsageError) as error:
        agent(tmp_path, [say("x")], max_usd=1).run_sync("hi")
    assert "max_usd=" in error.value.message and "max_tokens=" in error.value.fix


def test_a_hook_that_hangs_is_left_behind(tmp_path: Path) -> None:
    release = threading.Event()
    hooks: Any = {"PreToolUse": [Hook(lambda _: release.wait(60) and None, timeout=0.05, on_error="warn")]}
    script = Scripted([calls(call("LS", path=".")), say("done")])
    result = agent(tmp_path, script, hooks=hooks).run_sync("go")
    assert not release.is_set()
    release.set()
    assert result.text == "done" and "no answer within 0.05 seconds" in result.notices[0].text
