"""Providers that the environment names, as one table. Used only where there is no auth.json; reads no file."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agenyx.config.profiles import (
    ANTHROPIC_URL,
    LOOPBACK,
    OPENAI_URL,
    Profile,
    ProviderType,
    Wire,
    check_key,
    clean_anthropic,
    clean_azure,
    clean_url,
)
from agenyx.core.errors import ConfigError


class Row(Struct, frozen=True):
    """One provider. `url` is used when `url_variable` ("" where there is none) is not set."""

    id: str
    type: ProviderType
    key_variable: str
    url_variable: str
    url: str
    wire: Wire = "chat"


# In this order the first that is set is used.
ROWS = (
    Row("openai", "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", OPENAI_URL),
    Row("anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ANTHROPIC_URL, "anthropic"),
    Row("azure", "azure_openai", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "", "responses"),
    Row("openrouter", "openai_compatible", "OPENROUTER_API_KEY", "", "https://openrouter.ai/api/v1"),
    Row("deepseek", "openai_compatible", "DEEPSEEK_API_KEY", "", "https://api.deepseek.com"),
    Row("moonshot", "openai_compatible", "MOONSHOT_API_KEY", "", "https://api.moonshot.ai/v1"),
    Row("mistral", "openai_compatible", "MISTRAL_API_KEY", "", "https://api.mistral.ai/v1"),
    Row("groq", "openai_compatible", "GROQ_API_KEY", "", "https://api.groq.com/openai/v1"),
)
BY_ID = {row.id: row for row in ROWS}


def named(env: Mapping[str, str]) -> list[Row]:
    """The rows that the environment sets, in their order.

    An address without a key counts for `openai` only: a server on this machine needs none.
    """
    return [
        row for row in ROWS if _value(env, row.key_variable) or (row.id == "openai" and _value(env, row.url_variable))
    ]


def profile_of(row: Row, env: Mapping[str, str], base_url: str = "") -> Profile:
    """The profile of a row. `base_url` is the flag, "" when absent. Raises ConfigError with the remedy."""
    key = check_key(_value(env, row.key_variable), row.key_variable)
    given = base_url or _value(env, row.url_variable)
    source = "--base-url" if base_url else row.url_variable
    if row.type == "azure_openai":
        return _azure(row, env, key)
    clean = clean_anthropic if row.type == "anthropic" else clean_url
    url = clean(given, source) if given else row.url
    kind: ProviderType = "openai_compatible" if row.id == "openai" and url != OPENAI_URL else row.type
    profile = Profile(row.id, kind, url, key, row.wire, origin=row.key_variable if key else source)
    if not key and profile.host not in LOOPBACK:
        raise ConfigError(f"{profile.host} needs a key: {row.key_variable} is not set", f"Set {row.key_variable}.")
    return profile


def _azure(row: Row, env: Mapping[str, str], key: str) -> Profile:
    missing = [
        name
        for name in ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_DEPLOYMENT")
        if not _value(env, name)
    ]
    if missing:
        raise ConfigError(f"Azure OpenAI needs also {' and '.join(missing)}", f"Set {', '.join(missing)}.")
    deployment = _value(env, "AZURE_OPENAI_DEPLOYMENT")
    return Profile(
        row.id,
        row.type,
        clean_azure(_value(env, row.url_variable), row.url_variable),
        key,
        row.wire,
        model=_value(env, "AZURE_OPENAI_MODEL") or deployment,
        deployment=deployment,
        api_version=_value(env, "AZURE_OPENAI_API_VERSION"),
        origin=row.key_variable,
    )


def _value(env: Mapping[str, str], name: str) -> str:
    return env.get(name, "").strip() if name else ""
