"""Recording: what stands in the file, what never does, and that the recorded session does not notice."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenyx.config.profiles import Profile
from agenyx.core.errors import UsageError
from agenyx.core.events import Done, Failure, ModelEvent, TextDelta
from agenyx.core.messages import Step as Exchange
from agenyx.core.messages import Text, User
from agenyx.core.redact import MASK
from agenyx.llm.cassette import Recorder, path_of
from agenyx.llm.cassette_mask import ByteMasker
from agenyx.llm.provider import open_provider
from agenyx.llm.record import RecordingClient
from agenyx.llm.request import Options, Request
from support.raw_server import (
    CLIENT_GONE,
    CLOSE,
    DEADLINE,
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

SECRET = "sk-test-0123456789abcdef"
FINE: list[Step] = [stream(content("Hello"), content(" there"), finish(), usage(9, 2))]


def ignore(_: str) -> None:
    pass


def record(
    bench: Any,
    path: Path,
    script: list[list[Step]],
    prompts: Sequence[str] = ("hello",),
    secrets: tuple[str, ...] = (),
    tell: Callable[[str], None] = ignore,
    **retry: Any,
) -> list[list[ModelEvent]]:
    """A conversation of these prompts, recorded. Returns the events of each answer."""

    async def run(url: str) -> list[list[ModelEvent]]:
        profile = Profile("x", "openai_compatible", f"{url}/v1", SECRET)
        client = RecordingClient({}, Recorder(str(path), profile, "a-model", secrets, tell))
        provider = open_provider(profile, "a-model", {}, client=client, retry=bench.retry(**retry))
        answers: list[list[ModelEvent]] = []
        entries: list[Any] = []
        try:
            for prompt in prompts:
                entries.append(User((Text(prompt),)))
                request = Request("a-model", Options(), (), ("Be brief.",), tuple(entries))
                answers.append([found async for found in provider.stream(request)])
                if isinstance(last := answers[-1][-1], Done):
                    entries.append(Exchange(last.assistant))
            return answers
        finally:
            await client.close()

    with RawServer(script) as server:
        return asyncio.run(run(server.url))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_recording_holds_what_was_said(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.cassette"
    (events,) = record(bench, path, [FINE])
    assert bench.text(events) == "Hello there"
    head, exchange = lines(path)
    assert head["cassette"] == 1 and (head["type"], head["wire"], head["model"]) == (
        "openai_compatible",
        "chat",
        "a-model",
    )
    assert exchange["n"] == 1
    request, response = exchange["request"], exchange["response"]
    assert (request["method"], request["path"]) == ("POST", "/v1/chat/completions")
    assert json.loads(request["body"])["messages"][-1] == {"role": "user", "content": "hello"}
    assert (response["status"], response["end"]) == (200, "whole")
    assert response["headers"] == {"content-type": "text/event-stream"}
    text = "".join(piece["text"] for piece in response["pieces"])
    assert text.count("data: ") == 5 and "[DONE]" in text
    assert all(piece["at"] >= 0 for piece in response["pieces"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_neither_key_nor_request_headers_nor_host_are_written(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [FINE], prompts=[f"my key is {SECRET}"])
    raw = path.read_text("utf-8")
    assert SECRET not in raw and MASK in raw
    for word in ("authorization", "bearer", "user-agent"):
        assert word not in raw.lower()
    hidden = tmp_path / "hidden"
    profile = Profile("x", "openai_compatible", "https://models.corp.example/team/v1", SECRET)
    Recorder(str(hidden), profile, "m", (), ignore).close()
    assert lines(hidden)[0]["base_url"] == "https://server.invalid/team/v1"
    Recorder(str(tmp_path / "known"), Profile("x", "openai", "https://api.openai.com/v1"), "m", (), ignore).close()
    assert lines(tmp_path / "known")[0]["base_url"] == "https://api.openai.com/v1"


def test_a_secret_that_is_split_across_pieces_is_masked(bench: Any, tmp_path: Path) -> None:
    whole = event(content(f"the key {SECRET}!"))
    for cut in range(0, len(whole), 5):
        path = tmp_path / f"c{cut}"
        parts: list[Step] = [STREAM_HEAD, chunk(whole[:cut] or b"\n"), chunk(whole[cut:])]
        record(bench, path, [[*parts, chunk(event(finish()) + event("[DONE]")), b"0\r\n\r\n"]])
        text = "".join(piece.get("text", "") for piece in lines(path)[1]["response"]["pieces"])
        assert f"the key {MASK}!" in text and SECRET[:12] not in path.read_text("utf-8"), cut


@pytest.mark.parametrize("hidden", ["fragments", "escapes", "slashes", "quotes"])
def test_a_secret_that_bytes_do_not_show_is_not_written_either(bench: Any, tmp_path: Path, hidden: str) -> None:
    path, secret = tmp_path / "c", "pa/ss\"word'0123456789"
    if hidden == "fragments":
        payloads = [event(content(letter)) for letter in secret]
    elif hidden == "escapes":
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in secret).encode()
        payloads = [event(b'{"choices":[{"delta":{"content":"' + escaped + b'"}}]}')]
    elif hidden == "slashes":
        payloads = [event(json.dumps(content(secret)).replace("/", "\\/"))]
    else:
        payloads = [event(content(json.dumps({"a": secret})))]
    body = b"".join(payloads) + event(finish()) + event("[DONE]")
    record(bench, path, [[STREAM_HEAD + chunk(body) + b"0\r\n\r\n"]], secrets=(secret,))
    response = lines(path)[1]["response"]
    text = "".join(piece.get("text", "") for piece in response["pieces"])
    said = "".join(
        json.loads(line[6:])["choices"][0]["delta"].get("content", "")
        for line in text.splitlines()
        if line.startswith("data: {")
    )
    assert secret not in said and json.dumps(secret)[1:-1] not in said
    assert response.get("withheld", False) == (hidden in ("fragments", "escapes"))
    assert MASK in said or response["withheld"]


def test_a_request_is_written_once(bench: Any, tmp_path: Path) -> None:
    """Each request repeats the history; the file holds only what is new."""
    path = tmp_path / "c"
    prompts = [f"prompt {n} " + "x" * 2000 for n in range(20)]
    record(bench, path, [FINE], prompts)
    assert path.stat().st_size < 20 * 5000
    exchanges = lines(path)[1:]
    assert [exchange["n"] for exchange in exchanges] == list(range(1, 21))
    assert exchanges[0]["request"].get("keep", 0) == 0 and all(e["request"]["keep"] > 100 for e in exchanges[1:])


def test_errors_and_retries_are_recorded_as_they_came(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    busy: list[Step] = [plain(429, {"error": {"message": "slow down"}}, "Retry-After: 7", "X-Secret: no")]
    cut: list[Step] = [begin(content("Hel")), CLOSE]
    (events,) = record(bench, path, [busy, cut])
    assert isinstance(events[-1], Failure) and events[-1].kind == "truncated"
    first, second = (exchange["response"] for exchange in lines(path)[1:])
    assert (first["status"], first["headers"]["retry-after"]) == (429, "7")
    assert "slow down" in first["pieces"][0]["text"] and "x-secret" not in first["headers"]
    assert (second["end"], second["fault"]["kind"]) == ("fault", "Truncated")


def test_a_server_that_is_not_there(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    with RawServer([FINE]) as server:
        url = server.url

    async def run() -> list[ModelEvent]:
        profile = Profile("x", "openai_compatible", f"{url}/v1")
        client = RecordingClient({}, Recorder(str(path), profile, "m", (), ignore))
        provider = open_provider(profile, "m", {}, client=client, retry=bench.retry())
        events = [found async for found in provider.stream(Request("m", Options(), (), (), (User((Text("x"),)),)))]
        await client.close()
        return events

    assert isinstance(last := asyncio.run(run())[-1], Failure) and last.kind == "connect"
    exchanges = lines(path)[1:]
    assert len(exchanges) == 3, "two retries"
    assert {e["response"]["fault"]["kind"] for e in exchanges} == {"ConnectFailed"}
    assert all(e["response"]["fault"]["refused"] for e in exchanges)


def test_a_response_that_the_person_stopped(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"

    async def run(server: RawServer) -> None:
        profile = Profile("x", "openai_compatible", f"{server.url}/v1")
        client = RecordingClient({}, Recorder(str(path), profile, "m", (), ignore))
        provider = open_provider(profile, "m", {}, client=client, retry=bench.retry())
        shown = asyncio.Event()

        async def watch() -> None:
            async for found in provider.stream(Request("m", Options(), (), (), (User((Text("x"),)),))):
                if isinstance(found, TextDelta):
                    shown.set()

        task = asyncio.create_task(watch())
        await asyncio.wait_for(shown.wait(), DEADLINE)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()

    with RawServer([[begin(content("Hel")), CLIENT_GONE]]) as server:
        asyncio.run(run(server))
        assert server.gone.wait(DEADLINE), "recording does not keep the connection"
    (exchange,) = lines(path)[1:]
    assert exchange["response"]["end"] == "left" and "Hel" in exchange["response"]["pieces"][0]["text"]


def test_bytes_that_are_no_text_come_back_as_they_were(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    record(bench, path, [[plain(500, b"\xff\xfe\x00 broken", kind="application/octet-stream")]], limit=0)
    (piece,) = lines(path)[1]["response"]["pieces"]
    assert piece["base64"] == "//4AIGJyb2tlbg=="


def test_nothing_is_overwritten_and_a_bad_path_says_so(tmp_path: Path) -> None:
    profile = Profile("x", "openai", "https://api.openai.com/v1")
    here = tmp_path / "here"
    here.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for path in (here, link, tmp_path / "missing" / "c"):
        with pytest.raises(UsageError) as told:
            Recorder(str(path), profile, "m", (), ignore)
        assert str(path) in told.value.message and "--record" in told.value.fix
    assert here.read_text() == "mine" and not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_the_recording_and_not_the_session(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    path = tmp_path / "c"
    real = os.open

    def full(file: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        return real("/dev/full", os.O_WRONLY) if file == str(path) else real(file, flags, mode, **more)

    monkeypatch.setattr(os, "open", full)
    answers = record(bench, path, [FINE], ["a", "b"], tell=told.append)
    assert [bench.text(events) for events in answers] == ["Hello there"] * 2
    assert len(told) == 1 and str(path) in told[0] and "No space left" in told[0]


def test_of_a_query_only_names_are_kept() -> None:
    masker = ByteMasker((SECRET,))
    assert path_of("https://h/v1/x?key=abc&api-version=2025-01-01", masker) == "/v1/x?key&api-version=2025-01-01"
    assert path_of(f"https://h/{SECRET}/x", masker) == f"/{MASK}/x"
