"""Which model is used, and what a person is told when none can be chosen."""

from __future__ import annotations

import asyncio

import pytest

from agenyx.config.profiles import OPENAI_URL, Profile
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.llm.catalogue import default_model
from agenyx.llm.http import Client
from agenyx.llm.models import choose_model
from support.raw_server import CLOSE, RawServer, Step, plain

KEY = "sk-test-0123456789abcdef"


def choose(url: str, flag: str = "", env: dict[str, str] | None = None, kind: str = "openai_compatible") -> str:
    async def run() -> str:
        client = Client({})
        try:
            return await choose_model(Profile("x", kind, url, KEY), flag, env or {}, client)  # type: ignore[arg-type]
        finally:
            await client.close()

    return asyncio.run(run())


def listing(*names: str) -> bytes:
    return plain(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


def test_the_person_decides_first_and_nothing_is_asked() -> None:
    nowhere = "http://127.0.0.1:1/v1"
    assert choose(nowhere, "flag", {"AGENYX_MODEL": "variable"}) == "flag"
    assert choose(nowhere, "", {"AGENYX_MODEL": " variable "}) == "variable"
    assert choose(OPENAI_URL, kind="openai") == default_model("api.openai.com") == "gpt-5.6-sol"


def choose_from(profile: Profile, flag: str = "", env: dict[str, str] | None = None) -> str:
    async def run() -> str:
        client = Client({})
        try:
            return await choose_model(profile, flag, env or {}, client)
        finally:
            await client.close()

    return asyncio.run(run())


AZURE = Profile("work", "azure_openai", "https://r.example", KEY, "responses", "gpt-5.6-sol", "dep")


def test_the_profile_decides_before_the_catalogue() -> None:
    profile = Profile("x", "openai", OPENAI_URL, KEY, model="mine")
    assert choose_from(profile) == "mine"
    assert choose_from(profile, "flag") == "flag"
    assert choose_from(profile, "", {"AGENYX_MODEL": "variable"}) == "variable"


@pytest.mark.parametrize(("flag", "variable"), [("", ""), ("gpt-5.6-sol", ""), ("", "gpt-5.6-sol")])
def test_azure_has_the_model_of_its_deployment(flag: str, variable: str) -> None:
    assert choose_from(AZURE, flag, {"AGENYX_MODEL": variable}) == "gpt-5.6-sol"


@pytest.mark.parametrize(("flag", "variable"), [("other", ""), ("", "other"), ("GPT-5.6-SOL", "")])
def test_with_azure_another_model_is_refused(flag: str, variable: str) -> None:
    with pytest.raises(UsageError, match=r"deployment of gpt-5\.6-sol") as caught:
        choose_from(AZURE, flag, {"AGENYX_MODEL": variable})
    assert "--provider" in caught.value.fix


@pytest.mark.parametrize(
    ("kind", "wire", "line", "header"),
    [
        ("anthropic", "anthropic", "GET /v1/models?limit=1000 HTTP/1.1", ("x-api-key", KEY)),
        ("openai_compatible", "chat", "GET /v1/models HTTP/1.1", ("authorization", f"Bearer {KEY}")),
        ("openai_compatible", "responses", "GET /v1/models HTTP/1.1", ("authorization", f"Bearer {KEY}")),
    ],
)
def test_each_kind_of_server_is_asked_in_its_way(kind: str, wire: str, line: str, header: tuple[str, str]) -> None:
    with RawServer([[listing("only")]]) as server:
        assert choose_from(Profile("x", kind, f"{server.url}/v1", KEY, wire)) == "only"  # type: ignore[arg-type]
    assert server.requests[0].line == line
    assert server.requests[0].headers[header[0]] == header[1]
    assert ("authorization" in server.requests[0].headers) == (header[0] == "authorization")


@pytest.mark.parametrize(
    ("origin", "kind", "named"),
    [
        ("auth.json", "openai", "auth.json (x)"),
        ("DEEPSEEK_API_KEY", "openai_compatible", "DEEPSEEK_API_KEY"),
        ("ANTHROPIC_API_KEY", "anthropic", "ANTHROPIC_API_KEY"),
        ("", "openai", "OPENAI_API_KEY"),
    ],
)
def test_a_refused_key_is_named_by_where_it_stands(origin: str, kind: str, named: str) -> None:
    with RawServer([[plain(401, {"error": {"message": "no"}})]]) as server, pytest.raises(AgenyxError) as caught:
        choose_from(Profile("x", kind, f"{server.url}/v1", KEY, origin=origin))  # type: ignore[arg-type]
    assert named in caught.value.fix


def test_the_only_model_of_a_server() -> None:
    with RawServer([[listing("only")]]) as server:
        assert choose(server.url + "/v1") == "only"
    seen = server.requests[0]
    assert seen.line == "GET /v1/models HTTP/1.1" and seen.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("body", ['[{"name": "only"}]', '{"models": [{"name": "only"}, {"name": "only"}, {}, 7]}'])
def test_other_shapes_of_a_list(body: str) -> None:
    with RawServer([[plain(200, body)]]) as server:
        assert choose(server.url) == "only"


def test_many_models_are_listed_and_bounded() -> None:
    with (
        RawServer([[listing(*(f"model-{i}-{'x' * 500}" for i in range(1000)))]]) as server,
        pytest.raises(AgenyxError) as caught,
    ):
        choose(server.url)
    assert "model-0-" in caught.value.message and "980 more" in caught.value.message
    assert len(caught.value.message) < 4000 and "--model" in caught.value.fix


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ([listing()], ["no models", "--model"]),
        ([plain(401, {"error": {"message": f"bad key {KEY}"}})], ["401", "OPENAI_API_KEY", "--model"]),
        ([plain(404, b"")], ["404", "--model"]),
        ([plain(302, b"", "Location: https://elsewhere/")], ["redirect", "elsewhere"]),
        ([plain(200, "<html>")], ["list of models"]),
        ([plain(200, '{"data": 7}')], ["list of models"]),
        ([CLOSE], ["listed"]),
    ],
)
def test_a_list_that_cannot_be_had(reply: list[Step], words: list[str]) -> None:
    with RawServer([reply]) as server, pytest.raises(AgenyxError) as caught:
        choose(server.url)
    said = f"{caught.value.message} {caught.value.fix}"
    assert KEY not in said
    for word in words:
        assert word in said


def test_no_server() -> None:
    with pytest.raises(AgenyxError) as caught:
        choose("http://127.0.0.1:1/v1")
    assert caught.value.fix
