"""Which model is used, and what a person is told when none can be chosen."""

from __future__ import annotations

import asyncio

import pytest

from agenyx.config.profiles import OPENAI_URL, Profile
from agenyx.core.errors import AgenyxError
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
