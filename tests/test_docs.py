"""Pages that programs make are current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def test_the_page_of_explanations_is_current() -> None:
    done = subprocess.run([sys.executable, TOP / "docs" / "explain.py", "--check"], check=False)
    assert done.returncode == 0, "run docs/explain.py, and read what changed"
