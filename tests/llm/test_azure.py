"""Where Azure is asked: every form of an endpoint that people copy, every kind of API version."""

from __future__ import annotations

import pytest

from agenyx.llm.azure import azure_url

HOST = "https://res.openai.azure.com"


@pytest.mark.parametrize(
    "suffix", ["", "/", "/openai", "/openai/", "/openai/v1", "/openai/responses", "/openai/v1/responses"]
)
@pytest.mark.parametrize(
    ("version", "route"),
    [
        ("", "/openai/v1/responses"),
        ("v1", "/openai/v1/responses?api-version=v1"),
        ("preview", "/openai/v1/responses?api-version=preview"),
        ("2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview"),
        ("2025-03-01", "/openai/responses?api-version=2025-03-01"),
    ],
)  # fmt: skip
def test_every_row(suffix: str, version: str, route: str) -> None:
    assert azure_url(HOST + suffix, version) == HOST + route


def test_a_path_in_front_is_kept_and_only_one_suffix_goes() -> None:
    assert azure_url("https://gw.example/team/openai/v1", "") == "https://gw.example/team/openai/v1/responses"
    assert (
        azure_url("https://gw.example/openai/openai", "v0")
        == "https://gw.example/openai/openai/responses?api-version=v0"
    )


def test_a_version_cannot_add_to_the_query() -> None:
    assert azure_url(HOST, "v0&x=1#y") == HOST + "/openai/responses?api-version=v0%26x%3D1%23y"
