"""From flags, variables and files to an open model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.models import Model, find_profile, open_model, price_of
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.events import Usage
from agenyx.proc.spawn import Processes
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
