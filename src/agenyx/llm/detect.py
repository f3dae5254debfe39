"""Finds model servers that run on this machine, by what they answer and not by their port alone.

Only loopback is asked, all at once and for a moment, and no prompt is ever sent. Used only where nothing is configured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from agenyx.config.profiles import LOOPBACK, Profile
from agenyx.core import json
from agenyx.llm.http import Client, HttpError

SECONDS = 0.3
BODY_BYTES = 1 << 20

Headers = Mapping[str, str]


class Probe(Struct, frozen=True):
    """One kind of server: its usual port, the path to ask, and how its answer is known."""

    id: str
    port: int
    path: str
    known: Callable[[Headers, Any], bool]


def _entries(body: Any, *members: str) -> list[dict[str, Any]]:
    if isinstance(body, dict):
        for member in members:
            found = cast("dict[str, Any]", body).get(member)
            if isinstance(found, list):
                return [cast("dict[str, Any]", item) for item in cast("list[Any]", found) if isinstance(item, dict)]
    return []


def _ollama(_: Headers, body: Any) -> bool:
    return isinstance(body, dict) and isinstance(cast("dict[str, Any]", body).get("version"), str)


def _llama_cpp(headers: Headers, body: Any) -> bool:
    owners = {entry.get("owned_by") for entry in _entries(body, "data")}
    return headers.get("server", "") == "llama.cpp" or "llamacpp" in owners


def _lm_studio(_: Headers, body: Any) -> bool:
    entries = _entries(body, "models", "data")
    return bool(entries) and all("type" in entry and "publisher" in entry for entry in entries)


def _vllm(_: Headers, body: Any) -> bool:
    return any(entry.get("owned_by") == "vllm" for entry in _entries(body, "data"))


# In this order the first that answers is used. LM Studio's older versions know only the second of its paths.
PROBES = (
    Probe("ollama", 11434, "/api/version", _ollama),
    Probe("llamacpp", 8080, "/v1/models", _llama_cpp),
    Probe("lmstudio", 1234, "/api/v1/models", _lm_studio),
    Probe("lmstudio", 1234, "/api/v0/models", _lm_studio),
    Probe("vllm", 8000, "/v1/models", _vllm),
)
IDS = tuple(dict.fromkeys(probe.id for probe in PROBES))


async def detect(
    env: Mapping[str, str], only: str = "", probes: Sequence[Probe] = PROBES, seconds: float = SECONDS
) -> list[Profile]:
    """The servers that run, in the order of the table; `only` one id. Never raises for what a server does.

    OLLAMA_HOST moves Ollama, to another address of this machine.
    """
    wanted = [probe for probe in probes if only in ("", probe.id)]
    addresses = [(probe, address) for probe in wanted if (address := _address(probe, env))]
    client = Client(env, connect_timeout=seconds)
    try:
        answers = await asyncio.gather(*(_asked(client, probe, address, seconds) for probe, address in addresses))
    finally:
        await client.close()
    found: dict[str, Profile] = {}
    for (probe, address), yes in zip(addresses, answers, strict=True):
        if yes and probe.id not in found:
            found[probe.id] = Profile(probe.id, "openai_compatible", f"{address}/v1", origin=f"running at {address}")
    return list(found.values())


def _address(probe: Probe, env: Mapping[str, str]) -> str:
    """Where to ask, "" for an address that is not on this machine."""
    host, port = "127.0.0.1", probe.port
    given = env.get("OLLAMA_HOST", "").strip()
    if probe.id == "ollama" and given:
        try:
            parts = urlsplit(given if "://" in given else f"http://{given}")
            host, port = parts.hostname or host, parts.port or probe.port
        except ValueError:
            return ""
        if parts.scheme != "http":
            return ""
        host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # the server listens everywhere, also here
        if host not in LOOPBACK:
            return ""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _asked(client: Client, probe: Probe, address: str, seconds: float) -> bool:
    try:
        async with (
            asyncio.timeout(seconds),
            client.stream("GET", address + probe.path, {"Accept": "application/json"}) as response,
        ):
            if response.status != 200:
                return False
            body = bytearray()
            async for data in response.chunks():
                body += data
                if len(body) > BODY_BYTES:
                    return False
            return probe.known(response.headers, json.decode(bytes(body)))
    except (HttpError, TimeoutError, json.JsonError):
        return False
