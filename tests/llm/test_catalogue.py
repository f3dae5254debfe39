"""What is known of models: the shipped data, the person's own on top, and prices that are unknown rather than 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.config.profiles import EFFORTS
from agenyx.core.errors import ConfigError
from agenyx.core.events import Usage
from agenyx.llm.catalogue import Catalogue, Model, Over, Price, default_model, price, read

MILLION = 1_000_000
FULL = Model(price=Price(2.0, 10.0, cached=0.5, write=3.0))
BARE = Model(price=Price(2.0, 10.0))
TIERED = Model(price=Price(2.0, 10.0, cached=0.5, write=3.0, over=Over(4.0, 15.0, cached=1.0, write=6.0, tokens=1000)))


@pytest.mark.parametrize(
    ("usage", "model", "cost"),
    [
        (Usage(fresh=MILLION), FULL, 2.0),
        (Usage(cache_read=MILLION), FULL, 0.5),
        (Usage(cache_write=MILLION), FULL, 3.0),
        (Usage(out=MILLION), FULL, 10.0),
        (Usage(out=MILLION, reasoning=MILLION), FULL, 10.0),
        (Usage(MILLION, MILLION, MILLION, MILLION), FULL, 15.5),
        (Usage(fresh=500, cache_read=500, out=100), TIERED, 0.00225),
        (Usage(fresh=501, cache_read=500, out=100), TIERED, 0.004004),
        (Usage(), FULL, 0.0),
        (Usage(fresh=MILLION, out=MILLION), BARE, 12.0),
        (Usage(fresh=1, cache_read=1), BARE, None),
        (Usage(fresh=1), Model(window=1), None),
        (Usage(fresh=1), None, None),
        (Usage(), None, None),
    ],
)
def test_prices(usage: Usage, model: Model | None, cost: float | None) -> None:
    assert price(usage, model) == (None if cost is None else pytest.approx(cost))


def test_the_shipped_data_is_sane() -> None:
    catalogue = read()
    models = [(host, name, model) for host, known in catalogue.hosts.items() for name, model in known.models.items()]
    assert len(models) >= 12
    for host, name, model in models:
        assert model.window and model.window >= 128_000, name
        assert model.output is None or 0 < model.output <= model.window, name
        assert model.efforts is None or set(model.efforts) <= set(EFFORTS), name
        if model.price:
            rates = (model.price.cached, model.price.fresh, model.price.out)
            assert all(rate and rate > 0 for rate in rates) and sorted(rates) == list(rates), name  # type: ignore[type-var]
        assert host == host.lower()
    for host, known in catalogue.hosts.items():
        assert not known.default_model or known.default_model in known.models, host


def test_a_dated_snapshot_is_its_alias_and_other_hosts_know_nothing() -> None:
    catalogue = read()
    alias = catalogue.model("api.anthropic.com", "claude-haiku-4-5")
    assert alias is not None
    assert catalogue.model("api.anthropic.com", "claude-haiku-4-5-20251001") is alias
    assert catalogue.model("127.0.0.1", "claude-haiku-4-5") is None, "the same name elsewhere may be anything"
    assert catalogue.model("api.anthropic.com", "claude-haiku") is None


def own(home: Path, text: str) -> Catalogue:
    (home / "catalogue.json").write_text(text)
    return read(str(home))


def test_the_own_catalogue_goes_on_top(tmp_path: Path) -> None:
    models = '{"gpt-5.6-sol": {"window": 7}, "new": {"price": {"in": 1, "out": 2}}}'
    text = f'{{"hosts": {{"api.openai.com": {{"models": {models}}}, "box": {{"default_model": "b"}}}}}}'
    found = own(tmp_path, text)
    assert found.model("api.openai.com", "gpt-5.6-sol") == Model(window=7)
    assert price(Usage(fresh=MILLION), found.model("api.openai.com", "new")) == 1.0
    assert found.model("api.openai.com", "gpt-6.1-sol") == read().model("api.openai.com", "gpt-6.1-sol")
    assert default_model("api.openai.com", str(tmp_path)) == "gpt-5.6-sol"
    assert default_model("box", str(tmp_path)) == "b"
    assert default_model("box") == ""


@pytest.mark.parametrize("text", ["{", '{"hosts": 7}', '{"hosts": {"a": {"models": {"m": {"window": "x"}}}}}'])
def test_an_own_catalogue_that_is_wrong_is_told(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"catalogue\.json"):
        own(tmp_path, text)
