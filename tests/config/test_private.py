"""A credential file is read only when it is really ours, and replaced whole."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agenyx.config.private import read_private, replace_private
from agenyx.core.errors import ConfigError

LIMIT = 64 << 10


def write(home: Path, data: bytes = b"{}", mode: int = 0o600) -> Path:
    path = home / "auth.json"
    path.write_bytes(data)
    path.chmod(mode)
    return path


def read(home: Path) -> bytes | None:
    return read_private(str(home), "auth.json", LIMIT)


def test_a_private_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, b"x" * LIMIT)
    assert read(tmp_path) == b"x" * LIMIT


def test_nothing_there(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert read(tmp_path / "missing") is None
    (tmp_path / "file").write_text("")
    assert read(tmp_path / "file") is None


def link(home: Path) -> None:
    (home / "real").write_bytes(b"{}")
    (home / "real").chmod(0o600)
    (home / "auth.json").symlink_to("real")


def dangling(home: Path) -> None:
    (home / "auth.json").symlink_to("nowhere")


def hard_link(home: Path) -> None:
    os.link(write(home), home / "second")


def directory(home: Path) -> None:
    (home / "auth.json").mkdir(0o700)


def fifo(home: Path) -> None:
    os.mkfifo(home / "auth.json", 0o600)


def unix_socket(home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(home / "auth.json"))


def too_large(home: Path) -> None:
    write(home, b"x" * (LIMIT + 1))


def sparse(home: Path) -> None:
    with write(home).open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (link, "symbolic link"),
        (dangling, "symbolic link"),
        (hard_link, "2 names"),
        (directory, "not a regular file"),
        (fifo, "not a regular file"),
        (unix_socket, "not a regular file"),
        (too_large, "larger than 64 KiB"),
        (sparse, "larger than 64 KiB"),
        (lambda home: write(home, mode=0o640), "mode 0640"),
        (lambda home: write(home, mode=0o604), "mode 0604"),
        (lambda home: write(home, mode=0o620), "mode 0620"),
        (lambda home: write(home, mode=0o601), "mode 0601"),
        (lambda home: write(home, mode=0o660), "mode 0660"),
    ],
)
def test_files_that_are_refused(make: Callable[[Path], object], words: str, tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(ConfigError) as caught:
        read(tmp_path)
    assert words in caught.value.message
    assert str(tmp_path / "auth.json") in caught.value.message
    assert caught.value.fix


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user(tmp_path: Path) -> None:
    os.chown(write(tmp_path), 1, 1)
    with pytest.raises(ConfigError, match="another user"):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    write(tmp_path, mode=0o000)
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path)


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, b"first")
    opens = os.open

    def swap(name: object, *args: int, **more: int) -> int:
        if name == "auth.json":  # another file of the same name, between the look and the opening
            os.rename(path, tmp_path / "old")
            write(tmp_path, b"other")
        return opens(name, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(ConfigError, match="changed while it was read"):
        read(tmp_path)


def test_replacing_is_private_and_leaves_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "a" / "home"
    old = os.umask(0)
    try:
        replace_private(str(home), "auth.json", b"one")
        replace_private(str(home), "auth.json", b"two")
    finally:
        os.umask(old)
    assert read(home) == b"two"
    assert [path.name for path in home.iterdir()] == ["auth.json"]
    assert stat.S_IMODE(home.stat().st_mode) == stat.S_IMODE(home.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "auth.json").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        replace_private(str(tmp_path / "file" / "home"), "auth.json", b"x")
