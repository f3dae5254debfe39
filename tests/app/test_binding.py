"""Which model server a session may go on with: type, model, endpoint, deployment, selector and key, however resumed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.config.auth import load as load_auth
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.core.events import AgentEvent, Notice
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, User
from agenyx.llm.request import Options
from agenyx.session import load
from agenyx.session.records import Binding, Finished, Opened, Outcome, Prefix, Prompt, Response
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import FileStore
from support.mock import Mock, agenyx, command_env, mock_server
from support.parts import Answers, CountingIds

KEY = "sk-test-0123456789abcdef"


def openai(
    id: str = "work", *, url: str = "https://one.example/v1", key: str = KEY, model: str = "m"
) -> dict[str, Any]:
    return {
        "id": id,
        "type": "openai_compatible",
        "openai_compatible": {"base_url": url, "api_key": key, "model": model},
    }


def anthropic(id: str = "work", *, key: str = KEY, model: str = "m") -> dict[str, Any]:
    return {"id": id, "type": "anthropic", "anthropic": {"api_key": key, "model": model}}


def azure(id: str = "work", *, deployment: str = "d", key: str = KEY) -> dict[str, Any]:
    own = {"endpoint": "https://r.openai.azure.com", "model": "gpt-5.6-sol", "deployment": deployment, "api_key": key}
    reasoning = {"efforts": ["low", "high"], "default_effort": "low"}
    return {
        "id": id,
        "type": "azure_openai",
        "capabilities": {"reasoning": reasoning},
        "azure_openai": {**own, "api_version": ""},
    }


def configure(home: Path, *entries: Any) -> None:
    home.mkdir(exist_ok=True)
    path = home / "auth.json"
    path.write_text(json.dumps({"version": 2, "providers": entries}), "utf-8")
    path.chmod(0o600)


class Place:
    """A home and a workspace with one session, held with the provider that was configured first."""

    def __init__(self, top: Path, entry: dict[str, Any]) -> None:
        self.home, self.work = top / "home", top / "work"
        self.work.mkdir()
        configure(self.home, entry)
        profiles = load_auth(str(self.home))
        assert profiles is not None
        (profile,) = profiles
        self.model = profile.model
        self.binding = Binding(profile.id, profile.fingerprint(profile.model), profile.model)
        directory = os.path.join(load.sessions_of(str(self.home), str(self.work)), "held")
        session = Session("held", FileStore(directory), State(), directory, CountingIds(), lambda: 1.0)
        thought = Reasoning("hm", Opaque(self.binding.fingerprint, "any", '{"secret":"state"}'))
        session.append(
            Opened("held", os.path.realpath(self.work), "1"),
            self.binding,
            Prefix("h", Options(), ("sys",), ()),
            Prompt(User((Text("one"),), "typed")),
            Response(Assistant((thought, Text("answer")), "end", binding=self.binding.fingerprint)),
            Finished(Outcome("done")),
            turn="t1",
        )
        session.close()

    def open(self, how: str, **settings: Any) -> Conversation:
        chosen = {
            "continue": {"continue_": True},
            "resume": {"resume": "held"},
            "fork": {"resume": "held", "fork": True},
        }
        events: list[AgentEvent] = []

        async def run() -> Conversation:
            async def barrier() -> None:
                pass

            made = Settings(str(self.work), bare=True, **{**chosen[how], **settings})
            env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "AGENYX_HOME": str(self.home)}
            talk = await open_conversation(made, env, events.append, Answers(), barrier)
            await talk.close()
            return talk

        talk = asyncio.run(run())
        assert not [event.body for event in events if isinstance(event.body, Notice) and event.body.level == "warning"]
        return talk


HOW = ("continue", "resume", "fork")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("before", "now"),
    [
        (openai(), [openai(key="sk-another-0123456789")]),
        (anthropic(), [anthropic(key="sk-another-0123456789")]),
        (azure(), [azure(key="another-0123456789")]),
        (openai(), [openai("renamed")]),
        (openai(), [openai(), anthropic("other")]),
    ],
    ids=["key", "key of anthropic", "key of azure", "renamed", "one more"],
)
def test_it_goes_on_with_the_same_server(
    tmp_path: Path, how: str, before: dict[str, Any], now: list[dict[str, Any]]
) -> None:
    place = Place(tmp_path, before)
    configure(place.home, *now)
    talk = place.open(how, provider=now[0]["id"] if len(now) > 1 else "")
    assert talk.model == place.model


@pytest.mark.parametrize("how", HOW)
def test_another_model_of_the_same_server_is_a_choice(tmp_path: Path, how: str) -> None:
    place = Place(tmp_path, openai())
    configure(place.home, openai(model="newer-default"))
    assert place.open(how).model == "m", "the model of the session is kept"
    assert place.open(how, model="other").model == "other"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("before", "now", "chosen", "remedy"),
    [
        (openai(), [anthropic("other")], "", "Use --provider work, as it was set up then; or add --rebind"),
        (openai(), [anthropic("other"), openai()], "other", "Use --provider work; or add --rebind"),
        (openai(), [anthropic()], "", "Set back auth.json (work); or add --rebind"),
        (openai(), [openai(url="https://two.example/v1")], "", "Set back auth.json (work); or add --rebind"),
        (openai(), [openai(url="https://two.example/v1"), openai("old")], "work", "Use --provider old; or add"),
        (azure(), [azure(deployment="e")], "", "Set back auth.json (work); or add --rebind"),
        (openai(), [openai(), openai("second")], "second", "Use --provider work; or add --rebind"),
    ],
    ids=["type", "type, both there", "type by the same name", "endpoint", "endpoint moved", "deployment", "selector"],
)
def test_another_server_is_refused_with_the_remedy(
    tmp_path: Path, how: str, before: dict[str, Any], now: list[dict[str, Any]], chosen: str, remedy: str
) -> None:
    place = Place(tmp_path, before)
    configure(place.home, *now)
    with pytest.raises(ConfigError) as caught:
        place.open(how, provider=chosen)
    assert "this session was held with" in caught.value.message
    assert caught.value.fix.startswith(remedy)
    talk = place.open(how, provider=chosen, rebind=True)
    assert talk.model in ("m", "gpt-5.6-sol")


def test_a_refused_session_is_not_left_locked(tmp_path: Path) -> None:
    place = Place(tmp_path, openai())
    configure(place.home, anthropic("other"))
    with pytest.raises(AgenyxError):
        place.open("resume")
    configure(place.home, openai())
    place.open("resume")


# --- on the wire -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def test_rebinding_goes_on_without_the_state_of_the_other_server_and_says_so(mock: Mock, tmp_path: Path) -> None:
    """From a server that thinks in secret to another type of server; then back is another rebinding."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("content of a\n", "utf-8")
    keys = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{mock.url}/v1"}
    keys |= {"ANTHROPIC_API_KEY": "a" * 20, "ANTHROPIC_BASE_URL": mock.url, "AGENYX_MODEL": "m"}
    env = command_env(tmp_path, **keys)
    mock.reset("hello", keep_bodies=True)
    first = agenyx("-p", "--provider", "openai", "one", cwd=work, env=env)
    assert first.returncode == 0, first.stderr
    refused = agenyx("-p", "-c", "--provider", "anthropic", "two", cwd=work, env=env)
    assert refused.returncode == 1
    assert "held with the provider openai, and anthropic is another one" in refused.stderr
    assert "--provider openai; or add --rebind" in refused.stderr
    assert len(mock.log()) == 1, "nothing was sent"
    moved = agenyx("-p", "-c", "--provider", "anthropic", "--rebind", "two", cwd=work, env=env)
    assert moved.returncode == 0, moved.stderr
    body = json.loads(mock.bodies()[-1])
    texts = [block["text"] for message in body["messages"] for block in message["content"] if block["type"] == "text"]
    assert texts[1:4] == ["one", "BENCH-DONE", "two"]
    (transcript,) = tmp_path.rglob("transcript.jsonl")
    bindings = [
        json.loads(line)["body"] for line in transcript.read_bytes().splitlines() if b'"kind":"binding"' in line
    ]
    assert [(b["profile"], b["rebound"]) for b in bindings] == [("openai", False), ("anthropic", True)]
    again = agenyx("-p", "-c", "--provider", "anthropic", "three", cwd=work, env=env)
    assert again.returncode == 0, again.stderr
    shown = agenyx("-p", "--output-format", "json", "-c", "--provider", "openai", "--rebind", "four", cwd=work, env=env)
    assert shown.returncode == 0, shown.stderr


def test_rebind_and_fork_need_a_session(tmp_path: Path) -> None:
    for flag in ("--rebind", "--fork-session"):
        done = agenyx("-p", flag, "x", cwd=tmp_path, env=command_env(tmp_path))
        assert done.returncode == 2
        assert f"{flag} needs --continue or --resume" in done.stderr
