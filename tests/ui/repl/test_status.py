"""Figures in words."""

from __future__ import annotations

import pytest

from agenyx.core.events import Usage
from agenyx.ui.chat.status import money, status_line, tokens
from agenyx.ui.spans import ASCII, cells

from .fakes import FakeStatus


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (950, "950"), (1000, "1k"), (12_345, "12.3k"), (128_000, "128k"), (1_200_000, "1.2M")]
)
def test_tokens(count: int, text: str) -> None:
    assert tokens(count) == text


@pytest.mark.parametrize(
    ("dollars", "text"), [(None, "$?"), (0.0, "$0.00"), (0.0123, "$0.0123"), (0.5, "$0.5"), (12.346, "$12.35")]
)
def test_an_unknown_price_is_no_zero(dollars: float | None, text: str) -> None:
    assert money(dollars) == text


def test_the_line_holds_what_fits_the_most_important_first() -> None:
    status = FakeStatus(usage=Usage(10), context=16_000, window=128_000, cost=0.5, branch="feature/\x1b[2J")
    assert status_line(status, 99, ASCII) == "model-1 | default | 12% of 128k | $0.5 | feature/\\x1b[2J"
    for width in range(8, 60):
        assert cells(status_line(status, width, ASCII)) < width
    assert status_line(status, 20, ASCII) == "model-1 | default"


def test_what_is_not_known_is_left_out() -> None:
    assert status_line(FakeStatus(), 99, ASCII) == "model-1 | default | main"
    assert "1.5k context" in status_line(FakeStatus(context=1_500), 99, ASCII)
