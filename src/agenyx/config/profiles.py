"""What a configured provider is, and which one is used when several are there. Reads no file and contacts nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from agenyx.core.errors import ConfigError, UsageError

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
LOCAL_ID = "local"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

ProviderType = Literal["openai", "openai_compatible", "azure_openai", "anthropic", "local"]
Wire = Literal["chat", "responses", "anthropic", "schema"]


_VARIABLES: dict[ProviderType, tuple[str, str]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai_compatible": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "azure_openai": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "local": ("its key", "its address"),
}


class Profile(Struct, frozen=True):
    """A configured provider. `base_url` ends without a slash; `api_key` may be empty for a server on this machine.

    `base_url` is what the wire's own paths are put behind: it usually ends in /v1, always so for anthropic; for
    azure_openai it is the bare endpoint. `wire` is the protocol it speaks. `model` is the profile's own model, "" when
    it names none. `deployment` and `api_version` are Azure's. `efforts` are the reasoning efforts that it declares;
    `declares` says that no others may be used. `origin` says where it comes from, in words; `default` that its owner
    marked it; `in_keyring` that its key lies in the system's keyring, from where it is read when the profile is used.
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
    declares: bool = False
    origin: str = ""
    default: bool = False
    in_keyring: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def key_name(self) -> str:
        """Where a person looks for the key, for messages."""
        if self.origin.endswith("_API_KEY"):
            return self.origin
        if self.in_keyring:
            return f"the system keyring ({self.id})"
        return f"auth.json ({self.id})" if self.origin == "auth.json" else _VARIABLES[self.type][0]

    @property
    def url_name(self) -> str:
        """Where a person looks for the address, for messages."""
        if self.origin == "auth.json":
            return f"auth.json ({self.id})"
        if self.origin.endswith("_API_KEY") and self.origin != _VARIABLES[self.type][0]:
            return self.base_url
        return _VARIABLES[self.type][1]

    def fingerprint(self, model: str) -> str:
        """What responses are stamped with. Without the key, so that a new key keeps sessions resumable.

        The embedded model has another port each time; it is known by its name alone.
        """
        address = "" if self.type == "local" else self.base_url
        parts = (self.type, address, model, self.deployment, self.api_version)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def select(profiles: Sequence[Profile], provider: str) -> Profile:
    """The profile of this id; without an id the only one, or the one marked as the default.

    Raises UsageError for an id that is not there, ConfigError when nothing decides. `profiles` is not empty.
    """
    names = ", ".join(profile.id for profile in profiles)
    if provider:
        for profile in profiles:
            if profile.id == provider:
                return profile
        raise UsageError(f"there is no provider {provider!r}", f"Configured: {names}. See: agenyx --list-providers")
    if len(profiles) == 1:
        return profiles[0]
    marked = [profile for profile in profiles if profile.default]
    if len(marked) == 1:
        return marked[0]
    raise ConfigError(
        f"there are {len(profiles)} providers and none is the default: {names}",
        'Choose one with --provider ID, or mark one in auth.json with "default": true.',
    )


def clean_url(url: str, source: str) -> str:
    """The address without its closing slash. Raises ConfigError, naming `source`, for one that may not be used.

    Neither the address's user name nor its query is repeated in the message: they may be secrets.
    """
    example = "For example: https://host/v1"
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError(f"{source} is not an http(s) address", example) from None
    if parts.username is not None or parts.password is not None or "?" in url or "#" in url:
        raise ConfigError(f"{source} must hold no user name, query or fragment", example)
    if not named or any(c.isspace() or not c.isprintable() for c in url):
        raise ConfigError(f"{source} is {url!r}, which is not an http(s) address", example)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ConfigError(
            f"{source} is plain http to {parts.hostname}: the key and your code would travel unencrypted",
            "Use https; plain http is only for servers on this machine.",
        )
    return url.rstrip("/")


AZURE_ROUTES = ("/openai/v1/responses", "/openai/responses", "/openai/v1", "/openai")


def clean_azure(url: str, source: str) -> str:
    """An Azure endpoint without the route that people copy along with it. Raises ConfigError."""
    url = clean_url(url, source)
    for route in AZURE_ROUTES:
        if url.endswith(route):
            return url.removesuffix(route).rstrip("/")
    return url


def clean_anthropic(url: str, source: str) -> str:
    """An address of the Messages API, up to and with its /v1, whichever part of it was given. Raises ConfigError."""
    url = clean_url(url, source).removesuffix("/messages")
    return url if url.endswith("/v1") else f"{url}/v1"


def check_key(key: str, source: str) -> str:
    """The key, if it can be sent. Raises ConfigError, which does not show it."""
    if any(c.isspace() or not c.isprintable() for c in key):
        raise ConfigError(f"{source} holds white space or control characters", "Set it again, without them.")
    if not key.isascii():
        raise ConfigError(f"{source} holds characters that no key has", "Copy the key again.")
    return key
