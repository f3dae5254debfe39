"""What is known of providers without asking them; the data is `catalogue.json`, read only when it is needed."""

from __future__ import annotations

import os

from msgspec import Struct

from agenyx.core import json


class Host(Struct, frozen=True):
    """One provider. `default_model` is empty where there is no sensible default."""

    default_model: str = ""


class Catalogue(Struct, frozen=True):
    """`hosts` by the host name of the base URL."""

    hosts: dict[str, Host] = {}


def read() -> Catalogue:
    """The catalogue that this version came with."""
    with open(os.path.join(os.path.dirname(__file__), "catalogue.json"), "rb") as file:
        return json.Decoder(Catalogue).decode(file.read())


def default_model(host: str) -> str:
    """The default model of the provider at this host, or an empty string."""
    return read().hosts.get(host, Host()).default_model
