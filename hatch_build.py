"""Bakes the version in at build time, so that the program never starts git to know who it is.

`git describe --tags --always --dirty` is what `agenyx --version` shows; the package metadata carries a PEP 440 form of
the same. Outside a git checkout (an sdist) the file that an earlier build wrote is kept.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # imported by a test without hatchling
    BuildHookInterface = object  # type: ignore[assignment,misc]

HERE = Path(__file__).resolve().parent if "__file__" in globals() else Path.cwd()
BAKED = Path("src/agenyx/_version.py")


def describe(root: Path = HERE) -> str:
    """What git calls this checkout; what the last build baked in; else `unknown`."""
    if (root / ".git").exists():
        done = subprocess.run(
            ["git", "describe", "--tags", "--always", "--dirty"],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    baked = root / BAKED
    found = re.search(r'DESCRIBE = "([^"]+)"', baked.read_text("utf-8")) if baked.exists() else None
    return found.group(1) if found else "unknown"


def pep440(text: str | None = None) -> str:
    """`v1.2.3` → `1.2.3`; `v1.2.3-4-gabc` → `1.2.3.post4+gabc`; a bare hash → `0.0.0+gHASH`; dirty adds `.dirty`."""
    text = describe() if text is None else text
    clean = text.removesuffix("-dirty")
    dirty = "dirty" if clean != text else ""
    tagged = re.fullmatch(r"v?(\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?)(?:-(\d+)-(g[0-9a-f]+))?", clean)
    if tagged and not re.fullmatch(r"[0-9a-f]{7,40}", clean):
        number, distance, commit = tagged.groups()
        version = f"{number}.post{distance}" if distance else number
        local = [part for part in (commit, dirty) if part]
    else:
        commit = f"g{clean}" if re.fullmatch(r"[0-9a-f]{4,40}", clean) else ""
        version, local = "0.0.0", [part for part in (commit, dirty) if part]
    return f"{version}+{'.'.join(local)}" if local else version


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc,valid-type]
    """Writes `agenyx/_version.py` before the files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        text = describe(root)
        (root / BAKED).write_text(
            f'"""Baked in at build; not in version control."""\n\nDESCRIBE = "{text}"\nVERSION = "{pep440(text)}"\n',
            "utf-8",
        )
