"""Which dialect a profile speaks."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.config.profiles import OPENAI_URL, Profile
from agenyx.llm.dialects import COMPATIBLE, LLAMA_CPP, LOOPBACK_SERVER, OPENAI, THINKING, Dialect, dialect_of


@pytest.mark.parametrize(
    ("kind", "url", "dialect"),
    [
        ("openai", OPENAI_URL, OPENAI),
        ("openai_compatible", "https://api.openai.com/v1/", OPENAI),
        ("openai_compatible", "https://api.deepseek.com", THINKING),
        ("openai_compatible", "https://gateway.example/v1", COMPATIBLE),
        ("openai_compatible", "http://localhost:8080/v1", LOOPBACK_SERVER),
        ("local", "http://127.0.0.1:5", LLAMA_CPP),
    ],
)
def test_by_host_and_kind(kind: Any, url: str, dialect: Dialect) -> None:
    assert dialect_of(Profile("x", kind, url)) is dialect


def test_slow_thinkers_get_more_time_and_only_openai_wants_the_new_size_field() -> None:
    assert COMPATIBLE.idle < OPENAI.idle < LOOPBACK_SERVER.idle
    assert OPENAI.size == "max_completion_tokens" and {COMPATIBLE.size, LLAMA_CPP.size, THINKING.size} == {"max_tokens"}
