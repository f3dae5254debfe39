"""Images in whole sessions: how they get in, that a later process sends the same bytes, and what a refusal costs."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.policies import Chosen
from agenyx.app.sight import attached, sees_of
from agenyx.config.profiles import ANTHROPIC_URL, OPENAI_URL, Profile
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Failure, ModelEvent, PrefixBroke, Usage
from agenyx.core.messages import Media, Step, Text, User
from agenyx.llm.request import Request
from agenyx.policy.decide import Policy
from support import wires
from support.conversation import open_scripted
from support.mcp_place import McpPlace, fake, tools
from support.mock import agenyx, command_env
from support.pictures import JPEG, PDF, PNG, png
from support.raw_server import STREAM_HEAD, chunk, content, finish, plain, stream
from support.scripted import Scripted, call, calls, say

SEES = Chosen(Policy("bypassPermissions", True), images="yes")


def url(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


# --- what a model sees -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "model", "sees"),
    [
        (Profile("a", "openai", OPENAI_URL), "gpt-5.6-sol", ("images",)),
        (Profile("a", "openai", OPENAI_URL, wire="responses"), "gpt-5.6-sol", ("images", "documents")),
        (Profile("a", "openai", OPENAI_URL, wire="responses"), "unheard-of", ("images", "documents")),
        (Profile("a", "azure_openai", "https://x.openai.azure.com", wire="responses"), "m", ("images", "documents")),
        (Profile("a", "anthropic", ANTHROPIC_URL, wire="anthropic"), "claude-new", ("images", "documents")),
        (Profile("a", "anthropic", "http://127.0.0.1:1/v1", wire="anthropic"), "m", ()),
        (Profile("a", "openai_compatible", "https://api.deepseek.com"), "deepseek-v4-pro", ()),
        (Profile("a", "openai_compatible", "https://api.deepseek.com"), "deepseek-flash", ("images",)),
        (Profile("a", "openai_compatible", "https://box.example/v1"), "m", ()),
        (Profile("a", "openai", "http://localhost:1/v1"), "m", ()),
        (Profile("local", "local", "http://127.0.0.1:1"), "m", ()),
    ],
)
def test_the_catalogue_and_the_kind_of_server_say_what_a_model_sees(
    profile: Profile, model: str, sees: Any, tmp_path: Path
) -> None:
    assert sees_of(profile, model, str(tmp_path)) == sees_of(profile, model, str(tmp_path), "auto") == sees
    assert sees_of(profile, model, str(tmp_path), "no") == ()
    if profile.type != "local":
        assert "images" in sees_of(profile, model, str(tmp_path), "yes")


def test_the_persons_own_catalogue_counts_also_for_a_server_of_this_machine(tmp_path: Path) -> None:
    own = {"hosts": {"localhost": {"models": {"llava": {"abilities": ["images"]}}}}}
    (tmp_path / "catalogue.json").write_text(json.dumps(own))
    profile = Profile("a", "openai_compatible", "http://localhost:1/v1")
    assert sees_of(profile, "llava", str(tmp_path)) == ("images",)
    assert sees_of(profile, "other", str(tmp_path)) == ()


# --- whole runs of the program ---------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Iterator[McpPlace]:
    with McpPlace(tmp_path) as made:
        (made.work / "shot.png").write_bytes(PNG)
        (made.work / "an, odd name.jpg").write_bytes(JPEG)
        yield made


def setting(place: McpPlace, images: str) -> None:
    (place.home / "settings.toml").write_text(f'images = "{images}"\n')
    (place.home / "settings.toml").chmod(0o600)


def run(place: McpPlace, *argv: str, **extra: Any) -> subprocess.CompletedProcess[str]:
    done = place.run(*argv, **extra)
    assert done.returncode == 0, done.stderr
    return done


def test_images_of_the_person_and_of_read_reach_the_model_and_a_later_process_sends_the_same_bytes(
    place: McpPlace,
) -> None:
    setting(place, "yes")
    read = tools(("Read", {"file_path": "an, odd name.jpg"}))
    run(place, "what is this", "--image", "shot.png", "--image", "an, odd name.jpg", script=[read])
    first, second = place.bodies
    typed = place.seen[0]["messages"][-1]["content"]
    assert typed == [
        {"type": "text", "text": "what is this"},
        {"type": "text", "text": "[image: shot.png]"},
        {"type": "image_url", "image_url": {"url": url(PNG)}},
        {"type": "text", "text": "[image: an, odd name.jpg]"},
        {"type": "image_url", "image_url": {"url": url(JPEG, "image/jpeg")}},
    ]
    *_, result, below = place.seen[1]["messages"]
    assert result["role"] == "tool" and "image/jpeg" in result["content"] and "see below" in result["content"]
    assert below["role"] == "user" and below["content"][1]["image_url"]["url"] == url(JPEG, "image/jpeg")
    (place.work / "shot.png").unlink()
    (place.work / "an, odd name.jpg").write_bytes(PNG)
    run(place, "--continue", "and now?")
    (third,) = place.bodies
    assert second.startswith(first[:-2]) and third.startswith(second[:-2])
    run(place, "--continue", "--fork-session", "and in a copy?")
    assert place.bodies[0].startswith(third[:-2]), "a fork has them too"
    folders = [set(os.listdir(folder)) for folder in place.home.glob("sessions/*/*/media")]
    assert len(folders) == 2 and folders[0] == folders[1] and len(folders[0]) == 2
    assert b"base64" not in b"".join(p.read_bytes() for p in place.home.glob("sessions/*/*/transcript.jsonl"))


def test_a_session_in_memory_has_them_and_leaves_nothing(place: McpPlace) -> None:
    setting(place, "yes")
    read = tools(("Read", {"file_path": "shot.png"}))
    run(place, "look", "--no-session-persistence", "--image", "shot.png", script=[read], TMPDIR=str(place.top))
    assert place.bodies[-1].count(url(PNG).encode()) == 2
    assert not list(place.home.glob("sessions/*/*/media")) and not list(place.top.glob("agenyx-*"))


def test_a_model_that_cannot_see_is_told_in_words_and_the_person_before_anything_is_sent(place: McpPlace) -> None:
    done = place.run("what is this", "--image", "shot.png")
    assert done.returncode != 0 and "m cannot see images" in done.stderr and "config set images yes" in done.stderr
    assert place.bodies == []
    run(place, "go", script=[tools(("Read", {"file_path": "shot.png"}))])
    assert place.results() == ["shot.png is a PNG image and cannot be shown to you. This model cannot see images."]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "none of PNG, JPEG, GIF, WebP and PDF"),
        ("a.svg", b"<svg/>", "none of PNG"),
        ("a.jpg", JPEG[:200], "cut off"),
        ("a.png", png(30_000, 30_000), "30,000 x 30,000"),
        ("a.png", None, "cannot be read"),
        ("a.pdf", PDF, "documents"),
    ],
)
def test_a_file_that_is_no_image_to_show_ends_the_run_before_the_request(
    place: McpPlace, name: str, data: bytes | None, why: str
) -> None:
    setting(place, "yes")
    if data is not None:
        (place.work / name).write_bytes(data)
    done = place.run("what is this", "--image", name)
    assert done.returncode != 0 and name in done.stderr and why in done.stderr and place.bodies == []


def test_a_refused_image_does_not_end_the_session(place: McpPlace) -> None:
    setting(place, "yes")
    refused = [plain(400, b'{"error":{"message":"Invalid image: could not process it","code":"invalid_image"}}')]
    read, said = tools(("Read", {"file_path": "shot.png"})), [stream(content("I see."), finish())]
    done = run(place, "look", "--image", "an, odd name.jpg", script=[read, refused, said])
    assert done.stdout == "I see.\n"
    _, sent, again = place.bodies
    jpeg, shot = url(JPEG, "image/jpeg").encode(), url(PNG).encode()
    assert sent.count(jpeg) == again.count(jpeg) == 1, "an earlier response has answered that one"
    assert sent.count(shot) == 1 and shot not in again and b"server refused it" in again
    run(place, "--continue", "more")
    assert place.bodies[0].startswith(again[:-2]) and shot not in place.bodies[0]
    assert any(body["kind"] == "unseen" for body in place.transcript())


def test_another_refusal_ends_the_turn_as_ever(place: McpPlace) -> None:
    setting(place, "yes")
    refused = [plain(400, b'{"error":{"message":"the temperature is too high"}}')]
    done = place.run("look", "--image", "shot.png", script=[refused])
    assert done.returncode != 0 and "temperature" in done.stderr and len(place.bodies) == 1


def test_a_subagent_sees_too(place: McpPlace) -> None:
    setting(place, "yes")
    task = tools(("Task", {"description": "look at shot.png"}))
    read = tools(("Read", {"file_path": "shot.png"}))
    run(place, "go", script=[task, read, [stream(content("It is red."), finish())]])
    parent, _child, child, last = place.seen
    assert child["messages"][-1]["content"][1]["image_url"]["url"] == url(PNG)
    assert "image_url" not in str(parent) + str(last) and "It is red." in str(last)


def test_a_command_of_a_file_takes_images_along(place: McpPlace) -> None:
    setting(place, "yes")
    (place.home / "commands").mkdir()
    (place.home / "commands" / "look.md").write_text("Look at @shot.png and say $1.\n")
    run(place, "/look why")
    said = place.seen[0]["messages"][-1]["content"]
    assert [part["type"] for part in said] == ["text", "image_url"] and said[1]["image_url"]["url"] == url(PNG)
    assert said[0]["text"].startswith("Look at @shot.png and say why.") and "shot.png: image/png" in said[0]["text"]


@pytest.mark.parametrize("wire", ["anthropic", "responses"])
def test_the_other_wires_in_whole_runs(place: McpPlace, wire: str) -> None:
    setting(place, "yes")
    (place.work / "paper.pdf").write_bytes(PDF)
    if wire == "anthropic":
        events = [wires.opened(), *wires.text_block(0, "I see."), *wires.closed()]
    else:
        events = wires.response(wires.message("I see."))
    answer = STREAM_HEAD + b"".join(chunk(wires.named(event)) for event in events) + b"0\r\n\r\n"
    server = place.play([answer])
    kind = "anthropic" if wire == "anthropic" else "openai"
    entry = {"id": "x", "type": kind, kind: {"base_url": f"{server}/v1", "api_key": "k" * 20, "model": "m"}}
    if wire == "responses":
        entry[kind]["wire"] = "responses"  # type: ignore[index]
    (place.home / "auth.json").write_text(json.dumps({"version": 2, "providers": [entry]}))
    (place.home / "auth.json").chmod(0o600)
    done = agenyx(
        "-p", "look", "--image", "shot.png", "--image", "paper.pdf", cwd=place.work, env=command_env(place.top)
    )
    assert done.stdout == "I see.\n", done.stderr
    place.took()
    said = place.seen[0]["messages" if wire == "anthropic" else "input"][-1]["content"]
    kinds = ["image", "document"] if wire == "anthropic" else ["input_image", "input_file"]
    assert [part["type"] for part in said if "text" not in part["type"]] == kinds
    assert base64.b64encode(PNG) in place.bodies[0] and base64.b64encode(PDF) in place.bodies[0]


def test_images_of_mcp_servers_reach_the_model(place: McpPlace) -> None:
    setting(place, "yes")
    shown = {"type": "image", "mimeType": "image/x", "data": base64.b64encode(PNG).decode()}
    svg = {"type": "image", "mimeType": "image/svg+xml", "data": base64.b64encode(b"<svg/>").decode()}
    place.mine(fake=fake())
    script = [tools(("mcp__fake__content", {"content": [shown, svg]}))]
    run(place, "--allowed-tools", "mcp__fake", "go", script=script)
    *_, result, below = place.seen[-1]["messages"]
    assert "svg+xml" in result["content"] and "cannot be shown" in result["content"]
    assert [part["type"] for part in below["content"]] == ["text", "image_url"]
    assert below["content"][1]["image_url"]["url"] == url(PNG)


# --- in one process --------------------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "shot.png").write_bytes(PNG)
    return folder


def test_a_host_may_hand_in_a_message_with_images(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        provider = Scripted([say("seen")])
        conversation, session = open_scripted(provider, tmp_path / "home", work, chosen=SEES)
        media = session.keep(PNG, "shot.png", ("images",))
        assert isinstance(media, Media)
        await conversation.prompt(User((Text("look"), media)))
        (request,) = provider.requests
        assert request.sees == ("images",) and request.media(media) == PNG
        assert isinstance(request.entries[-1], User) and media in request.entries[-1].blocks
        with pytest.raises(UsageError, match="at most 8"):
            attached(conversation, "x", ["shot.png"] * 9)
        await conversation.close()

    asyncio.run(scenario())


def test_when_the_setting_changes_a_resumed_session_says_so_on_record(work: Path, tmp_path: Path) -> None:
    async def turn(chosen: Chosen, *script: Any) -> tuple[Any, list[Any]]:
        events: list[AgentEvent] = []
        provider = Scripted(script)
        conversation, session = open_scripted(provider, tmp_path / "home", work, chosen=chosen, events=events)
        await conversation.prompt("go")
        await conversation.close()
        return session.state, [event.body for event in events if isinstance(event.body, PrefixBroke)]

    look = calls(call("Read", file_path="shot.png"))
    state, broke = asyncio.run(turn(SEES, look, say("seen")))
    assert state.binding.sees == ("images",) and broke == []
    blind = Chosen(Policy("bypassPermissions", True), images="no")
    state, broke = asyncio.run(turn(blind, look, say("seen"), say("on")))
    assert state.binding.sees == () and state.breaks == {"what the model can be shown changed": 1} and broke == []
    state, broke = asyncio.run(turn(blind, look, say("seen"), say("on"), say("still")))
    assert state.breaks == {"what the model can be shown changed": 1}


def test_a_refusal_that_never_ends_ends_the_turn(work: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        failure = Failure("invalid", "the server answered 400: image input is not supported")
        provider = Scripted([calls(call("Read", file_path="shot.png")), failure])
        conversation, session = open_scripted(provider, tmp_path / "home", work, chosen=SEES)
        finished = await conversation.prompt("look")
        assert finished.outcome.kind == "failed" and len(provider.requests) == 3
        assert not any(isinstance(block, Media) for e in session.state.view.entries for block in _blocks(e))
        await conversation.close()

    asyncio.run(scenario())


def _blocks(entry: Any) -> list[Any]:
    return [b for r in entry.results for b in r.content] if isinstance(entry, Step) else list(entry.blocks)


def test_old_images_are_taken_out_to_make_room_and_named(work: Path, tmp_path: Path) -> None:
    class Counting(Scripted):
        """A server that counts what images take."""

        async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
            held = sum(isinstance(block, Media) for entry in request.entries for block in _blocks(entry))
            async for event in super().stream(request):
                yield Usage(fresh=8_000 + 2_700 * held, out=5) if isinstance(event, Usage) else event

    async def scenario() -> None:
        look = [calls(call("Read", file_path="shot.png", offset=n)) for n in range(1, 13)]
        provider = Counting([*look, say("seen")])
        conversation, session = open_scripted(
            provider, tmp_path / "home", work, chosen=SEES, windows={"scripted-model": 40_000}
        )
        await conversation.prompt("look")
        held = [sum(isinstance(b, Media) for e in r.entries for b in _blocks(e)) for r in provider.requests]
        assert max(held) < 12 and any(after < before for before, after in pairwise(held)), held
        said = [b.text for e in session.state.view.entries for b in _blocks(e) if isinstance(b, Text)]
        assert any("taken out to make room: 'shot.png'" in text for text in said)
        await conversation.close()

    asyncio.run(scenario())
