"""The file of earlier inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.ui.chat import history as module
from agenyx.ui.chat.history import HistoryFile


def texts(home: Path) -> list[str]:
    return HistoryFile(str(home)).load()


def test_inputs_come_back_newest_first_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    history = HistoryFile(str(home))
    for text in ("one", "two\nlines \x1b", "   ", "lone \ud800"):
        history.store(text)
    assert texts(home) == ["lone \ufffd", "two\nlines \x1b", "one"]
    assert (home / "history.jsonl").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700


def test_it_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    history = HistoryFile(str(tmp_path))
    for number in range(30):
        history.store(f"input {number}")
    history.store("x" * (module.LARGEST + 1))
    assert texts(tmp_path) == [f"input {number}" for number in range(29, 19, -1)]
    assert len((tmp_path / "history.jsonl").read_bytes().splitlines()) == 10
    assert texts(tmp_path)[-1] == "input 20"


def test_damage_links_and_a_home_that_cannot_be_written_do_no_harm(tmp_path: Path) -> None:
    HistoryFile(str(tmp_path)).store("good")
    with (tmp_path / "history.jsonl").open("ab") as file:
        file.write(b'{"text": 5}\nnot json\n\xff\n')
    assert texts(tmp_path) == ["good"]
    (tmp_path / "history.jsonl").unlink()
    (tmp_path / "secret").write_text("keep\n", "utf-8")
    (tmp_path / "history.jsonl").symlink_to(tmp_path / "secret")
    HistoryFile(str(tmp_path)).store("more")
    assert (texts(tmp_path), (tmp_path / "secret").read_text("utf-8")) == ([], "keep\n")
    (tmp_path / "file").write_text("x", "utf-8")
    HistoryFile(str(tmp_path / "file")).store("nowhere")
