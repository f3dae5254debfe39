"""Trust is in content, and in the folder that was opened."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from pathlib import Path

import pytest

from agenyx.core.errors import ConfigError
from agenyx.workspace import trust as module
from agenyx.workspace.trust import Stamp, Trust, Trusted, fingerprint

STAMP = Stamp(1, 2, 3, 4, 5)
ONE = {"/w/AGENTS.md": Trusted("aa", "instructions", 1)}
CHANGED = {"/w/AGENTS.md": Trusted("bb", "instructions", 1)}
TWO = {"/w/CLAUDE.md": Trusted("cc", "instructions", 1)}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


def test_what_was_granted_holds_until_it_changes(home: str, work: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert not Trust(home).holds(str(work), ONE)
    Trust(home).grant(str(work), ONE)
    assert Trust(home).holds(str(work), ONE)
    assert Trust(home).holds(str(work), {}), "what is gone does not act"
    assert not Trust(home).holds(str(work), ONE | TWO), "a new file asks again"
    assert not Trust(home).holds(str(work), CHANGED), "changed content asks again"
    assert not Trust(home).holds(str(tmp_path / "other"), ONE), "another workspace asks again"
    as_hook = {"/w/AGENTS.md": Trusted("aa", "hooks", 1)}
    assert not Trust(home).holds(str(work), as_hook), "the same text in another role asks again"
    Trust(home).grant(str(work), ONE | TWO)
    Trust(home).grant(str(tmp_path / "other"), CHANGED)
    assert Trust(home).holds(str(work), ONE | TWO)
    Trust(home).grant(str(work), TWO)
    assert not Trust(home).holds(str(work), ONE), "a grant is of what is there now"
    assert stat.S_IMODE(os.stat(os.path.join(home, "trust.json")).st_mode) == 0o600
    assert Trust(home).revoke(str(work))
    assert not Trust(home).revoke(str(work))
    assert not Trust(home).holds(str(work), TWO)


def test_another_folder_at_the_same_path_is_another_workspace(home: str, work: Path) -> None:
    Trust(home).grant(str(work), ONE)
    away = work.rename(work.with_name("away"))
    assert not Trust(home).holds(str(work), ONE)
    work.mkdir()
    assert not Trust(home).holds(str(work), ONE)
    assert not Trust(home).holds(str(away), ONE), "nor does trust follow the folder"
    work.rmdir()
    away.rename(work)
    assert Trust(home).holds(str(work), ONE)


@pytest.mark.parametrize("pair", [(b"w-\xff", "w-\\xff"), ("w-é", "w-e\u0301"), (b"w-\xc3", b"w-\xc3\xa9")])
def test_names_that_look_alike_are_not_the_same(home: str, tmp_path: Path, pair: tuple[bytes | str, ...]) -> None:
    first, second = (os.path.join(str(tmp_path), os.fsdecode(name)) for name in pair)
    os.mkdir(first)
    if os.path.exists(second):
        pytest.skip("the file system takes both for one name")
    os.mkdir(second)
    Trust(home).grant(first, ONE)
    assert Trust(home).holds(first, ONE)
    assert not Trust(home).holds(second, ONE)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"workspaces": {"/w": 1}}'])
def test_a_damaged_store_is_an_error_and_no_trust(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "trust.json").write_bytes(damage)
    (tmp_path / "trust.json").chmod(0o600)
    with pytest.raises(ConfigError, match=r"trust\.json"):
        Trust(str(tmp_path)).holds("/w", ONE)
    with pytest.raises(ConfigError, match=r"trust\.json"):
        Trust(str(tmp_path)).grant(str(tmp_path), ONE)
    assert (tmp_path / "trust.json").read_bytes() == damage


@pytest.mark.parametrize("how", ["link", "open", "names"])
def test_a_store_that_others_could_write_is_not_believed(home: str, work: Path, tmp_path: Path, how: str) -> None:
    Trust(home).grant(str(work), ONE)
    path = os.path.join(home, "trust.json")
    if how == "link":
        os.rename(path, tmp_path / "forged")
        os.symlink(tmp_path / "forged", path)
    elif how == "open":
        os.chmod(path, 0o666)
    else:
        os.link(path, tmp_path / "second")
    with pytest.raises(ConfigError, match=r"trust\.json"):
        Trust(home).holds(str(work), ONE)


def test_a_file_still_warm_is_read_again(work: Path) -> None:
    (work / "a").write_text("one")
    facts = os.stat(work / "a")
    stood = max(facts.st_mtime_ns, facts.st_ctime_ns)
    data, warm = fingerprint(str(work), "a", 100, lambda: stood + 1_999_999_999)
    assert (data, warm.sha256, warm.stamp) == (b"one", hashlib.sha256(b"one").hexdigest(), None)
    _, cold = fingerprint(str(work), "a", 100, lambda: stood + 2_000_000_000)
    assert cold.stamp == Stamp(facts.st_dev, facts.st_ino, 3, facts.st_mtime_ns, facts.st_ctime_ns)


def test_a_better_stamp_is_kept(home: str, work: Path) -> None:
    Trust(home).grant(str(work), ONE | TWO)
    stamped = {"/w/AGENTS.md": Trusted("aa", "instructions", 1, STAMP)}
    assert Trust(home).holds(str(work), stamped)
    grant = Trust(home).grant_of(str(work))
    assert grant is not None
    assert grant.files == stamped | TWO


def put(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def refreshed(home: str, work: Path, path: Path, old: str, new: str) -> bool:
    return Trust(home).refresh(str(work), str(path), old, new, "instructions")


def trusted(home: str, work: Path, path: Path) -> str:
    grant = Trust(home).grant_of(str(work))
    file = grant.files.get(str(path)) if grant else None
    return file.sha256 if file else ""


def test_an_approved_edit_of_a_trusted_file_keeps_trust(home: str, work: Path) -> None:
    path = work / "AGENTS.md"
    old = put(path, b"old")
    Trust(home).grant(str(work), {str(path): Trusted(old, "instructions", 3)}, [b"old"])
    new = put(path, b"new")
    assert refreshed(home, work, path, old, new)
    assert trusted(home, work, path) == new
    assert Trust(home).text(new) == b"new"
    assert Trust(home).text(old) is None, "what nothing refers to goes"


def test_an_edit_of_what_was_not_trusted_gives_no_trust(home: str, work: Path) -> None:
    path, other = work / "AGENTS.md", work / "CLAUDE.md"
    old = put(path, b"old")
    new = put(path, b"new")
    assert not refreshed(home, work, path, old, new), "nothing is trusted"
    Trust(home).grant(str(work), {str(path): Trusted(old, "instructions", 3)})
    foreign = hashlib.sha256(b"foreign").hexdigest()
    assert not refreshed(home, work, path, foreign, new), "somebody changed it before the edit"
    assert not refreshed(home, work, path, "", new), "it is not new"
    assert not refreshed(home, work, path, old, foreign), "somebody changed it after the edit"
    assert not refreshed(home, work, other, old, new), "there is no such file"
    assert not refreshed(home, work, other, old, put(other, b"new")), "another file"
    assert trusted(home, work, path) == old
    assert refreshed(home, work, other, "", put(other, b"made")), "a new file in a trusted workspace"
    path.unlink()
    path.symlink_to(other)
    assert not refreshed(home, work, path, old, hashlib.sha256(b"made").hexdigest())


def test_texts_are_kept_by_content_private_and_bounded(home: str, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXT_BYTES", 10)
    monkeypatch.setattr(module, "_KEPT_BYTES", 14)
    texts = [b"1234567890", b"12345678901", b"abc"]
    names = [hashlib.sha256(text).hexdigest() for text in texts]
    files = {f"/{name}": Trusted(name, "instructions", 1) for name in names}
    Trust(home).grant(str(work), files, texts)
    assert [Trust(home).text(name) for name in names] == [texts[0], None, None]
    Trust(home).grant(str(work), files, [b"abc"])
    assert [Trust(home).text(name) for name in names] == [texts[0], None, texts[2]]
    stored = Path(home, "trust", names[2])
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    stored.write_bytes(b"abd")
    assert Trust(home).text(names[2]) is None, "a text that is not what its name says is none"
    Trust(home).revoke(str(work))
    assert os.listdir(os.path.join(home, "trust")) == []


def test_two_that_write_at_once_lose_nothing(home: str, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(8)]
    for folder in folders:
        folder.mkdir()
    threads = [threading.Thread(target=Trust(home).grant, args=(str(folder), ONE)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(Trust(home).holds(str(folder), ONE) for folder in folders)
