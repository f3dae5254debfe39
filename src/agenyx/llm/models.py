"""Which model to use. Asks the server only when neither the person nor the catalogue decides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.redact import Masker
from agenyx.llm import catalogue, failures
from agenyx.llm.failures import Target, brief
from agenyx.llm.http import Client, HttpError
from agenyx.llm.provider import headers_of
from agenyx.llm.stream import error_body

LIST_SECONDS = 20.0
LIST_BYTES = 8 << 20
SHOWN = 20  # models named in an error


async def choose_model(profile: Profile, flag: str, env: Mapping[str, str], client: Client) -> str:
    """`--model`, `AGENYX_MODEL`, the catalogue's default for the host, the only one the server lists.

    Raises AgenyxError, which names the models there are.
    """
    chosen = flag.strip() or env.get("AGENYX_MODEL", "").strip() or catalogue.default_model(profile.host)
    if chosen:
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


async def list_models(profile: Profile, client: Client) -> list[str]:
    """The models that the server lists, in its order. Raises AgenyxError."""
    masker = Masker((profile.api_key,))
    target = Target(f"{profile.base_url}/models", profile.host, "", bool(profile.api_key))
    named = "Name the model with --model or AGENYX_MODEL, and the server need not be asked. "
    try:
        async with asyncio.timeout(LIST_SECONDS):
            async with client.stream("GET", target.url, headers_of(profile, "application/json")) as response:
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
