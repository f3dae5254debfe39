"""How large a window Ollama gives, and what is told about it before the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agenyx.config.profiles import Profile
from agenyx.core.events import Notice
from agenyx.core.messages import Text, User
from agenyx.llm.ollama import Window, notice, window
from agenyx.llm.request import Options, Request
from support.ollama import Ollama, ollama

MODEL = "qwen3:8b"


@pytest.fixture
def server() -> Iterator[Ollama]:
    with ollama() as fake:
        yield fake


def look(server: Ollama, model: str = MODEL) -> Window:
    return asyncio.run(window(Profile("ollama", "openai_compatible", f"{server.url}/v1"), model, {}))


def paths(server: Ollama) -> set[str]:
    return {path for path, _ in server.asked}


def test_the_models_own_setting_counts(server: Ollama) -> None:
    server.parameters = 'stop                           "<|im_end|>"\nnum_ctx                        24576\n'
    server.running[MODEL] = 4096  # another program asked for less: our request has it loaded anew
    assert look(server) == Window(24_576, 40_960)
    assert "/api/generate" not in paths(server)


def test_else_the_window_of_the_loaded_model(server: Ollama) -> None:
    server.running |= {"other:latest": 131_072, MODEL: 32_768}
    assert look(server).tokens == 32_768
    assert "/api/generate" not in paths(server)


def test_a_model_that_is_not_loaded_is_loaded_without_a_prompt(server: Ollama) -> None:
    assert look(server) == Window(4096, 40_960)
    assert ("/api/generate", {"model": MODEL, "stream": False}) in server.asked


def test_the_tag_latest_may_be_left_out(server: Ollama) -> None:
    server.running["box:latest"] = 8192
    assert look(server, "box").tokens == 8192


def test_no_window_is_larger_than_the_model_was_made_for(server: Ollama) -> None:
    server.loads = 262_144
    assert look(server).tokens == 40_960


def test_a_model_that_runs_elsewhere_has_its_full_window(server: Ollama) -> None:
    server.remote = "https://ollama.com:443"
    assert look(server).tokens == 40_960
    assert "/api/generate" not in paths(server)


@pytest.mark.parametrize("broken", ["unknown", "gone"])
def test_a_server_that_does_not_say_is_no_error(broken: str, server: Ollama) -> None:
    if broken == "unknown":
        server.broken = True
        assert look(server) == Window()
        assert "/api/generate" not in paths(server)
    else:
        assert asyncio.run(window(Profile("x", "openai_compatible", "http://127.0.0.1:9/v1"), MODEL, {})) == Window()


def told(tokens: int | None, prompt: str = "hello", most: int | None = 131_072) -> Notice:
    return notice(MODEL, Window(tokens, most), Request(MODEL, Options(), (), (), (User((Text(prompt),)),)))


def test_a_large_window_is_only_mentioned() -> None:
    assert told(32_768) == Notice("info", "Ollama gives qwen3:8b a window of 32,768 tokens.")


@pytest.mark.parametrize(
    ("tokens", "prompt", "words"),
    [
        (8192, "hello", "leaves about"),
        (16_384, "word " * 12_000, "leaves about"),
        (4096, "word " * 4000, "the first request needs about"),
        (None, "hello", "does not tell the window"),
    ],
)
def test_a_small_or_unknown_window_is_a_warning_with_the_remedy(tokens: int | None, prompt: str, words: str) -> None:
    said = told(tokens, prompt)
    assert said.level == "warning" and words in said.text and "without a word" in said.text
    assert "OLLAMA_CONTEXT_LENGTH=32768" in said.fix and "num_ctx 32768" in said.fix


def test_no_more_is_suggested_than_the_model_was_made_for() -> None:
    assert "num_ctx 20480" in told(4096, most=20_480).fix
