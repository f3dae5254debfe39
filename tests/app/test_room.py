"""A whole conversation within a window: real tools and files, resumed by another process, settings of the person."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.context import Choice
from agenyx.app.policies import choose
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.errors import ConfigError, UsageError
from agenyx.core.messages import Assistant, Step, Summary, User
from agenyx.llm.request import Request
from agenyx.session import records
from support.conversation import open_scripted
from support.mock import agenyx, command_env
from support.raw_server import RawServer, content, finish, plain, stream, usage
from support.raw_server import call as tool_call
from support.scripted import Scripted, call, calls, say
from support.windowed import Windowed, is_summary, results

RULE = "Keep to the style of the file."


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for number in range(60):
        (folder / f"f{number}.txt").write_text(f"file {number}\n" + "line\n" * 900, encoding="utf-8")
    return folder


def reading(count: int) -> Any:
    """Reads so many files one after the other, then looks again at the first result through ToolResultRead."""
    made = [0]
    first: list[str] = []

    def answer(request: Request) -> Assistant:
        made[0] += 1
        if made[0] == 2:
            first.append(next(e for e in request.entries if isinstance(e, Step)).assistant.calls[0].id)
        if made[0] <= count:
            return calls(call("Read", f"w{made[0]}", file_path=f"f{made[0]}.txt"))
        if made[0] == count + 1:
            return calls(call("ToolResultRead", "again", tool_use_id=first[0]))
        return say("All is read.")

    return answer


def test_what_was_taken_out_is_read_again_also_by_another_process(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        provider = Windowed(40_000, reading(30))
        conversation, session = open_scripted(provider, tmp_path / "home", work, windows={"scripted-model": 40_000})
        assert (await conversation.prompt(RULE)).outcome.kind == "done"
        state = session.state
        assert not provider.refused and "old results were taken out to make room" in state.breaks
        assert any("characters were taken out" in text for text in results(provider.requests[-1]))
        again = results(provider.requests[-1])[-1]
        assert "file 1\n" in again, again[:200]
        (spilled,) = {
            os.path.dirname(r.spill) for e in state.entries if isinstance(e, Step) for r in e.results if r.spill
        }
        assert oct(os.stat(spilled).st_mode & 0o777) == "0o700"
        status = conversation.status()
        assert status.levels and status.context and status.context < status.levels.hard
        assert status.window == 40_000 and status.breaks == state.breaks
        before = [*state.view.entries]
        await conversation.close()

        later, resumed = open_scripted(
            Scripted([say("x")] * 60), tmp_path / "home", work, windows={"scripted-model": 40_000}
        )
        assert resumed.state.view.entries == before
        assert (await later.prompt("And now?")).outcome.kind == "done"
        await later.close()

    asyncio.run(scenario())


def test_compact_now_and_nothing_to_compact(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        provider = Windowed(10**6, reading(12))
        conversation, session = open_scripted(provider, tmp_path / "home", work, windows={"scripted-model": 128_000})
        assert await conversation.compact() is None and provider.requests == []
        await conversation.prompt(RULE)
        made = await conversation.compact("the style")
        assert made and made.by == "user" and made.tokens < made.before
        assert is_summary(provider.requests[-1])
        status = conversation.status()
        assert status.context == made.tokens and status.breaks == {"compaction": 1}
        assert status.parts.summary > 0
        await conversation.prompt("Go on.")
        view = session.state.view.entries
        assert isinstance(view[0], Summary)
        kept = [entry.text for entry in view if isinstance(entry, User)]
        assert kept[0].startswith("Environment at the start") and kept[1:] == [RULE, "Go on."]
        await conversation.close()

    asyncio.run(scenario())


def test_open_calls_are_not_summarised_away(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        conversation, session = open_scripted([say("a")], tmp_path / "home", work)
        await conversation.prompt("one")
        session.append(records.Prompt(User((), "typed")), records.Response(calls(call("Read", file_path="f1.txt"))))
        with pytest.raises(UsageError, match="not finished"):
            await conversation.compact()
        await conversation.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("size", ["small", "full"])
def test_a_small_model_gets_of_earlier_turns_only_what_was_said(size: Any, work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        provider = Scripted([])
        conversation, session = open_scripted(provider, tmp_path / "home", work, size=size)
        read = calls(call("Read", file_path="f1.txt"), text="let me look")
        provider.script = [read, say("It is a list."), read, say("Nothing else.")]
        assert (await conversation.prompt("What is f1?")).text == "It is a list."
        await conversation.prompt("And then?")
        sent = provider.requests[2].entries
        shown = [e.text if isinstance(e, User) else "step" for e in sent if not isinstance(e, Summary)]
        expected = (
            ["What is f1?", "step", "And then?"] if size == "small" else ["What is f1?", "step", "step", "And then?"]
        )
        assert shown[1:] == expected
        if size == "small":
            assert "earlier turns were shortened to what was said" in session.state.breaks
        assert sum(isinstance(entry, Step) for entry in session.state.entries) >= 3, "the history stays whole"
        await conversation.close()

    asyncio.run(scenario())


def test_the_settings_of_the_person(work: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    file = home / "settings.toml"
    file.write_text('[context]\nwindow = 9000\nwarn = 40\nauto = 60\nhistory = "final"\n', encoding="utf-8")
    file.chmod(0o600)
    chosen = choose(Settings(str(work)), str(home), str(work), "", {})
    assert chosen.context == Choice(9_000, 40, 60, "final")
    file.write_text("[context]\nauto = 5\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"context\.auto must be from 20 to 100"):
        choose(Settings(str(work)), str(home), str(work), "", {})


def test_the_window_is_not_looked_up_before_a_small_first_request(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def window_of(profile: Profile, model: str, home: str) -> int | None:
        asked.append(model)
        return 200_000

    monkeypatch.setattr("agenyx.app.room.window_of", window_of)

    async def scenario() -> None:
        read = calls(call("Read", file_path="f1.txt"))
        conversation, _ = open_scripted([say("a"), read, read, say("b")], tmp_path / "home", work)
        await conversation.prompt("one")
        assert asked == []
        await conversation.prompt("two")
        await conversation.close()

    asyncio.run(scenario())
    assert asked == ["scripted-model"], "once"


# --- the program -----------------------------------------------------------------------------------------------------

FULL = plain(400, '{"error":{"message":"maximum context length is 8 tokens","code":"context_length_exceeded"}}')
LOOK = stream(tool_call("LS", "{}"), finish("tool_calls"), usage(900, 20))


def run(server: RawServer, work: Path, tmp_path: Path, *flags: str) -> Any:
    variables = {"OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m"}
    env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, **variables)
    return agenyx(*flags, "-p", "--output-format", "json", "--verbose", RULE, cwd=work, env=env)


def test_the_program_shortens_what_a_server_refuses_and_goes_on(work: Path, tmp_path: Path) -> None:
    written = stream(content("THE GIST"), finish(), usage(500, 30))
    with RawServer([[LOOK], [FULL], [written], [stream(content("Done."), finish(), usage(400, 5))]]) as server:
        done = run(server, work, tmp_path)
    record = json.loads(done.stdout)
    assert (done.returncode, record["result"]) == (0, "Done."), done.stderr
    assert record["prefix_breaks"] == ["compaction"]
    assert record["usage"]["output_tokens"] == 55, "the summary is paid for as well"
    assert "the conversation was summarised to make room" in done.stderr
    bodies = [json.loads(request.body) for request in server.requests]
    assert len(bodies) == 4
    assert "Stop here for a moment" in bodies[2]["messages"][-1]["content"]
    last = [message["content"] for message in bodies[3]["messages"]]
    assert "THE GIST" in last[1] and last[2].startswith("Environment at the start") and last[3] == RULE


def test_the_program_gives_up_in_words_when_a_server_always_refuses(work: Path, tmp_path: Path) -> None:
    with RawServer([[LOOK], [FULL]]) as server:
        done = run(server, work, tmp_path)
    record = json.loads(done.stdout)
    assert done.returncode != 0
    assert (record["subtype"], record["stop_reason"]) == ("error_during_execution", "context_limit")
    assert "does not fit the model and cannot be shortened" in record["errors"][0]
    assert "larger window" in record["errors"][1]
    assert len(server.requests) == 4, "the call, the request, its summary, the retry"
