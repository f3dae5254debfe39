"""How large a window Ollama gives a model. Asks its native API; sends no prompt.

Ollama cuts off the beginning of what does not fit and says nothing, its default may be 4,096 tokens, and its
OpenAI-compatible routes take no option for it. So it is looked up before the first request, and told.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.events import Notice
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import OLLAMA
from agenyx.llm.http import Client, HttpError
from agenyx.llm.provider import headers_of
from agenyx.llm.request import Request

ASK_SECONDS = 5.0
LOAD_SECONDS = 120.0  # the first request would wait for it as well
BODY_BYTES = 8 << 20
WANTED = 16_384  # tokens; with less, work on code does not get far
ROOM = 8_192  # tokens beside the first request: some files and an answer
SUGGESTED = 32_768
BYTES_PER_TOKEN = 4  # of our requests, roughly

_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


class Window(Struct, frozen=True):
    """In tokens; None where it is not known. `most` is what the model was made for."""

    tokens: int | None = None
    most: int | None = None


async def window(profile: Profile, model: str, env: Mapping[str, str]) -> Window:
    """The window that the next request gets: the model's own setting, else what the server loads it with.

    A model that is not loaded yet is loaded for that, which its first request would do. Never raises for what the
    server does.
    """
    base = profile.base_url.removesuffix("/v1")
    headers = headers_of(profile, "application/json") | {"Content-Type": "application/json"}
    client = Client(env)  # not the provider's: a recording holds what was said to the model

    async def ask(path: str, body: dict[str, Any] | None, seconds: float = ASK_SECONDS) -> dict[str, Any]:
        data = None if body is None else json.encode(body)
        return await _asked(client, "GET" if body is None else "POST", base + path, headers, data, seconds)

    try:
        shown, running = await asyncio.gather(ask("/api/show", {"model": model}), ask("/api/ps", None))
        most = _made_for(shown)
        tokens = _set(shown) or _loaded(running, model)
        if not tokens and shown.get("remote_host"):
            tokens = most  # it runs elsewhere, at its full size
        if not tokens and shown:
            await ask("/api/generate", {"model": model, "stream": False}, LOAD_SECONDS)
            tokens = _loaded(await ask("/api/ps", None), model)
    finally:
        await client.close()
    return Window(min(tokens, most) if tokens and most else tokens, most)


def notice(model: str, found: Window, request: Request) -> Notice:
    """What to tell before the first request: a warning where it will not do."""
    first = len(ChatEncoder(OLLAMA).encode(request)) // BYTES_PER_TOKEN
    wanted = min(SUGGESTED, found.most or SUGGESTED)
    fix = (
        f"Start it with a larger one: OLLAMA_CONTEXT_LENGTH={wanted} ollama serve. Or write PARAMETER num_ctx {wanted} "
        "into the model's Modelfile. Or take a model with a larger window."
    )
    if found.tokens is None:
        return Notice(
            "warning",
            f"Ollama does not tell the window of {model}. By default it may be 4,096 tokens, and what does not fit is "
            "cut off without a word.",
            fix,
        )
    has = f"Ollama gives {model} a window of {found.tokens:,} tokens"
    if found.tokens <= first:
        return Notice(
            "warning", f"{has}, and the first request needs about {first:,}: it will be cut off without a word.", fix
        )
    if found.tokens < max(WANTED, first + ROOM):
        left = found.tokens - first
        return Notice(
            "warning",
            f"{has}. The first request leaves about {left:,} for files and answers; after that the beginning is cut "
            "off without a word.",
            fix,
        )
    return Notice("info", f"{has}.")


async def _asked(
    client: Client, method: str, url: str, headers: Mapping[str, str], body: bytes | None, seconds: float
) -> dict[str, Any]:
    """The object that was answered, an empty one for anything else."""
    try:
        async with asyncio.timeout(seconds), client.stream(method, url, headers, body, idle=seconds) as response:
            if response.status != 200:
                return {}
            data = bytearray()
            async for piece in response.chunks():
                data += piece
                if len(data) > BODY_BYTES:
                    return {}
        value: Any = json.decode(bytes(data))
    except (HttpError, TimeoutError, json.JsonError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _set(shown: Mapping[str, Any]) -> int | None:
    """The number in the model's own parameters, which stands above the server's default."""
    parameters = shown.get("parameters")
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return int(found[1]) if found else None


def _made_for(shown: Mapping[str, Any]) -> int | None:
    info: Any = shown.get("model_info")
    if not isinstance(info, dict):
        return None
    facts = cast("dict[str, Any]", info)
    own = facts.get(f"{facts.get('general.architecture')}.context_length")
    return own if isinstance(own, int) and own > 0 else None


def _loaded(running: Mapping[str, Any], model: str) -> int | None:
    entries: Any = running.get("models")
    if not isinstance(entries, list):
        return None
    names = (model, f"{model}:latest")
    for entry in cast("list[Any]", entries):
        if isinstance(entry, dict):
            fields = cast("dict[str, Any]", entry)
            length = fields.get("context_length")
            if (fields.get("name") in names or fields.get("model") in names) and isinstance(length, int) and length > 0:
                return length
    return None
