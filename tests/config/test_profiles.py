"""Which profile is used, what a fingerprint depends on, and which addresses are taken."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agenyx.config.profiles import Profile, clean_anthropic, clean_azure, clean_url, select
from agenyx.core.errors import AgenyxError, ConfigError, UsageError

A = Profile("a", "openai", "https://a.example/v1", "key-a")
B = Profile("b", "openai", "https://b.example/v1", "key-b")
D = Profile("d", "openai", "https://d.example/v1", "key-d", default=True)


@pytest.mark.parametrize(
    ("profiles", "provider", "chosen"),
    [
        ((A,), "", "a"),
        ((A,), "a", "a"),
        ((A, B), "b", "b"),
        ((A, D), "", "d"),
        ((D, A), "a", "a"),
        ((A, B, D), "", "d"),
    ],
)
def test_selection(profiles: tuple[Profile, ...], provider: str, chosen: str) -> None:
    assert select(profiles, provider).id == chosen


@pytest.mark.parametrize(
    ("profiles", "provider", "error", "words"),
    [
        ((A, B), "", ConfigError, ["2 providers", "a, b", "--provider", '"default": true']),
        ((A, B), "c", UsageError, ["'c'", "a, b"]),
        ((A,), "A", UsageError, ["'A'"]),
        ((A,), "a ", UsageError, ["'a '"]),
    ],
)
def test_what_decides_nothing_is_explained(
    profiles: tuple[Profile, ...], provider: str, error: type[AgenyxError], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        select(profiles, provider)
    said = f"{caught.value.message} {caught.value.fix}"
    assert all(word in said for word in words)


def test_a_fingerprint_depends_on_everything_but_the_key() -> None:
    azure = Profile("z", "azure_openai", "https://r.example", "key", model="m", deployment="d", api_version="v1")
    same = azure.fingerprint("m")
    assert replace(azure, api_key="another", id="renamed", default=True).fingerprint("m") == same
    others = [
        replace(azure, type="openai"),
        replace(azure, base_url="https://other.example"),
        replace(azure, deployment="e"),
        replace(azure, api_version=""),
    ]
    assert len({same, azure.fingerprint("n"), *(other.fingerprint("m") for other in others)}) == 6


@pytest.mark.parametrize(
    ("clean", "given", "kept"),
    [
        (clean_url, "https://h.example/v1/", "https://h.example/v1"),
        (clean_url, "http://localhost:1/v1", "http://localhost:1/v1"),
        (clean_url, "http://[::1]:1/v1", "http://[::1]:1/v1"),
        (clean_azure, "https://r.example/openai/v1/responses", "https://r.example"),
        (clean_anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
        (clean_anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1"),
        (clean_anthropic, "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
        (clean_anthropic, "https://h.example/anthropic", "https://h.example/anthropic/v1"),
    ],
)
def test_addresses(clean: object, given: str, kept: str) -> None:
    assert clean(given, "X") == kept  # type: ignore[operator]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h.example",
        "ftp://h.example",
        "https://",
        "https://u:secret@h.example",
        "https://h.example?key=secret",
        "https://h.example#secret",
        "http://h.example/v1",
        "https://h.example:x",
        "https://h\n.example",
    ],
)
def test_addresses_that_are_none_name_their_source_and_no_secret(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        clean_url(url, "OPENAI_BASE_URL")
    assert "OPENAI_BASE_URL" in caught.value.message and caught.value.fix
    assert "secret" not in caught.value.message
