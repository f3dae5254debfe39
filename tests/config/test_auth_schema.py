"""auth.json, version 2: every rule of its shape as a table (reference: AgentX §2.1)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.config.auth_schema import Invalid, document, profiles
from agenyx.config.profiles import Profile

KEY = "sk-secret-0123456789"
AZURE = {
    "id": "work",
    "type": "azure_openai",
    "default": True,
    "capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "high"}},
    "azure_openai": {
        "endpoint": "https://r.openai.azure.com",
        "model": "gpt-5.6-sol",
        "deployment": "d",
        "api_key": KEY,
        "api_version": "",
    },
}
OPENAI = {"id": "openai", "type": "openai", "openai": {"api_key": KEY + "o"}}
SERVER = {
    "id": "box",
    "type": "openai_compatible",
    "openai_compatible": {"base_url": "https://box.example/v1/", "model": "m", "wire": "responses"},
}
CLAUDE = {"id": "claude", "type": "anthropic", "anthropic": {"api_key": KEY + "a", "model": "claude-opus-5-5"}}
LOCAL = {"id": "here", "type": "local", "local": {"model": "small"}}

Change = Callable[[dict[str, Any]], Any]


def read(value: Any) -> tuple[Profile, ...]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return profiles(document(data))


def file(*entries: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"version": 2, "providers": list(entries), **extra}


def changed(change: Change, entry: dict[str, Any] = AZURE) -> dict[str, Any]:
    entry = copy.deepcopy(entry)
    change(entry)
    return file(entry)


def test_every_type_becomes_a_profile() -> None:
    azure, openai, server, claude, local = read(file(AZURE, OPENAI, SERVER, CLAUDE, LOCAL))
    assert (azure.wire, azure.base_url, azure.model, azure.deployment) == (
        "responses",
        "https://r.openai.azure.com",
        "gpt-5.6-sol",
        "d",
    )
    assert (azure.efforts, azure.default_effort, azure.default) == (("low", "high"), "high", True)
    assert (openai.wire, openai.base_url, openai.api_key) == ("chat", "https://api.openai.com/v1", KEY + "o")
    assert (server.wire, server.base_url, server.api_key, server.model) == (
        "responses",
        "https://box.example/v1",
        "",
        "m",
    )
    assert (claude.wire, claude.base_url) == ("anthropic", "https://api.anthropic.com/v1")
    assert (local.type, local.model) == ("local", "small")
    assert {profile.origin for profile in (azure, openai, server, claude, local)} == {"auth.json"}


@pytest.mark.parametrize("version", [1, 3, 0, -2, "2", 2.0, True, None, [2], 10**400])
def test_only_version_two(version: Any) -> None:
    with pytest.raises(Invalid, match="version must be 2"):
        read(file(AZURE, version=version))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "strict JSON"),
        (b"{", "strict JSON"),
        (b"[]", "Expected"),
        (b"\xef\xbb\xbf{}", "strict JSON"),
        ('{"version": 2}'.encode("utf-16"), "UTF-8"),
        (b'{"version": 2, "providers": "\xff"}', "UTF-8"),
        (b'{"version": 2, "version": 2, "providers": []}', "stands twice"),
        (b'{"version": NaN}', "not JSON"),
        (b'{"version": 2} trailing', "strict JSON"),
        (b'{"version": ' + b"1" * 5000 + b"}", "strict JSON"),
        (b"[" * 100_000, "strict JSON"),
    ],
)
def test_strict_json(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read(data)


def test_a_member_that_stands_twice_deep_inside() -> None:
    text = json.dumps(file(AZURE)).replace('"model":', '"deployment": "x", "model":')
    with pytest.raises(Invalid, match="'deployment' stands twice"):
        read(text.encode())


@pytest.mark.parametrize("count", [0, 33])
def test_one_to_thirty_two_profiles(count: int) -> None:
    entries = [OPENAI | {"id": f"p{n}"} for n in range(count)]
    with pytest.raises(Invalid, match=f"1 to 32 entries, and there are {count}"):
        read(file(*entries))


def test_thirty_two_profiles_are_read() -> None:
    assert len(read(file(*(OPENAI | {"id": f"p{n}"} for n in range(32))))) == 32


@pytest.mark.parametrize("name", ["a", "A9", "a.b_c-d", "9", "x" * 64])
def test_ids(name: str) -> None:
    assert read(file(OPENAI | {"id": name}))[0].id == name


@pytest.mark.parametrize("name", ["", "-a", ".a", "_a", "a b", "a/b", "ä", "x" * 65, "a\n", 7, None])
def test_ids_that_are_none(name: Any) -> None:
    with pytest.raises(Invalid, match=r"providers\[0\]"):
        read(file(OPENAI | {"id": name}))


def test_ids_are_unique() -> None:
    with pytest.raises(Invalid, match=r"providers\[1\].id stands twice"):
        read(file(OPENAI, CLAUDE | {"id": "openai"}))


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_default_is_a_boolean(value: Any) -> None:
    with pytest.raises(Invalid, match="default"):
        read(file(OPENAI | {"default": value}))


def test_two_defaults() -> None:
    with pytest.raises(Invalid, match="more than once"):
        read(file(AZURE, OPENAI | {"default": True}))


@pytest.mark.parametrize(
    ("reasoning", "efforts", "default"),
    [
        ({"efforts": ["none"]}, ("none",), ""),
        ({"efforts": ["none", "low", "medium", "high", "xhigh", "max"], "default_effort": "max"}, None, "max"),
        (None, (), ""),
    ],
)
def test_efforts(reasoning: Any, efforts: tuple[str, ...] | None, default: str) -> None:
    capabilities = {} if reasoning is None else {"reasoning": reasoning}
    profile = read(file(OPENAI | {"capabilities": capabilities}))[0]
    assert profile.default_effort == default
    assert profile.efforts == (tuple(reasoning["efforts"]) if efforts is None else efforts)


@pytest.mark.parametrize(
    "reasoning",
    [
        {},
        {"efforts": []},
        {"efforts": ["low", "low"]},
        {"efforts": ["LOW"]},
        {"efforts": ["minimal"]},
        {"efforts": "low"},
        {"efforts": [1]},
        {"efforts": ["low"], "default_effort": "high"},
        {"efforts": ["low"], "default_effort": None},
        {"efforts": ["low"], "more": 1},
        7,
    ],
)
def test_efforts_that_are_wrong(reasoning: Any) -> None:
    with pytest.raises(Invalid, match="reasoning"):
        read(file(OPENAI | {"capabilities": {"reasoning": reasoning}}))


@pytest.mark.parametrize("member", ["endpoint", "model", "deployment", "api_key", "api_version"])
def test_all_five_texts_of_azure_are_needed(member: str) -> None:
    with pytest.raises(Invalid, match=member):
        read(changed(lambda entry: entry["azure_openai"].pop(member)))


@pytest.mark.parametrize("member", ["endpoint", "model", "deployment", "api_key"])
def test_only_the_api_version_may_be_empty(member: str) -> None:
    with pytest.raises(Invalid, match=f"{member} is empty"):
        read(changed(lambda entry: entry["azure_openai"].update({member: ""})))


@pytest.mark.parametrize("member", ["endpoint", "model", "deployment", "api_key", "api_version"])
@pytest.mark.parametrize("value", [None, 7, True, [], {}])
def test_texts_are_texts(member: str, value: Any) -> None:
    with pytest.raises(Invalid, match=member):
        read(changed(lambda entry: entry["azure_openai"].update({member: value})))


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("model", "m" * 257, "longer than 256 bytes"),
        ("deployment", "ä" * 129, "longer than 256 bytes"),
        ("api_version", "v" * 129, "longer than 128 bytes"),
        ("api_key", "k" * (16 * 1024 + 1), "longer than 16384 bytes"),
        ("api_key", "a key", "white space"),
        ("api_key", "key\n", "white space"),
        ("api_key", "key\u00a0", "white space"),
        ("api_key", "k\u00e9y", "no key has"),
        ("model", " m", "white space"),
        ("deployment", "d\t", "white space"),
        ("model", "a\u200bb", "control or format"),
        ("model", "a\u2028b", "control or format"),
        ("model", "a\u2029b", "control or format"),
        ("model", "a\x00b", "control or format"),
        ("deployment", "a\u202eb", "control or format"),
        ("model", "a\ud800b", "control or format"),
        ("api_version", " ", "white space"),
    ],
)
def test_limits_of_texts(member: str, value: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        read(changed(lambda entry: entry["azure_openai"].update({member: value})))
    assert member in str(caught.value) and (value not in str(caught.value) or value == " ")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://r.example", "https://r.example"),
        ("https://r.example/", "https://r.example"),
        ("https://r.example/openai/v1/responses", "https://r.example"),
        ("https://r.example/openai/responses", "https://r.example"),
        ("https://r.example/openai/v1/", "https://r.example"),
        ("https://r.example/openai", "https://r.example"),
        ("https://r.example/proxy/openai", "https://r.example/proxy"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9"),
    ],
)
def test_endpoints(given: str, kept: str) -> None:
    assert read(changed(lambda entry: entry["azure_openai"].update(endpoint=given)))[0].base_url == kept


@pytest.mark.parametrize(
    "endpoint",
    [
        "r.example",
        "http://r.example",
        "ftp://r.example",
        "https://",
        "https://user@r.example",
        "https://user:pass@r.example",
        "https://r.example?x=1",
        "https://r.example#x",
        "https://r.example?",
        "https://[::1",
        "https://r.example:99999",
        "https://r example",
    ],
)
def test_endpoints_that_are_none(endpoint: str) -> None:
    with pytest.raises(Invalid, match="endpoint") as caught:
        read(changed(lambda entry: entry["azure_openai"].update(endpoint=endpoint)))
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (OPENAI | {"type": "other"}, "type must be one of"),
        (OPENAI | {"type": KEY}, "type must be one of"),
        (OPENAI | {"anthropic": {"api_key": KEY}}, "has the member anthropic"),
        ({"id": "x", "type": "anthropic"}, "lacks the member anthropic"),
        ({"id": "x", "type": "openai", "openai": {}}, "lacks the member api_key"),
        ({"id": "x", "type": "anthropic", "anthropic": {"model": "m"}}, "lacks the member api_key"),
        ({"id": "x", "type": "openai_compatible", "openai_compatible": {}}, "lacks the member base_url"),
        ({"id": "x", "type": "openai", "openai": {"api_key": KEY, "wire": "anthropic"}}, "wire must be one of"),
        ({"id": "x", "type": "anthropic", "anthropic": {"api_key": KEY, "wire": "chat"}}, "does not take"),
        ({"id": "x", "type": "openai", "openai": {"api_key": KEY, "base_url": "http://far.example"}}, "plain http"),
        ({"id": "x", "type": "openai", "openai": {"api_key": None}}, "api_key"),
        ({"id": "x", "type": "local", "local": {"base_url": "http://127.0.0.1"}}, "unknown field"),
        (OPENAI | {"note": "x"}, "unknown field `note`"),
        (OPENAI | {KEY + " pasted": "x"}, "unknown field"),
        ({"type": "openai", "openai": {"api_key": KEY}}, "missing required field `id`"),
        ("openai", "Expected `object`"),
    ],
)
def test_entries_that_are_wrong(entry: Any, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        read(file(entry))
    assert KEY not in str(caught.value)


def test_unknown_members_of_the_file() -> None:
    with pytest.raises(Invalid, match="unknown field `extra`"):
        read(file(OPENAI, extra=1))


def test_a_broken_sibling_invalidates_the_file() -> None:
    with pytest.raises(Invalid, match=r"providers\[1\].openai.api_key is empty"):
        read(file(AZURE, {"id": "other", "type": "openai", "openai": {"api_key": ""}}))


def test_a_key_may_not_stand_where_it_would_be_shown() -> None:
    sibling = {"id": "x", "type": "openai", "openai": {"api_key": "another-key", "model": f"m-{KEY}"}}
    with pytest.raises(Invalid, match=r"providers\[1\] holds a key") as caught:
        read(file(AZURE, sibling))
    assert KEY not in str(caught.value)


def in_keyring(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The entry with the place of its key in place of the key."""
    kind = entry["type"]
    member = {name: value for name, value in entry[kind].items() if name != "api_key"}
    return entry | {kind: member | {"api_key_source": "keyring"} | more}


@pytest.mark.parametrize("entry", [AZURE, OPENAI, SERVER, CLAUDE])
def test_a_key_may_lie_in_the_keyring(entry: dict[str, Any]) -> None:
    (profile,) = read(file(in_keyring(entry)))
    assert (profile.api_key, profile.in_keyring) == ("", True)
    assert profile.key_name == f"the system keyring ({profile.id})"
    assert not any(other.in_keyring for other in read(file(entry)))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (in_keyring(OPENAI, api_key=KEY), "both api_key and api_key_source"),
        (in_keyring(OPENAI, api_key_source="vault"), "api_key_source must be keyring"),
        (in_keyring(OPENAI, api_key_source=None), "api_key_source"),
        (LOCAL | {"local": {"api_key_source": "keyring"}}, "unknown field"),
    ],
)
def test_the_place_of_a_key_is_as_strict(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read(file(entry))
