"""Which model to use. Asks the server only when neither the person nor the catalogue decides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.redact import Masker
from agenyx.llm import catalogue, failures
from agenyx.llm.failures import Target, brief
from agenyx.llm.http import Client, HttpError
from agenyx.llm.provider import headers_of
from agenyx.llm.stream import error_body

LIST_SECONDS = 20.0
LIST_BYTES = 8 << 20
SHOWN = 20  # models named in an error


async def choose_model(profile: Profile, flag: str, env: Mapping[str, str], client: Client, home: str = "") -> str:
    """`--model`, `AGENYX_MODEL`, the profile's own, the catalogue's default, the only one the server lists.

    `azure_openai` has one model, its deployment's: there `--model` only makes sure that it is that one. `home` is where
    the person's own catalogue lies. Raises AgenyxError, which names the models there are; UsageError for another model.
    """
    if profile.type == "azure_openai":
        return _asserted(profile, flag.strip() or env.get("AGENYX_MODEL", "").strip())
    chosen = flag.strip() or env.get("AGENYX_MODEL", "").strip() or profile.model
    if chosen := chosen or catalogue.default_model(profile.host, home):
        return chosen
    names = await list_models(profile, client)
    if len(names) == 1:
        return names[0]
    if not names:
        raise AgenyxError(f"{profile.base_url} lists no models", "Name one with --model or AGENYX_MODEL.")
    shown = ", ".join(brief(name, 80) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    raise AgenyxError(
        f"{profile.base_url} offers {len(names)} models and none was chosen: {shown}{more}",
        "Choose one with --model or AGENYX_MODEL.",
    )


def _asserted(profile: Profile, wanted: str) -> str:
    if wanted in ("", profile.model):
        return profile.model
    raise UsageError(
        f"the profile {profile.id} is a deployment of {profile.model}, not of {wanted}",
        "Leave out --model (and AGENYX_MODEL), or choose another profile with --provider.",
    )


def _address(profile: Profile) -> str:
    match profile.type:
        case "anthropic":
            return f"{profile.base_url}/models?limit=1000"
        case "azure_openai":
            return f"{profile.base_url}/openai/v1/models"
        case _:
            return f"{profile.base_url}/models"


async def list_models(profile: Profile, client: Client) -> list[str]:
    """The models that the server lists, in its order. Raises AgenyxError."""
    masker = Masker((profile.api_key,))
    headers = headers_of(profile, "application/json")
    target = Target(_address(profile), profile.host, "", bool(profile.api_key), profile.key_name, profile.url_name)
    named = "Name the model with --model or AGENYX_MODEL, and the server need not be asked. "
    try:
        async with asyncio.timeout(LIST_SECONDS):
            async with client.stream("GET", target.url, headers) as response:
                if response.status != 200:
                    said = failures.of_body(await error_body(response))
                    failure = failures.of_status(response.status, response.headers.get("location", ""), said, target)
                    message = masker.text(f"the models could not be listed: {failure.message}")
                    raise AgenyxError(message, named + failure.fix)
                body = bytearray()
                async for data in response.chunks():
                    body += data
                    if len(body) > LIST_BYTES:
                        raise AgenyxError(f"{target.url} sends a list without end", named)
    except HttpError as error:
        failure = failures.of_http(error, target)
        raise AgenyxError(masker.text(f"the models could not be listed: {failure.message}"), failure.fix) from error
    except TimeoutError:
        raise AgenyxError(f"{target.url} did not list its models within {LIST_SECONDS:g} s", named) from None
    names = _names(bytes(body))
    if names is None:
        raise AgenyxError(f"{target.url} did not answer with a list of models", named + "Check the base URL.")
    return [masker.text(name) for name in names]


def _names(body: bytes) -> list[str] | None:
    try:
        value: Any = json.decode(body)
    except json.JsonError:
        return None
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        value = fields["data"] if "data" in fields else fields.get("models")
    if not isinstance(value, list):
        return None
    entries = [cast("dict[str, Any]", entry) for entry in cast("list[Any]", value) if isinstance(entry, dict)]
    found = [entry.get("id") or entry.get("name") for entry in entries]
    return list(dict.fromkeys(name for name in found if isinstance(name, str) and name))
