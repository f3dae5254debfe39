"""Playing a cassette: the same events without network, and a clear word where the session goes another way."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import ConfigError
from agenyx.core.events import Done, Failure, ModelEvent, TextDelta
from agenyx.core.json import encode
from agenyx.core.messages import Step as Exchange
from agenyx.core.messages import Text, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.cassette import Recorder
from agenyx.llm.provider import open_provider
from agenyx.llm.record import RecordingClient
from agenyx.llm.replay import ReplayClient, ReplayMismatch, load, open_replay
from agenyx.llm.request import Options, Request
from support.conversation import open_scripted
from support.mock import mock_server
from support.raw_server import (
    CLOSE,
    STREAM_HEAD,
    RawServer,
    Step,
    begin,
    chunk,
    content,
    event,
    finish,
    plain,
    stream,
    usage,
)

from .test_cassette import FINE, record

BUSY: list[Step] = [plain(429, {"error": {"message": "slow down"}}, "Retry-After: 7")]


def play(bench: Any, path: Path, prompts: tuple[str, ...] = ("hello",), **how: Any) -> list[list[ModelEvent]]:
    """The conversation of these prompts, answered by the cassette."""

    async def run() -> list[list[ModelEvent]]:
        replay = open_replay(str(path), **how)
        provider = open_provider(replay.profile, replay.model, {}, client=replay.client, retry=bench.retry())
        answers: list[list[ModelEvent]] = []
        entries: list[Any] = []
        for prompt in prompts:
            entries.append(User((Text(prompt),)))
            request = Request(replay.model, Options(), (), ("Be brief.",), tuple(entries))
            answers.append([found async for found in provider.stream(request)])
            if isinstance(last := answers[-1][-1], Done):
                entries.append(Exchange(last.assistant))
        return answers

    return asyncio.run(run())


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_recording_plays_without_the_server(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    said = event(content("hé 😀")) + event(finish())
    bytewise: list[Step] = [STREAM_HEAD, *(chunk(bytes([byte])) for byte in said)]
    bytewise.append(chunk(event(usage(5, 1)) + event("[DONE]")) + b"0\r\n\r\n")
    recorded = record(bench, path, [FINE, bytewise], ("one", "two"))
    assert bench.text(recorded[1]) == "hé 😀"
    assert play(bench, path, ("one", "two")) == recorded


@pytest.mark.parametrize(
    "script",
    [
        [BUSY, FINE],
        [[begin(content("Hel")), CLOSE]],
        [[plain(401, {"error": {"message": "bad key"}})]],
        [[plain(200, "<html>", kind="text/html")]],
        [[b"not http\r\n\r\n", CLOSE]],
        [[plain(500, b"\xff\xfe\x00", kind="application/octet-stream")], FINE],
        [[plain(302, "", "Location: https://elsewhere.example/")]],
        [[stream(content("half"), done=False)]],
    ],
)
def test_errors_play_as_they_came(bench: Any, tmp_path: Path, script: list[list[Step]]) -> None:
    path = tmp_path / "c"
    (recorded,) = record(bench, path, script)
    slept = list(bench.slept)
    bench.slept.clear()
    (played,) = play(bench, path)
    assert [type(found) for found in played] == [type(found) for found in recorded]
    assert bench.slept == slept
    assert played[-1] == recorded[-1]


def test_a_retry_does_not_wait(bench: Any, tmp_path: Path) -> None:
    """The server asked for seven seconds then; that is no reason to wait for them now."""
    path = tmp_path / "c"
    record(bench, path, [BUSY, FINE])
    replay = open_replay(str(path))

    async def run() -> list[ModelEvent]:
        provider = open_provider(
            replay.profile, replay.model, {}, client=replay.client, retry=replay.retry, throttle=replay.throttle
        )
        request = Request(replay.model, Options(), (), ("Be brief.",), (User((Text("hello"),)),))
        async with asyncio.timeout(5):
            return [found async for found in provider.stream(request)]

    assert bench.text(asyncio.run(run())) == "Hello there"


def test_a_request_that_differs_shows_where(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE], ("hello", "How many files are there?"))
    with pytest.raises(ReplayMismatch) as told:
        play(bench, path, ("hello", "How many lines are there?"))
    message = told.value.message
    assert message.startswith("request 2 is not the recorded one (2): at messages[3].content: ")
    assert "'How many files are there?'" in message and "'How many lines are there?'" in message
    assert "--replay-loose" in told.value.fix
    answers = play(bench, path, ("hello", "How many lines are there?"), loose=True)
    assert bench.text(answers[1]) == "Hello there"


def test_the_recording_is_over(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE])
    for loose in (False, True):
        with pytest.raises(ReplayMismatch, match="ends after 1 requests, and this is request 2"):
            play(bench, path, ("hello", "more"), loose=loose)


def test_the_order_of_members_does_not_matter_and_the_path_does(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE])
    cassette = load(str(path))
    recorded = cassette.body(cassette.exchanges[0])
    turned = json.dumps(dict(reversed(json.loads(recorded).items()))).encode()

    async def ask(url: str, body: bytes) -> int:
        async with ReplayClient(load(str(path))).stream("POST", url, {}, body) as response:
            return response.status

    assert asyncio.run(ask("http://x/v1/chat/completions", turned)) == 200
    with pytest.raises(
        ReplayMismatch, match="it goes to POST /v1/other, the recorded one to POST /v1/chat/completions"
    ):
        asyncio.run(ask("http://x/v1/other", turned))


def test_overlapping_requests_find_their_own_answers(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE, [stream(content("second"), finish())]], ("one", "two"))
    cassette = load(str(path))

    async def ask() -> list[bytes]:
        client, found = ReplayClient(cassette), []
        for exchange in reversed(cassette.exchanges):
            url, body = "http://x" + exchange.request.path, cassette.body(exchange)
            async with client.stream("POST", url, {}, body.encode()) as response:
                found.append(b"".join([data async for data in response.chunks()]))
        return found

    second, first = asyncio.run(ask())
    assert b"second" in second and b"Hello" in first


def test_recorded_times_are_kept_only_when_asked_for(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE])
    made = lines(path)
    pieces = made[1]["response"]["pieces"]
    whole = "".join(piece["text"] for piece in pieces)
    made[1]["response"]["pieces"] = [{"at": 1.5, "text": whole[:50]}, {"at": 4.0, "text": whole[50:]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in made), "utf-8")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def read(paced: bool) -> None:
        cassette = load(str(path))
        client = ReplayClient(cassette, loose=True, paced=paced, sleep=sleep)
        async with client.stream("POST", "http://x/", {}, b"") as response:
            assert b"".join([data async for data in response.chunks()]).decode() == whole

    asyncio.run(read(False))
    assert slept == []
    asyncio.run(read(True))
    assert slept == [1.5, 2.5]


def test_a_response_that_was_stopped_ends_there(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE])
    made = lines(path)
    made[1]["response"] |= {"end": "left", "pieces": made[1]["response"]["pieces"][:1]}
    made[1]["response"]["pieces"][0]["text"] = event(content("Hel")).decode()
    path.write_text("".join(json.dumps(line) + "\n" for line in made), "utf-8")
    (events,) = play(bench, path)
    assert [found.text for found in events if isinstance(found, TextDelta)] == ["Hel"]
    assert isinstance(events[-1], Failure) and "stopped here" in events[-1].message


def test_files_that_are_no_recordings(bench: Any, tmp_path: Path) -> None:
    good = tmp_path / "good"
    record(bench, good, [FINE], ("one", "two"))
    text = good.read_text("utf-8")

    def told(written: str | None, name: str = "bad") -> str:
        path = tmp_path / name
        if written is not None:
            path.write_text(written, "utf-8")
        with pytest.raises(ConfigError) as error:
            load(str(path))
        assert str(path) in error.value.message and error.value.fix
        return error.value.message

    assert "cannot be read" in told(None, "missing")
    for other in ("", "hello\n", "[]\n", '{"cassette":0}\n', text.splitlines()[1] + "\n"):
        assert "is not a recording" in told(other)
    assert "newer Agenyx (format 9)" in told('{"cassette":9}\n')
    assert "line 3" in told(text.replace('"two"', '"2wo"').replace("two", "2wo"))
    head, first, second = text.splitlines()
    assert "line 2" in told(f"{head}\nnoise\n{second}\n")
    (tmp_path / "torn").write_text(f"{head}\n{first}\n{second[:40]}", "utf-8")
    assert len(load(str(tmp_path / "torn")).exchanges) == 1, "what a crash cut off is left out"


def test_the_profile_of_a_recording(bench: Any, tmp_path: Path) -> None:
    from agenyx.config.profiles import Profile

    path = tmp_path / "c"
    profile = Profile(
        "mine", "azure_openai", "https://corp.openai.azure.com", "key-0123456789", "responses", "m", "deploy", "v1"
    )
    Recorder(str(path), profile, "m", (), lambda _: None, options=Options(0.0, 512, "high")).close()
    replay = open_replay(str(path))
    found = replay.profile
    assert (found.id, found.type, found.wire, found.deployment, found.api_version) == (
        "replay",
        "azure_openai",
        "responses",
        "deploy",
        "v1",
    )
    assert (found.base_url, replay.model, replay.options) == (
        "https://server.invalid",
        "m",
        Options(0.0, 512, "high"),
    )
    assert found.api_key != profile.api_key


def transcript(session: Any) -> str:
    """What was said and done; the identities of a run are numbered."""
    text = encode([session.state.entries, session.state.usage, session.state.outcome]).decode()
    for number, name in enumerate(dict.fromkeys(re.findall(r"(?:call|prompt)_[0-9a-f]{24}", text))):
        text = text.replace(name, f"id_{number}")
    return text


def test_a_whole_session_plays_to_the_same_transcript(tmp_path: Path) -> None:
    """Real tools and files, twenty steps against the scripted server; then again from the cassette, with no server."""
    from agenyx.config.profiles import Profile

    work, path = tmp_path / "work", tmp_path / "session.cassette"
    work.mkdir()
    for n in range(5):
        (work / f"f{n}.txt").write_text(f"file {n}\n" * 30)

    async def session(name: str, provider: Any) -> str:
        conversation, session = open_scripted(provider, tmp_path / name, work)
        try:
            for prompt in ("Read them all.", "And now?"):
                finished = await conversation.prompt(prompt)
                if finished.outcome.kind != "done":
                    return finished.outcome.message
            return transcript(session)
        finally:
            await conversation.close()
            await provider.close()

    async def recorded(url: str) -> str:
        profile = Profile("x", "openai_compatible", f"{url}/v1", "key-0123456789")
        client = RecordingClient({}, Recorder(str(path), profile, "scripted-model", (), lambda _: None))
        try:
            return await session("home1", open_provider(profile, "scripted-model", {}, client=client))
        finally:
            await client.close()

    async def played(home: str) -> str:
        replay = open_replay(str(path))
        return await session(home, open_provider(replay.profile, replay.model, {}, client=replay.client))

    with mock_server() as mock:
        mock.reset("tools-20", files=[str(work / f"f{n}.txt") for n in range(5)])
        then = asyncio.run(recorded(mock.url))
    assert then.count('"type":"call"') == 20 and "file 4" in then
    assert asyncio.run(played("home2")) == then
    (work / "f2.txt").write_text("changed\n")
    message = asyncio.run(played("home3"))
    assert (
        message.startswith("request 4 is not the recorded one (4): at messages[") and "now '     1→changed'" in message
    )


def test_replay_needs_no_tools_or_options_of_its_own(bench: Any, tmp_path: Path) -> None:
    """A request with a tool more differs at the head, and the message says so."""
    path = tmp_path / "c"
    record(bench, path, [FINE])
    replay = open_replay(str(path))

    async def ask() -> None:
        provider = open_provider(replay.profile, replay.model, {}, client=replay.client, retry=bench.retry())
        tool = ToolSpec("Read", "Reads.", {"type": "object"})
        request = Request(replay.model, Options(), (tool,), ("Be brief.",), (User((Text("hello"),)),))
        async for _ in provider.stream(request):
            pass

    with pytest.raises(ReplayMismatch, match="at tools: recorded nothing, now"):
        asyncio.run(ask())


@pytest.mark.parametrize("loose", [False, True])
def test_a_list_of_models_before_it_is_passed_over(loose: bool, bench: Any, tmp_path: Path) -> None:
    """The recording knows which model was chosen; what led to it is there for the reader."""
    from agenyx.config.profiles import Profile
    from agenyx.llm.models import list_models

    path = tmp_path / "c"

    async def recorded(url: str) -> None:
        profile = Profile("x", "openai_compatible", f"{url}/v1", "key-0123456789")
        client = RecordingClient({}, Recorder(str(path), profile, "", (), lambda _: None))
        (name,) = await list_models(profile, client)
        client.begin(name, Options(effort="low"))
        await answered(open_provider(profile, name, {}, client=client, retry=bench.retry()))
        await client.close()

    async def answered(provider: Any) -> list[Any]:
        request = Request("m", Options(), (), ("Be brief.",), (User((Text("hello"),)),))
        return [event async for event in provider.stream(request)]

    with RawServer([[plain(200, {"data": [{"id": "m"}]})], FINE]) as server:
        asyncio.run(recorded(server.url))
    replay = open_replay(str(path), loose=loose)
    assert (replay.model, replay.options) == ("m", Options(effort="low"))

    async def played() -> None:
        provider = open_provider(replay.profile, "m", {}, client=replay.client, retry=bench.retry())
        assert bench.text(await answered(provider)) == "Hello there"
        assert await list_models(replay.profile, replay.client) == ["m"]

    asyncio.run(played())
