"""What is known of providers and models without asking them: windows, outputs, prices, abilities.

The data is `catalogue.json`; `<home>/catalogue.json`, of the same shape, goes on top. Read only when it is needed. What
is unknown is None, never 0.
"""

from __future__ import annotations

import os
import re
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.errors import ConfigError
from agenyx.core.events import Usage

Ability = Literal["tools", "images", "documents", "reasoning"]
_DATED = re.compile(r"-20\d\d-?\d\d-?\d\d$")  # the day of a snapshot, which its alias leaves out


class Rates(Struct, frozen=True):
    """US dollars per million tokens: fresh input, cached input, input that is written to the cache, output."""

    fresh: float = field(name="in")
    out: float
    cached: float | None = None
    write: float | None = None


class Over(Rates, frozen=True, kw_only=True):
    """The rates of a whole request whose input, cached or not, is more than `tokens`."""

    tokens: int


class Price(Rates, frozen=True, kw_only=True):
    over: Over | None = None


class Model(Struct, frozen=True):
    """One model. `window` and `output` in tokens; `efforts` is empty for one that takes none. None means unknown."""

    window: int | None = None
    output: int | None = None
    price: Price | None = None
    efforts: tuple[str, ...] | None = None
    abilities: tuple[Ability, ...] | None = None


class Host(Struct, frozen=True):
    """One provider. `default_model` is empty where there is no sensible default."""

    default_model: str = ""
    models: dict[str, Model] = {}


class Catalogue(Struct, frozen=True):
    """`hosts` by the host name of the base URL."""

    hosts: dict[str, Host] = {}

    def model(self, host: str, name: str) -> Model | None:
        """What is known of a model of this provider; a dated snapshot is its alias. None when nothing is."""
        models = self.hosts.get(host, Host()).models
        return models.get(name) or models.get(_DATED.sub("", name))


def read(home: str = "") -> Catalogue:
    """The catalogue that this version came with, with the person's own on top. Raises ConfigError for a bad own one."""
    with open(os.path.join(os.path.dirname(__file__), "catalogue.json"), "rb") as file:
        shipped = json.Decoder(Catalogue).decode(file.read())
    path = os.path.join(home, "catalogue.json")
    if not home or not os.path.lexists(path):
        return shipped
    try:
        with open(path, "rb") as file:
            own = json.strict(file.read(1 << 20).decode("utf-8"), Catalogue)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "Mend or remove it.") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no catalogue: {error}", "Mend or remove it.") from None
    hosts = dict(shipped.hosts)
    for name, host in own.hosts.items():
        known = hosts.get(name, Host())
        hosts[name] = replace(
            known, default_model=host.default_model or known.default_model, models=known.models | host.models
        )
    return Catalogue(hosts)


def default_model(host: str, home: str = "") -> str:
    """The default model of the provider at this host, or an empty string."""
    return read(home).hosts.get(host, Host()).default_model


def price(usage: Usage, model: Model | None) -> float | None:
    """What one response cost in US dollars, None when that is not known.

    A kind of tokens without a rate of its own makes the cost unknown as soon as there are any. Give it the usage of one
    response: the dearer rates of long requests count for each request.
    """
    if model is None or model.price is None:
        return None
    rates: Rates = model.price
    if model.price.over and usage.fresh + usage.cache_read + usage.cache_write > model.price.over.tokens:
        rates = model.price.over
    total = 0.0
    for tokens, rate in (
        (usage.fresh, rates.fresh),
        (usage.cache_read, rates.cached),
        (usage.cache_write, rates.write),
        (usage.out, rates.out),
    ):
        if tokens and rate is None:
            return None
        total += tokens * (rate or 0.0)
    return total / 1_000_000
