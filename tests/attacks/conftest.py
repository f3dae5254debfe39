from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .harness import Place, Range


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Range]:
    """Judges only: nothing that a test asks about runs."""
    yield from _range(Place(tmp_path_factory.mktemp("judged") / "place"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Range]:
    """The same, in a workspace with a clean tree, without secrets and links."""
    yield from _range(Place(tmp_path_factory.mktemp("plain") / "place", secrets=False))


def _range(made: Place) -> Iterator[Range]:
    judge = Range(made)
    yield judge
    judge.close()
    made.unharmed()
    made.close()
