"""auth.json, else the environment: which provider a set of variables, flags and files gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenyx.config.configured import configured, everything, has_auth, keys
from agenyx.core.errors import AgenyxError, ConfigError, UsageError

KEY = "sk-test-0123456789"
AZURE = {
    "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/openai/v1/",
    "AZURE_OPENAI_API_KEY": KEY,
    "AZURE_OPENAI_DEPLOYMENT": "dep",
}


def auth(home: Path, *names: str, text: str = "") -> None:
    entries = [{"id": name, "type": "openai", "openai": {"api_key": f"{KEY}-{name}"}} for name in names]
    path = home / "auth.json"
    path.write_text(text or json.dumps({"version": 2, "providers": entries}))
    path.chmod(0o600)


@pytest.mark.parametrize(
    ("env", "provider", "facts"),
    [
        ({"OPENAI_API_KEY": KEY}, "", ("openai", "openai", "chat", "https://api.openai.com/v1")),
        (
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://h.example/v1"},
            "",
            ("openai", "openai_compatible", "chat", "https://h.example/v1"),
        ),
        (
            {"OPENAI_BASE_URL": "http://localhost:9/v1"},
            "",
            ("openai", "openai_compatible", "chat", "http://localhost:9/v1"),
        ),
        ({"ANTHROPIC_API_KEY": KEY}, "", ("anthropic", "anthropic", "anthropic", "https://api.anthropic.com/v1")),
        (
            {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "https://h.example"},
            "",
            ("anthropic", "anthropic", "anthropic", "https://h.example/v1"),
        ),
        (AZURE, "", ("azure", "azure_openai", "responses", "https://r.openai.azure.com")),
        (
            {"OPENROUTER_API_KEY": KEY},
            "",
            ("openrouter", "openai_compatible", "chat", "https://openrouter.ai/api/v1"),
        ),
        ({"DEEPSEEK_API_KEY": KEY}, "", ("deepseek", "openai_compatible", "chat", "https://api.deepseek.com")),
        ({"MOONSHOT_API_KEY": KEY}, "", ("moonshot", "openai_compatible", "chat", "https://api.moonshot.ai/v1")),
        ({"MISTRAL_API_KEY": KEY}, "", ("mistral", "openai_compatible", "chat", "https://api.mistral.ai/v1")),
        ({"GROQ_API_KEY": KEY}, "", ("groq", "openai_compatible", "chat", "https://api.groq.com/openai/v1")),
        (
            {"GROQ_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY},
            "",
            ("anthropic", "anthropic", "anthropic", "https://api.anthropic.com/v1"),
        ),
        (
            {"GROQ_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY},
            "groq",
            ("groq", "openai_compatible", "chat", "https://api.groq.com/openai/v1"),
        ),
        (
            {"OPENAI_API_KEY": "  ", "ANTHROPIC_API_KEY": KEY},
            "",
            ("anthropic", "anthropic", "anthropic", "https://api.anthropic.com/v1"),
        ),
    ],
)
def test_the_environment(env: dict[str, str], provider: str, facts: tuple[str, str, str, str], tmp_path: Path) -> None:
    found = configured(env, str(tmp_path), provider, "")
    assert found is not None
    assert (found.id, found.type, found.wire, found.base_url) == facts


def test_azure_variables_in_full(tmp_path: Path) -> None:
    env = AZURE | {"AZURE_OPENAI_API_VERSION": "2026-01-01", "AZURE_OPENAI_MODEL": "gpt-5.6-sol"}
    found = configured(env, str(tmp_path), "", "")
    assert found is not None
    assert (found.model, found.deployment, found.api_version) == ("gpt-5.6-sol", "dep", "2026-01-01")
    plain = configured(AZURE, str(tmp_path), "", "")
    assert plain is not None and plain.model == "dep"


@pytest.mark.parametrize(
    ("env", "provider", "base_url", "words"),
    [
        ({"OPENAI_BASE_URL": "https://h.example/v1"}, "", "", "OPENAI_API_KEY is not set"),
        ({}, "openai", "", "OPENAI_API_KEY is not set"),
        ({}, "anthropic", "", "ANTHROPIC_API_KEY is not set"),
        ({"OPENAI_API_KEY": "a b"}, "", "", "OPENAI_API_KEY holds white space"),
        ({"OPENAI_API_KEY": "k\u00e9y-long-enough"}, "", "", "no key has"),
        ({"AZURE_OPENAI_API_KEY": KEY}, "", "", "AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_DEPLOYMENT"),
        ({"OPENAI_API_KEY": KEY}, "anthropic", "http://localhost/v1", "--base-url"),
        ({}, "", "https://h.example/v1", "OPENAI_API_KEY is not set"),
    ],
)
def test_what_is_missing_is_named(
    env: dict[str, str], provider: str, base_url: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(AgenyxError) as caught:
        configured(env, str(tmp_path), provider, base_url)
    assert words in f"{caught.value.message} {caught.value.fix}" and caught.value.fix
    assert KEY not in caught.value.message


def test_nothing_configured(tmp_path: Path) -> None:
    assert configured({}, str(tmp_path), "", "") is None
    assert configured({}, str(tmp_path), "local", "") is None
    assert configured({}, str(tmp_path), "ollama", "") is None
    assert everything({}, str(tmp_path)) == ()
    assert not has_auth(str(tmp_path)) and not has_auth(str(tmp_path / "missing"))


def test_auth_json_wins_over_the_environment(tmp_path: Path) -> None:
    auth(tmp_path, "work")
    env = {"OPENAI_API_KEY": "env-key-0123456789", "ANTHROPIC_API_KEY": "env-key-9876543210"}
    found = configured(env, str(tmp_path), "", "")
    assert found is not None and (found.id, found.api_key) == ("work", f"{KEY}-work")
    assert [profile.id for profile in everything(env, str(tmp_path))] == ["work"]
    with pytest.raises(UsageError, match="no provider 'anthropic'"):
        configured(env, str(tmp_path), "anthropic", "")
    assert configured(env, str(tmp_path), "local", "") is None, "the embedded model can always be asked for"


@pytest.mark.parametrize("text", ["{", '{"version": 1}', "\x00"])
def test_a_broken_file_is_never_a_reason_to_use_the_environment(text: str, tmp_path: Path) -> None:
    auth(tmp_path, text=text)
    for provider in ("", "openai", "local"):
        with pytest.raises(ConfigError, match="invalid"):
            configured({"OPENAI_API_KEY": KEY}, str(tmp_path), provider, "")


def test_a_link_that_leads_nowhere_is_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "auth.json").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigError, match="symbolic link"):
        configured({"OPENAI_API_KEY": KEY}, str(tmp_path), "", "")


def test_an_address_on_the_command_line_is_a_server_of_its_own(tmp_path: Path) -> None:
    auth(tmp_path, "work")
    found = configured({}, str(tmp_path), "", "http://127.0.0.1:9/v1")
    assert found is not None and found.api_key == "", "the key of another profile does not travel there"
    assert found.type == "openai_compatible"


def test_every_key_is_known_to_the_mask(tmp_path: Path) -> None:
    auth(tmp_path, "a", "b")
    env: dict[str, Any] = {"GROQ_API_KEY": "groq-key-0123456789"}
    assert keys(env, str(tmp_path)) == ("groq-key-0123456789", f"{KEY}-a", f"{KEY}-b")
