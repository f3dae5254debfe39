"""From flags, variables and files to an open model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.facts import effort_kept, output_of, price_of, window_of
from agenyx.app.models import Model, find_profile, open_model
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.events import Notice, Usage
from agenyx.llm.request import Options, Request
from agenyx.proc.spawn import Processes
from support.ollama import ollama
from support.raw_server import RawServer, plain

KEY = "sk-test-0123456789"
AZURE = {
    "id": "work",
    "type": "azure_openai",
    "capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "low"}},
    "azure_openai": {
        "endpoint": "https://r.openai.azure.com",
        "model": "gpt-5.6-sol",
        "deployment": "d",
        "api_key": KEY,
        "api_version": "",
    },
}
SECOND = {"id": "two", "type": "openai", "openai": {"api_key": KEY + "-two", "model": "m"}}


def auth(home: Path, *entries: Any) -> None:
    path = home / "auth.json"
    path.write_text(json.dumps({"version": 2, "providers": entries}), "utf-8")
    path.chmod(0o600)


def install(home: Path) -> None:
    """A model as `agenyx local install` leaves it."""
    folder = home / "models"
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(b"GGUF")
    manifest = {"name": "tiny", "sha256": "0", "size": 4, "source": "", "licence": "", "template": "own", "at": 1.0}
    (folder / "tiny.json").write_text(json.dumps(manifest), "utf-8")


def find(home: Path, provider: str = "", env: dict[str, str] | None = None) -> Profile:
    return asyncio.run(find_profile(provider, "", env or {"OLLAMA_HOST": "elsewhere.example"}, str(home)))


def opened(home: Path, env: dict[str, str] | None = None, **settings: Any) -> Model:
    async def run() -> Model:
        processes = Processes()
        try:
            model = await open_model(Settings(str(home), **settings), env or {}, str(home), processes, None)
            await model.close()
            return model
        finally:
            await processes.close()

    return asyncio.run(run())


def test_a_running_server_is_found_when_nothing_is_configured(tmp_path: Path) -> None:
    install(tmp_path)
    with RawServer([[plain(200, {"version": "0.12.6"})]]) as server:
        found = find(tmp_path, env={"OLLAMA_HOST": f"127.0.0.1:{server.port}"})
        assert (found.id, found.base_url) == ("ollama", f"{server.url}/v1")
        named = find(tmp_path, "ollama", {"OLLAMA_HOST": f"127.0.0.1:{server.port}"})
        assert named.id == "ollama"


def test_a_configured_start_asks_no_server(tmp_path: Path) -> None:
    with RawServer([[plain(200, {"version": "0.12.6"})]]) as server:
        env = {"OPENAI_API_KEY": KEY, "OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        assert find(tmp_path, env=env).id == "openai"
        auth(tmp_path, AZURE)
        assert find(tmp_path, env=env).id == "work"
        assert server.connections == 0


def test_the_embedded_model_comes_last(tmp_path: Path) -> None:
    install(tmp_path)
    assert find(tmp_path, "local").type == "local"
    auth(tmp_path, AZURE, SECOND | {"default": True})
    assert find(tmp_path).id == "two"
    assert find(tmp_path, "local").type == "local"


@pytest.mark.parametrize(
    ("provider", "error", "words"),
    [
        ("local", ConfigError, "agenyx local install"),
        ("ollama", ConfigError, "ollama does not run"),
        ("nothing", UsageError, "ollama, llamacpp, lmstudio, vllm, local"),
        ("work", UsageError, "unknown provider 'work'"),
    ],
)
def test_what_is_not_there_says_what_to_do(provider: str, error: type[AgenyxError], words: str, tmp_path: Path) -> None:
    with pytest.raises(error) as caught:
        find(tmp_path, provider)
    assert words in f"{caught.value.message} {caught.value.fix}"


@pytest.mark.parametrize(
    ("settings", "variable", "effort"),
    [({}, "", "low"), ({}, "high", "high"), ({"effort": "low"}, "high", "low"), ({"effort": "high"}, "", "high")],
)
def test_the_effort_is_in_the_options(settings: dict[str, str], variable: str, effort: str, tmp_path: Path) -> None:
    auth(tmp_path, AZURE)
    model = opened(tmp_path, {"AGENYX_REASONING_EFFORT": variable}, **settings)
    assert model.options.effort == effort
    assert model.name == "gpt-5.6-sol" and model.reopen is None


def test_an_effort_that_the_catalogue_rules_out_fails_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'none'"):
        opened(tmp_path, {"OPENAI_API_KEY": KEY}, model="gpt-6.1-sol", effort="none")
    assert opened(tmp_path, {"OPENAI_API_KEY": KEY}, model="gpt-5.6-sol", effort="none").options.effort == "none"
    assert opened(tmp_path, {"OPENAI_API_KEY": KEY}, model="never-heard-of", effort="none").options.effort == "none"


def test_with_azure_the_model_can_only_be_asserted(tmp_path: Path) -> None:
    auth(tmp_path, AZURE)
    assert opened(tmp_path, model="gpt-5.6-sol").name == "gpt-5.6-sol"
    with pytest.raises(UsageError, match="not of other"):
        opened(tmp_path, model="other")


def test_another_type_takes_another_model(tmp_path: Path) -> None:
    auth(tmp_path, SECOND)
    assert opened(tmp_path).name == "m"
    assert opened(tmp_path, model="n").name == "n"


def test_what_a_response_costs(tmp_path: Path) -> None:
    usage = Usage(fresh=1_000_000)
    assert price_of(Profile("o", "openai", "https://api.openai.com/v1"), "gpt-6.1-sol", "")(usage) == 4.0
    assert price_of(Profile("l", "local", "http://127.0.0.1"), "any", "")(usage) == 0.0
    box = price_of(Profile("b", "openai_compatible", "https://box.example/v1"), "m", str(tmp_path))
    assert box(usage) is None
    own = '{"hosts": {"box.example": {"models": {"m": {"price": {"in": 3, "out": 4}}}}}}'
    (tmp_path / "catalogue.json").write_text(own, "utf-8")
    assert box(usage) is None, "it was read with the first response, once"
    again = price_of(Profile("b", "openai_compatible", "https://box.example/v1"), "m", str(tmp_path))
    assert again(usage) == 3.0


def test_the_keys_of_the_siblings_are_masked_too(tmp_path: Path) -> None:
    auth(tmp_path, AZURE, SECOND)
    model = opened(tmp_path, {"GROQ_API_KEY": "groq-0123456789"}, provider="two")
    assert set(model.secrets) == {KEY, KEY + "-two", "groq-0123456789"}


OPENAI = Profile("o", "openai", "https://api.openai.com/v1")
BOX = Profile("b", "openai_compatible", "https://box.example/v1")


def own_catalogue(home: Path, **model: Any) -> None:
    hosts = {"box.example": {"models": {"m": model}}, "127.0.0.1": {"models": {"m": model}}}
    (home / "catalogue.json").write_text(json.dumps({"hosts": hosts}), "utf-8")


def test_the_most_output_is_asked_for_where_it_is_known(tmp_path: Path) -> None:
    assert output_of(OPENAI, "gpt-5.6-sol", "") == 128_000
    assert output_of(OPENAI, "never-heard-of", "") is None
    assert output_of(BOX, "m", str(tmp_path)) is None
    own_catalogue(tmp_path, output=8192)
    assert output_of(BOX, "m", str(tmp_path)) == 8192
    assert output_of(Profile("x", "openai_compatible", "http://127.0.0.1:5/v1"), "m", str(tmp_path)) == 8192
    own_catalogue(tmp_path, output=8192, window=8192)
    assert output_of(BOX, "m", str(tmp_path)) == 4096, "the other half is for what is sent"


def test_azure_is_known_by_its_model_but_not_its_price() -> None:
    azure = Profile("a", "azure_openai", "https://r.openai.azure.com", wire="responses", model="gpt-5.6-sol")
    assert (output_of(azure, "gpt-5.6-sol", ""), window_of(azure, "gpt-5.6-sol", "")) == (128_000, 1_050_000)
    assert price_of(azure, "gpt-5.6-sol", "")(Usage(fresh=1)) is None


@pytest.mark.parametrize(
    ("name", "wire", "member"),
    [
        ("api.openai.com", "chat", "max_completion_tokens"),
        ("", "chat", "max_tokens"),
        ("", "responses", "max_output_tokens"),
    ],
)
def test_every_wire_has_its_field_for_it(name: str, wire: Any, member: str) -> None:
    from agenyx.llm.provider import adapter_of

    profile = Profile("x", "openai_compatible", f"https://{name or 'box.example'}/v1", wire=wire)
    encoder = adapter_of(profile, "b").encoder
    assert json.loads(encoder.encode(Request("m", Options(max_output=4096), (), (), ())))[member] == 4096
    assert not {"max_tokens", "max_completion_tokens", "max_output_tokens"} & set(
        json.loads(encoder.encode(Request("m", Options(), (), (), ())))
    )


def test_another_model_of_the_server_gets_its_own_options(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": KEY}
    model = opened(tmp_path, env, model="gpt-5.6-sol", effort="none")
    assert model.options == Options(max_output=128_000, effort="none")
    assert model.reopen is not None
    model.reopen("gpt-6.1-sol")  # takes no "none"
    assert model.options == Options(max_output=128_000)
    model.reopen("never-heard-of")
    assert model.options == Options()


def test_an_effort_goes_along_only_to_a_model_that_takes_it() -> None:
    assert effort_kept(OPENAI, "gpt-5.6-sol", "none", "") == "none"
    assert effort_kept(OPENAI, "gpt-6.1-sol", "none", "") == ""
    assert effort_kept(Profile("l", "local", "http://127.0.0.1"), "any", "high", "") == ""
    declared = Profile("d", "openai", "https://x.example/v1", efforts=("low",), default_effort="low", declares=True)
    assert (effort_kept(declared, "m", "max", ""), effort_kept(declared, "m", "", "")) == ("low", "")


def test_ollama_is_asked_for_its_window_before_the_first_request(tmp_path: Path) -> None:
    async def run(url: str) -> tuple[Model, list[Notice]]:
        processes = Processes()
        try:
            settings = Settings(str(tmp_path), provider="ollama", model="qwen3:8b")
            model = await open_model(settings, {"OLLAMA_HOST": url}, str(tmp_path), processes, None)
            assert model.prepare is not None and model.reopen is not None
            request = Request(model.name, model.options, (), (), ())
            told = [await model.prepare(request)]
            model.reopen("other")
            server.parameters = "num_ctx 32768"
            told.append(await model.prepare(request))
            await model.close()
            return model, told
        finally:
            await processes.close()

    with ollama() as server:
        model, (first, second) = asyncio.run(run(server.url))
    assert (first.level, second.level) == ("warning", "info")
    assert model.windows == {"qwen3:8b": 4096, "other": 32_768}


def test_other_servers_are_not_asked(tmp_path: Path) -> None:
    with RawServer([[plain(200, {})]]) as server:
        model = opened(tmp_path, {"OPENAI_BASE_URL": f"{server.url}/v1"}, model="m")
        assert model.prepare is None and server.connections == 0


def recorded(tmp_path: Path, url: str, **settings: Any) -> Model:
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"}
    return opened(tmp_path, env, record=str(tmp_path / "c"), **settings)


def test_a_recording_begins_with_the_list_of_models(tmp_path: Path) -> None:
    with RawServer([[plain(200, {"data": [{"id": "only"}]})]]) as server:
        assert recorded(tmp_path, server.url).name == "only"
    head, exchange = [json.loads(line) for line in (tmp_path / "c").read_text("utf-8").splitlines()]
    assert head["model"] == "only" and exchange["n"] == 1
    assert (exchange["request"]["method"], exchange["request"]["path"]) == ("GET", "/v1/models")
    assert KEY not in (tmp_path / "c").read_text("utf-8")
    assert opened(tmp_path, replay=str(tmp_path / "c")).name == "only"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (plain(200, {"data": [{"id": "a"}, {"id": "b"}]}), "offers 2 models and none was chosen: a, b"),
        (plain(401, {"error": {"message": "Incorrect API key."}}), "answered 401"),
    ],
)
def test_a_list_that_led_to_no_model_can_be_replayed(reply: bytes, words: str, tmp_path: Path) -> None:
    with RawServer([[reply]]) as server, pytest.raises(AgenyxError, match=words):
        recorded(tmp_path, server.url)
    with pytest.raises(AgenyxError, match=words):
        opened(tmp_path, replay=str(tmp_path / "c"))


@pytest.mark.parametrize(
    ("name", "size"), [("", "full"), ("full", "full"), ("default", "full"), ("core", "core"), ("small", "small")]
)
def test_the_set_of_tools_that_was_chosen(name: str, size: str, tmp_path: Path) -> None:
    assert opened(tmp_path, {"OPENAI_API_KEY": KEY}, model="m", tool_set=name).size == size
