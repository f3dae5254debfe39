"""The baked version: what git says, and the PEP 440 form of it."""

from __future__ import annotations

import importlib.util
import subprocess
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", TOP / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v1.2.3", "1.2.3"),
        ("1.2.3", "1.2.3"),
        ("v1.2.3rc1", "1.2.3rc1"),
        ("v1.2.3-4-gabc1234", "1.2.3.post4+gabc1234"),
        ("v1.2.3-4-gabc1234-dirty", "1.2.3.post4+gabc1234.dirty"),
        ("v1.2.3-dirty", "1.2.3+dirty"),
        ("abc1234", "0.0.0+gabc1234"),
        ("1234567", "0.0.0+g1234567"),
        ("abc1234-dirty", "0.0.0+gabc1234.dirty"),
        ("unknown", "0.0.0"),
    ],
)
def test_pep440(build: ModuleType, described: str, version: str) -> None:
    from packaging.version import Version

    assert build.pep440(described) == version
    assert str(Version(version)) == version


def test_describe_asks_git_and_falls_back_to_what_was_baked(build: ModuleType, tmp_path: Path) -> None:
    assert build.describe(tmp_path) == "unknown"
    baked = tmp_path / "src" / "agenyx" / "_version.py"
    baked.parent.mkdir(parents=True)
    baked.write_text('DESCRIBE = "v9.9"\n', "utf-8")
    assert build.describe(tmp_path) == "v9.9"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "tag", "v3.1"], check=True)
    assert build.describe(tmp_path) == "v3.1"


def test_the_installed_package_carries_both_forms(build: ModuleType) -> None:
    from agenyx import _version

    assert metadata.version("agenyx") == _version.VERSION == build.pep440(_version.DESCRIBE)
