"""Which model server to talk to, from the command line and the environment. Contacts nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from agenyx.core.errors import ConfigError, UsageError

OPENAI_URL = "https://api.openai.com/v1"
LOCAL_ID = "local"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


ProviderType = Literal["openai", "openai_compatible", "azure_openai", "anthropic", "local"]
Wire = Literal["chat", "responses", "anthropic"]


class Profile(Struct, frozen=True):
    """A configured provider. `base_url` ends without a slash; `api_key` may be empty for a server on this machine.

    `wire` is the protocol it speaks. `model` is the profile's own model, "" when it names none. `deployment` and
    `api_version` are Azure's. `efforts` are the reasoning efforts that it takes, none when unknown.
    """

    id: str
    type: ProviderType
    base_url: str
    api_key: str = ""
    wire: Wire = "chat"
    model: str = ""
    deployment: str = ""
    api_version: str = ""
    efforts: tuple[str, ...] = ()
    default_effort: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    def fingerprint(self, model: str) -> str:
        """What responses are stamped with. Without the key, so that a new key keeps sessions resumable.

        The embedded model has another port each time; it is known by its name alone.
        """
        address = "" if self.type == "local" else self.base_url
        parts = (self.type, address, model, self.deployment, self.api_version)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _clean_url(url: str, source: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{source} is {url!r}, which is not an http(s) address", "For example: https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(f"{source} must hold no user name, query or fragment", "For example: https://host/v1")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ConfigError(
            f"{source} is plain http to {parts.hostname}: the key and your code would travel unencrypted",
            "Use https; plain http is only for servers on this machine.",
        )
    return url.rstrip("/")


def select_profile(
    env: Mapping[str, str], provider: str, base_url: str, local_installed: Callable[[], bool]
) -> Profile:
    """`provider` and `base_url` are the flags, "" when absent. Raises ConfigError or UsageError with the remedy."""
    key = env.get("OPENAI_API_KEY", "").strip()
    url, source = (base_url, "--base-url") if base_url else (env.get("OPENAI_BASE_URL", "").strip(), "OPENAI_BASE_URL")
    if provider not in ("", "openai", LOCAL_ID):
        raise UsageError(f"unknown provider {provider!r}", "Known: openai, local.")
    if provider == LOCAL_ID:
        if base_url:
            raise UsageError("--provider local has no --base-url", "Leave one of the two out.")
        if not local_installed():
            raise ConfigError("the embedded model is not installed", "Run: agenyx local install")
        return Profile(LOCAL_ID, "local", "http://127.0.0.1")
    if not url and not key:
        if provider == "" and local_installed():
            return Profile(LOCAL_ID, "local", "http://127.0.0.1")
        raise ConfigError(
            "no model provider is configured: OPENAI_API_KEY is not set",
            "Set OPENAI_API_KEY (and OPENAI_BASE_URL for another OpenAI-compatible server), "
            "or install the small offline model: agenyx local install",
        )
    url = _clean_url(url, source) if url else OPENAI_URL
    profile = Profile("openai", "openai" if url == OPENAI_URL else "openai_compatible", url, key)
    if not key and profile.host not in LOOPBACK:
        raise ConfigError(f"{profile.host} needs a key: OPENAI_API_KEY is not set", "Set OPENAI_API_KEY.")
    if any(c.isspace() or not c.isprintable() for c in key):
        raise ConfigError("OPENAI_API_KEY holds white space or control characters", "Set it again, without them.")
    return profile
