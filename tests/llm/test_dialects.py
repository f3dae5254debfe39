"""Which dialect a profile speaks."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.config.profiles import OPENAI_URL, Profile
from agenyx.llm.dialects import (
    COMPATIBLE,
    HOSTS,
    LLAMA_CPP,
    LM_STUDIO,
    LOOPBACK_SERVER,
    MESSAGES_ANTHROPIC,
    MESSAGES_LOOPBACK,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    PORTS,
    RESPONSES_COMPATIBLE,
    RESPONSES_LOOPBACK,
    RESPONSES_OPENAI,
    THINKING,
    VLLM,
    Dialect,
    dialect_of,
    messages_dialect_of,
    responses_dialect_of,
)


@pytest.mark.parametrize(
    ("kind", "url", "dialect"),
    [
        ("openai", OPENAI_URL, OPENAI),
        ("openai_compatible", "https://api.openai.com/v1/", OPENAI),
        ("openai_compatible", "https://api.deepseek.com", THINKING),
        ("openai_compatible", "https://gateway.example/v1", COMPATIBLE),
        ("openai_compatible", "http://localhost:8080/v1", LOOPBACK_SERVER),
        ("openai_compatible", "http://localhost:11434/v1", OLLAMA),
        ("openai_compatible", "http://127.0.0.1:1234/v1", LM_STUDIO),
        ("openai_compatible", "http://[::1]:8000/v1", VLLM),
        ("openai_compatible", "https://gateway.example:11434/v1", COMPATIBLE),
        ("openai_compatible", "https://openrouter.ai/api/v1", OPENROUTER),
        ("openai_compatible", "https://api.moonshot.ai/v1", THINKING),
        ("local", "http://127.0.0.1:5", LLAMA_CPP),
    ],
)
def test_by_host_and_kind(kind: Any, url: str, dialect: Dialect) -> None:
    assert dialect_of(Profile("x", kind, url)) is dialect


def test_a_server_that_was_found_is_known_wherever_it_listens() -> None:
    assert dialect_of(Profile("ollama", "openai_compatible", "http://127.0.0.1:5/v1")) is OLLAMA
    assert dialect_of(Profile("vllm", "openai_compatible", "http://127.0.0.1:5/v1")) is VLLM
    assert dialect_of(Profile("ollama", "openai_compatible", "https://gateway.example/v1")) is COMPATIBLE


def test_slow_thinkers_get_more_time_and_only_openai_wants_the_new_size_field() -> None:
    assert COMPATIBLE.idle < OPENAI.idle < LOOPBACK_SERVER.idle
    assert OPENAI.size == "max_completion_tokens" and {COMPATIBLE.size, LLAMA_CPP.size, THINKING.size} == {"max_tokens"}


@pytest.mark.parametrize(
    ("kind", "url", "dialect"),
    [
        ("openai", OPENAI_URL, RESPONSES_OPENAI),
        ("openai_compatible", OPENAI_URL, RESPONSES_OPENAI),
        ("azure_openai", "https://res.openai.azure.com", RESPONSES_OPENAI),
        ("openai_compatible", "https://gateway.example/v1", RESPONSES_COMPATIBLE),
        ("openai_compatible", "http://localhost:8080/v1", RESPONSES_LOOPBACK),
    ],
)
def test_responses_servers(kind: Any, url: str, dialect: Any) -> None:
    assert responses_dialect_of(Profile("x", kind, url, wire="responses")) is dialect


def test_messages_servers() -> None:
    assert messages_dialect_of(Profile("x", "anthropic", "https://api.anthropic.com")) is MESSAGES_ANTHROPIC
    assert messages_dialect_of(Profile("x", "anthropic", "http://127.0.0.1:1")) is MESSAGES_LOOPBACK


def test_calls_in_text_are_taken_from_servers_on_this_machine_only() -> None:
    assert not any(dialect.text_calls for dialect in (*HOSTS.values(), COMPATIBLE))
    assert not any(dialect.text_calls for dialect in (RESPONSES_OPENAI, RESPONSES_COMPATIBLE))
    assert all(dialect.text_calls for dialect in (*PORTS.values(), LOOPBACK_SERVER, LLAMA_CPP, RESPONSES_LOOPBACK))
