"""Storing a provider's key: builds the profile, tries it with one request, writes auth.json. Asks nobody anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from agenyx.config import auth, auth_schema
from agenyx.config.environment import BY_ID
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.events import Done, Failure
from agenyx.core.messages import Text, User

TRY_TOKENS = 16


class Wanted(Struct, frozen=True):
    """What the person said on the command line; "" for what was left out."""

    id: str = ""
    type: str = ""
    base_url: str = ""
    model: str = ""
    wire: str = ""
    deployment: str = ""
    api_version: str = ""


def complete(wanted: Wanted) -> Wanted:
    """Fill in what follows from the name or from the other parts. Raises UsageError for what is missing.

    A well-known name (anthropic, openrouter, deepseek, …) brings its type and address along.
    """
    row = BY_ID.get(wanted.id)
    kind = wanted.type or (row.type if row else "openai_compatible" if wanted.base_url else "openai")
    if kind == "openai" and wanted.base_url:
        kind = "openai_compatible"
    if kind not in auth_schema.TYPES or kind == "local":
        types = ", ".join(name for name in auth_schema.TYPES if name != "local")
        raise UsageError(f"--type cannot be {kind!r}", f"Choose one of: {types}.")
    url = wanted.base_url or (row.url if row and row.type == kind and kind == "openai_compatible" else "")
    if kind == "openai_compatible" and not url:
        raise UsageError("an OpenAI-compatible server needs --base-url", "For example: --base-url https://host/v1")
    if kind == "azure_openai" and not (url and wanted.model and wanted.deployment):
        raise UsageError(
            "Azure OpenAI needs --base-url, --model and --deployment",
            "For example: agenyx login azure --base-url https://NAME.openai.azure.com --model M --deployment D",
        )
    if wanted.wire and kind not in auth_schema.WIRES:
        raise UsageError(f"--wire does not go with {kind}", "Leave it out.")
    names = {"azure_openai": "azure", "openai_compatible": "server"}
    return Wanted(
        wanted.id or names.get(kind, kind), kind, url, wanted.model, wanted.wire, wanted.deployment, wanted.api_version
    )


def entry_of(wanted: Wanted, key: str, *, in_keyring: bool = False) -> dict[str, Any]:
    """The entry for auth.json; with `in_keyring` it says where the key is in place of it. `wanted` is complete."""
    kept = {"api_key_source": auth_schema.KEYRING} if in_keyring else {"api_key": key}
    if wanted.type == "azure_openai":
        member = {
            "endpoint": wanted.base_url,
            "model": wanted.model,
            "deployment": wanted.deployment,
            **kept,
            "api_version": wanted.api_version,
        }
    else:
        parts = {"base_url": wanted.base_url, **kept, "model": wanted.model, "wire": wanted.wire}
        member = {name: value for name, value in parts.items() if value}
    return {"id": wanted.id, "type": wanted.type, wanted.type: member}


def profile_of(entry: dict[str, Any]) -> Profile:
    """The profile of an entry, by the rules of the file. Raises UsageError."""
    try:
        return auth_schema.profiles({"version": auth_schema.VERSION, "providers": [entry]})[0]
    except auth_schema.Invalid as error:
        message = str(error).removeprefix("providers[0].")
        raise UsageError(f"this cannot be stored: {message}", "See: agenyx login --help") from None


async def attempt(profile: Profile, env: Mapping[str, str]) -> str:
    """One request with the key: the list of models, or a word from the model where nothing is listed.

    Returns what was learnt, in words. Raises AgenyxError with what the server said.
    """
    from agenyx.llm.http import Client
    from agenyx.llm.models import list_models

    client = Client(env)
    try:
        if profile.type == "azure_openai":
            return await _word(profile, env, client)
        try:
            names = await list_models(profile, client)
        except AgenyxError:
            if not profile.model:
                raise
            return await _word(profile, env, client)
        if profile.model and names and profile.model not in names:
            return f"the key works, but the server does not list the model {profile.model}"
        return f"the key works; the server lists {len(names)} model{'' if len(names) == 1 else 's'}"
    finally:
        await client.close()


async def _word(profile: Profile, env: Mapping[str, str], client: Any) -> str:
    from agenyx.llm.provider import open_provider
    from agenyx.llm.request import Options, Request
    from agenyx.llm.stream import Retry

    provider = open_provider(profile, profile.model, env, client=client, retry=Retry(limit=1))
    prompt = User((Text("Answer with one word: ready"),))
    request = Request(profile.model, Options(max_output=TRY_TOKENS), (), (), (prompt,))
    async for event in provider.stream(request):
        match event:
            case Failure(_, message, fix):
                raise AgenyxError(message, fix)
            case Done():
                return f"the key works; {profile.model} answered"
            case _:
                pass
    raise AgenyxError(f"{profile.host} ended without an answer", "Try again.")


def store(home: str, wanted: Wanted, key: str, *, default: bool, in_keyring: bool = False) -> tuple[bool, str]:
    """Write the profile, `default` marks it; its key goes to auth.json or into the system's keyring.

    Whether it replaced one of the same id, and what the person should know, "" for nothing. Raises ConfigError; then
    nothing was stored.
    """
    was_in_keyring = _keyed(home, wanted.id)
    if in_keyring:
        from agenyx.config import keychain

        keychain.put(home, wanted.id, key)
    try:
        replaced = auth.put(home, entry_of(wanted, key, in_keyring=in_keyring))
    except ConfigError:
        if in_keyring and not was_in_keyring:
            _forgotten(home, wanted.id)
        raise
    if default:
        auth.make_default(home, wanted.id)
    return replaced, _forgotten(home, wanted.id) if was_in_keyring and not in_keyring else ""


def remove(home: str, provider: str) -> tuple[int, str]:
    """Remove a profile and its key, wherever that is: the number of profiles left, and what the person should know.

    Raises UsageError, ConfigError.
    """
    in_keyring = _keyed(home, provider)
    left = auth.drop(home, provider)
    return left, _forgotten(home, provider) if in_keyring else ""


def _keyed(home: str, provider: str) -> bool:
    """Whether the key of this profile lies in the keyring."""
    return any(profile.id == provider and profile.in_keyring for profile in auth.load(home) or ())


def _forgotten(home: str, provider: str) -> str:
    """Take the key out of the keyring. What stands in the way is said, and stops nothing."""
    from agenyx.config import keychain

    try:
        keychain.forget(home, provider)
    except ConfigError as error:
        return f"the key of {provider} is still in the system keyring: {error.message}"
    return ""
