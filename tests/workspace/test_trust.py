"""Trust is in content, not in places."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agenyx.core.errors import ConfigError
from agenyx.workspace.trust import Trust

ONE, CHANGED, TWO = ("/w/AGENTS.md", "aa"), ("/w/AGENTS.md", "bb"), ("/w/CLAUDE.md", "cc")


def test_what_was_granted_holds_until_it_changes(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    assert not Trust(home).holds("/w", [ONE])
    Trust(home).grant("/w", [ONE])
    assert Trust(home).holds("/w", [ONE])
    assert not Trust(home).holds("/w", [ONE, TWO]), "a new file asks again"
    assert not Trust(home).holds("/w", [CHANGED]), "changed content asks again"
    assert not Trust(home).holds("/other", [ONE]), "another workspace asks again"
    Trust(home).grant("/w", [TWO])
    Trust(home).grant("/other", [CHANGED])
    assert Trust(home).holds("/w", [ONE, TWO])
    assert stat.S_IMODE(os.stat(os.path.join(home, "trust.json")).st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"trusted": {"/w": 1}}'])
def test_a_damaged_store_is_an_error_and_no_trust(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "trust.json").write_bytes(damage)
    with pytest.raises(ConfigError, match=r"trust\.json"):
        Trust(str(tmp_path)).holds("/w", [ONE])
