"""Which values are secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agenyx.config.profiles import Profile
from agenyx.config.secrets import check_public, masker, of_environment, secrets
from agenyx.core.errors import ConfigError
from agenyx.core.redact import MASK

KEY = "sk-live-0123456789"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "ghp_0123456789abcdefABCDEF"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("MY_API_KEY", KEY),
        ("db_password", "Tr0ub4dor&3-x"),
        ("SIGNING_PRIVATE_KEY", "-----BEGIN KEY-----\nabcdef0123456789\n-----END KEY-----"),
        ("VAULT_PASSPHRASE", "correct horse battery staple moon"),
    ],
)
def test_what_the_environment_names_as_a_secret(name: str, value: str) -> None:
    assert of_environment({name: f" {value}\n", "HOME": value}) == (value,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/home/u/a-long-project-1"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-1234567890/agent.1"),
        ("TOKEN_FILE", "~/secrets/token.json"),
        ("PASSWORD", "password"),
        ("AUTH_METHOD", "client_credentials"),
        ("SECRET_BACKEND", "Hashicorp-Vault"),
        ("TOKEN_EXPIRES", "1700000000000"),
        ("AUTH_HOST", "auth.internal.example.com:8443"),
        ("AUTH_URL", "https://auth.example.com/login?x=1"),
        ("AUTH_USER", "john.smith2@example.com"),
        ("API_KEY", "abc123"),
        ("UNKNOWN", KEY),
    ],
)
def test_ordinary_words_and_places_are_none(name: str, value: str) -> None:
    assert of_environment({name: value}) == ()


def test_what_collectors_are_paid_by() -> None:
    token = "Tr0ub4dor-3x-9f8e7d6c"
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"):
        given = f"x-tenant=our-team, authorization=Bearer%20{token},empty=,odd"
        found = of_environment({name: given, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"})
        assert token in found
        assert "our-team" not in found and "" not in found


def test_passwords_in_addresses() -> None:
    env = {
        "HTTPS_PROXY": "http://u:pr0xy%2Dpassw0rd@proxy:8080",
        "DATABASE_URL": "postgres://postgres:postgres@localhost/db",
        "SENTRY_DSN": "https://0123456789abcdef@sentry.example/1",
        "BROKEN": "http://[::1:x@",
    }
    assert of_environment(env) == ("pr0xy%2Dpassw0rd", "pr0xy-passw0rd")


def home_with(tmp_path: Path, text: str) -> str:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    path = home / "auth.json"
    path.write_text(text)
    path.chmod(0o600)
    return str(home)


def test_every_provider_counts_not_only_the_one_in_use(tmp_path: Path) -> None:
    profiles = [
        {"id": "a", "type": "openai", "openai": {"api_key": "sk-first-0123456"}, "default": True},
        {"id": "b", "type": "openai", "openai": {"api_key": "sk-second-012345"}},
    ]
    home = home_with(tmp_path, json.dumps({"version": 2, "providers": profiles}))
    env = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "GH_TOKEN": "ghp_0123456789"}
    found = secrets(env, home, "sk-now-0123456789")
    wanted = {"sk-now-0123456789", "sk-first-0123456", "sk-second-012345", "sk-ant-0123456789", "ghp_0123456789"}
    assert set(found) == wanted and len(found) == len(wanted)


def test_a_broken_home_still_masks_what_the_environment_holds(tmp_path: Path) -> None:
    env = {"AGENYX_HOME": home_with(tmp_path, "{broken"), "OPENAI_API_KEY": KEY}
    assert masker(env).text(f"x {KEY}") == f"x {MASK}"
    assert masker({"AGENYX_HOME": "relative", "OPENAI_API_KEY": KEY}).text(KEY) == MASK
    assert masker({"AGENYX_HOME": "relative"}).longest == 0


@pytest.mark.parametrize(
    "profile",
    [
        Profile("p", "openai", f"https://host/{KEY}/v1", KEY),
        Profile(KEY, "openai", "https://host/v1"),
        Profile("p", "openai", "https://host/v1", model=f"m-{KEY}"),
    ],
)
def test_a_key_in_what_is_shown_of_a_provider(profile: Profile) -> None:
    with pytest.raises(ConfigError, match="holds a configured key") as caught:
        check_public(profile, (KEY,))
    assert KEY not in caught.value.message
    check_public(Profile("p", "openai", "https://host/v1", KEY), (KEY,))
