"""The file as a person meets it: what a bad one says, and what changing one profile leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenyx.config import auth
from agenyx.core.errors import ConfigError, UsageError

KEY = "sk-secret-0123456789"


def entry(name: str, key: str = KEY, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "openai", "openai": {"api_key": f"{key}-{name}"}, **more}


def write(home: Path, value: Any) -> Path:
    path = home / "auth.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    path.chmod(0o600)
    return path


def stored(home: Path) -> list[dict[str, Any]]:
    return json.loads((home / "auth.json").read_text())["providers"]


def test_no_file_is_no_error(tmp_path: Path) -> None:
    assert auth.load(str(tmp_path)) is None


@pytest.mark.parametrize("bad", ["{", '{"version": 1}', '{"version": 2, "providers": []}'])
def test_a_bad_file_names_path_reason_and_a_valid_document(bad: str, tmp_path: Path) -> None:
    path = write(tmp_path, bad)
    with pytest.raises(ConfigError) as caught:
        auth.load(str(tmp_path))
    assert str(path) in caught.value.message and "invalid" in caught.value.message
    document = caught.value.fix[caught.value.fix.index("{") :]
    write(tmp_path, document)
    assert auth.load(str(tmp_path)), "the document that is shown is a valid one"


def test_an_unreadable_file_shows_the_document_too(tmp_path: Path) -> None:
    write(tmp_path, {}).chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        auth.load(str(tmp_path))
    assert "chmod 600" in caught.value.fix and '"version": 2' in caught.value.fix


def test_adding_keeps_the_others_and_their_order(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert auth.put(home, entry("a")) is False
    assert auth.put(home, entry("b")) is False
    assert auth.put(home, entry("c")) is False
    assert [item["id"] for item in stored(tmp_path)] == ["a", "b", "c"]
    assert [item.get("default") for item in stored(tmp_path)] == [True, None, None], "the only one stays the default"


def test_replacing_keeps_what_was_declared_beside_the_key(tmp_path: Path) -> None:
    declared = {"reasoning": {"efforts": ["low", "high"]}}
    write(tmp_path, {"version": 2, "providers": [entry("a", default=True, capabilities=declared), entry("b")]})
    before = auth.load(str(tmp_path))
    assert auth.put(str(tmp_path), entry("a", "new-key-0123456789")) is True
    after = auth.load(str(tmp_path))
    assert before and after
    assert after[0].api_key == "new-key-0123456789-a" and after[0].efforts == ("low", "high") and after[0].default
    assert after[1] == before[1]
    assert after[0].fingerprint("m") == before[0].fingerprint("m"), "sessions outlive the rotation of a key"


def test_a_broken_file_is_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path, '{"version": 1}')
    with pytest.raises(ConfigError):
        auth.put(str(tmp_path), entry("a"))
    assert path.read_text() == '{"version": 1}'


def test_a_thirty_third_profile_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    write(tmp_path, {"version": 2, "providers": [entry(f"p{n}") for n in range(32)]})
    with pytest.raises(ConfigError, match="1 to 32"):
        auth.put(str(tmp_path), entry("more"))
    assert len(stored(tmp_path)) == 32


def test_removing(tmp_path: Path) -> None:
    home = str(tmp_path)
    auth.put(home, entry("a"))
    auth.put(home, entry("b"))
    with pytest.raises(UsageError, match="no profile 'c'"):
        auth.drop(home, "c")
    assert auth.drop(home, "a") == 1
    assert auth.drop(home, "b") == 0
    assert not (tmp_path / "auth.json").exists()


def test_one_default_at_a_time(tmp_path: Path) -> None:
    home = str(tmp_path)
    auth.put(home, entry("a"))
    auth.put(home, entry("b"))
    auth.make_default(home, "b")
    assert [item.get("default") for item in stored(tmp_path)] == [None, True]
