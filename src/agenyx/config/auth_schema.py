"""The shape of auth.json, version 2 (reference: AgentX provider profiles): bytes in, profiles out. Reads no file.

Every profile is checked before one is chosen: one that is wrong makes the whole file invalid. A message names the place
and never a value, because the value may be a key in the wrong place.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from agenyx.config.profiles import (
    ANTHROPIC_URL,
    EFFORTS,
    OPENAI_URL,
    Profile,
    Wire,
    check_key,
    clean_anthropic,
    clean_azure,
    clean_url,
)
from agenyx.core import json
from agenyx.core.errors import ConfigError

VERSION = 2
KEYRING = "keyring"  # the one value of api_key_source, a member beyond the reference
MOST = 32
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
URL_BYTES, NAME_BYTES, KEY_BYTES, VERSION_BYTES = 2048, 256, 16 << 10, 128
TYPES = ("azure_openai", "openai", "openai_compatible", "anthropic", "local")
WIRES: dict[str, tuple[Wire, ...]] = {
    "openai": ("chat", "responses"),
    "openai_compatible": ("chat", "responses", "schema"),
}


class Invalid(Exception):
    """What is wrong and where, without any value of the file."""


class _Strict(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Reasoning(_Strict, frozen=True, forbid_unknown_fields=True):
    efforts: list[str]
    default_effort: str = ""


class _Capabilities(_Strict, frozen=True, forbid_unknown_fields=True):
    reasoning: _Reasoning | UnsetType = UNSET


class _Azure(_Strict, frozen=True, forbid_unknown_fields=True):
    endpoint: str
    model: str
    deployment: str
    api_version: str
    api_key: str | UnsetType = UNSET
    api_key_source: str | UnsetType = UNSET


class _Server(_Strict, frozen=True, forbid_unknown_fields=True):
    """`openai`, `openai_compatible` and `anthropic`; which members are needed depends on the type."""

    base_url: str | UnsetType = UNSET
    api_key: str | UnsetType = UNSET
    api_key_source: str | UnsetType = UNSET
    model: str = ""
    wire: str | UnsetType = UNSET


class _Local(_Strict, frozen=True, forbid_unknown_fields=True):
    model: str = ""


class _Entry(_Strict, frozen=True, forbid_unknown_fields=True):
    id: str
    type: str
    default: bool = False
    capabilities: _Capabilities | UnsetType = UNSET
    azure_openai: _Azure | UnsetType = UNSET
    openai: _Server | UnsetType = UNSET
    openai_compatible: _Server | UnsetType = UNSET
    anthropic: _Server | UnsetType = UNSET
    local: _Local | UnsetType = UNSET


class _File(_Strict, frozen=True, forbid_unknown_fields=True):
    version: int
    providers: list[_Entry]


def document(data: bytes) -> dict[str, Any]:
    """The file as strict JSON, before its members are looked at. Raises Invalid."""
    try:
        return json.strict(data.decode("utf-8"), dict[str, Any])
    except UnicodeDecodeError:
        raise Invalid("it is not UTF-8 text") from None
    except ValueError as error:  # JsonError, and numbers of more digits than Python reads
        raise Invalid(f"it is not strict JSON: {_plain(str(error))}") from None


def profiles(value: dict[str, Any]) -> tuple[Profile, ...]:
    """All profiles of a document. Raises Invalid."""
    version = value.get("version")
    if version != VERSION or type(version) is not int:
        was = "there is none" if "version" not in value else "another one is not read, and nothing is migrated"
        raise Invalid(f"version must be {VERSION}: {was}")
    try:
        file = json.convert(value, _File)
    except json.JsonError as error:
        raise Invalid(_plain(str(error))) from None
    if not 1 <= len(file.providers) <= MOST:
        raise Invalid(f"providers must be 1 to {MOST} entries, and there are {len(file.providers)}")
    found = tuple(_profile(entry, f"providers[{index}]") for index, entry in enumerate(file.providers))
    ids = [profile.id for profile in found]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            raise Invalid(f"providers[{index}].id stands twice in the file")
    if sum(profile.default for profile in found) > 1:
        raise Invalid('"default": true stands more than once')
    _no_key_in_the_open(found)
    return found


def _profile(entry: _Entry, at: str) -> Profile:
    if not ID.fullmatch(entry.id):
        raise Invalid(f"{at}.id must be 1 to 64 letters, digits, dots, dashes or underscores, the first no mark")
    if entry.type not in TYPES:
        raise Invalid(f"{at}.type must be one of {', '.join(TYPES)}")
    for name in TYPES:
        given = getattr(entry, name) is not UNSET
        if given and name != entry.type:
            raise Invalid(f"{at} has the member {name}, but its type is {entry.type}")
        if not given and name == entry.type:
            raise Invalid(f"{at} lacks the member {name}, which its type needs")
    efforts, default = _efforts(entry.capabilities, f"{at}.capabilities.reasoning")
    at = f"{at}.{entry.type}"
    try:
        made = _member(entry, at)
    except ConfigError as error:
        raise Invalid(error.message) from None
    return Profile(
        id=entry.id,
        type=made.type,
        base_url=made.base_url,
        api_key=made.api_key,
        wire=made.wire,
        model=made.model,
        deployment=made.deployment,
        api_version=made.api_version,
        efforts=efforts,
        default_effort=default,
        declares=bool(efforts) or entry.type == "azure_openai",
        origin="auth.json",
        default=entry.default,
        in_keyring=made.in_keyring,
    )


def _member(entry: _Entry, at: str) -> Profile:
    """Only the fields that the member of the type decides. Raises Invalid, ConfigError."""
    if isinstance(entry.azure_openai, _Azure):
        azure = entry.azure_openai
        endpoint = clean_azure(_text(azure.endpoint, f"{at}.endpoint", URL_BYTES), f"{at}.endpoint")
        if not endpoint.startswith("https://") and not _loopback(endpoint):
            raise Invalid(f"{at}.endpoint must be an https address")
        key, in_keyring = _key_of(azure, at, needed=True)
        return Profile(
            entry.id,
            "azure_openai",
            endpoint,
            key,
            "responses",
            _text(azure.model, f"{at}.model", NAME_BYTES),
            _text(azure.deployment, f"{at}.deployment", NAME_BYTES),
            _text(azure.api_version, f"{at}.api_version", VERSION_BYTES, empty=True),
            in_keyring=in_keyring,
        )
    if isinstance(entry.local, _Local):
        return Profile(
            entry.id, "local", "http://127.0.0.1", model=_text(entry.local.model, f"{at}.model", NAME_BYTES, empty=True)
        )
    server = getattr(entry, entry.type)
    assert isinstance(server, _Server)
    model = _text(server.model, f"{at}.model", NAME_BYTES, empty=True)
    url = "" if server.base_url is UNSET else _text(server.base_url, f"{at}.base_url", URL_BYTES)
    if not url and entry.type == "openai_compatible":
        raise Invalid(f"{at} lacks the member base_url")
    key, in_keyring = _key_of(server, at, needed=entry.type != "openai_compatible")
    if entry.type == "anthropic":
        if server.wire is not UNSET:
            raise Invalid(f"{at} has the member wire, which this type does not take")
        url = clean_anthropic(url, f"{at}.base_url") if url else ANTHROPIC_URL
        return Profile(entry.id, "anthropic", url, key, "anthropic", model, in_keyring=in_keyring)
    wire: Wire = "chat"
    if server.wire is not UNSET:
        if server.wire not in WIRES[entry.type]:
            raise Invalid(f"{at}.wire must be one of {', '.join(WIRES[entry.type])}")
        wire = server.wire
    kind = "openai" if entry.type == "openai" else "openai_compatible"
    url = clean_url(url, f"{at}.base_url") if url else OPENAI_URL
    return Profile(entry.id, kind, url, key, wire, model, in_keyring=in_keyring)


def _loopback(url: str) -> bool:
    return Profile("", "openai", url).host in ("localhost", "127.0.0.1", "::1")


def _efforts(capabilities: _Capabilities | UnsetType, at: str) -> tuple[tuple[str, ...], str]:
    if not isinstance(capabilities, _Capabilities) or not isinstance(capabilities.reasoning, _Reasoning):
        return (), ""
    reasoning = capabilities.reasoning
    efforts = tuple(reasoning.efforts)
    if not efforts or len(set(efforts)) != len(efforts) or not set(efforts) <= set(EFFORTS):
        raise Invalid(f"{at}.efforts must be different ones of {', '.join(EFFORTS)}, at least one")
    if reasoning.default_effort and reasoning.default_effort not in efforts:
        raise Invalid(f"{at}.default_effort must be one of the declared efforts")
    return efforts, reasoning.default_effort


def _text(value: str, at: str, most: int, *, empty: bool = False) -> str:
    if not value and not empty:
        raise Invalid(f"{at} is empty")
    if value != value.strip():
        raise Invalid(f"{at} begins or ends with white space")
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in value):
        raise Invalid(f"{at} holds control or format characters")
    if len(value.encode()) > most:
        raise Invalid(f"{at} is longer than {most} bytes")
    return value


def _key_of(member: _Azure | _Server, at: str, *, needed: bool) -> tuple[str, bool]:
    """The key, and whether it lies in the system's keyring instead: one of the two, where one is needed."""
    if member.api_key_source is not UNSET:
        if member.api_key_source != KEYRING:
            raise Invalid(f"{at}.api_key_source must be {KEYRING}")
        if member.api_key is not UNSET:
            raise Invalid(f"{at} has both api_key and api_key_source")
        return "", True
    if member.api_key is not UNSET:
        return _key(member.api_key, f"{at}.api_key"), False
    if needed:
        raise Invalid(f"{at} lacks the member api_key")
    return "", False


def _key(value: str, at: str) -> str:
    if not value:
        raise Invalid(f"{at} is empty")
    if len(value) > KEY_BYTES:
        raise Invalid(f"{at} is longer than {KEY_BYTES} bytes")
    return check_key(value, at)


def _no_key_in_the_open(found: tuple[Profile, ...]) -> None:
    """A key that also stands where it would be shown cannot be kept out of what is shown."""
    for index, profile in enumerate(found):
        public = (profile.id, profile.base_url, profile.model, profile.deployment, profile.api_version)
        if any(len(other.api_key) >= 8 and other.api_key in text for other in found for text in public):
            raise Invalid(f"providers[{index}] holds a key in a member that is shown")


def _plain(message: str) -> str:
    """A decoder's message with every quoted name that is no plain word left out."""

    def keep(match: re.Match[str]) -> str:
        name = match[2]
        ours = name.startswith("$")  # a path, which holds only names of the schema
        return match[0] if ours or (name.isidentifier() and len(name) <= 24) else f"{match[1]}…{match[1]}"

    return re.sub(r"([`'])(.*?)\1", keep, message).replace("`$.", "`")
