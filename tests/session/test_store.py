"""The transcript file: append-only, locked, torn tails closed, bad lines passed over, failures final."""

from __future__ import annotations

import os
import re
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.events import Outcome
from agenyx.session import load
from agenyx.session.holder import holder
from agenyx.session.records import Finished, Reader, Record, Unknown, encode
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore, SessionLocked
from support.parts import CountingIds


def line(seq: int) -> bytes:
    return encode(Record(1, f"r{seq}", seq, f"r{seq - 1}" if seq > 1 else "", 0.0, "t", Finished(Outcome("done"))))


def sequence(directory: Path) -> tuple[list[int], list[str]]:
    problems: list[str] = []
    data = (directory / TRANSCRIPT).read_bytes()
    return [record.seq for record in load.decode_lines(data, problems)], problems


def test_files_are_private(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "a" / "s"))
    store.append([line(1)], sync=True)
    store.close()
    assert stat.S_IMODE((tmp_path / "a" / "s").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "s" / TRANSCRIPT).stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_torn_tail_is_closed_and_never_truncated(tmp_path: Path, cut: int) -> None:
    (tmp_path / TRANSCRIPT).write_bytes(line(1) + line(2)[:cut])
    store = FileStore(str(tmp_path))
    store.append([line(2)], sync=True)
    store.append([line(3)], sync=False)
    store.close()
    seqs, problems = sequence(tmp_path)
    assert seqs == [1, 2, 3]
    assert problems == ["line 2 is damaged"]
    assert line(2)[:cut] in (tmp_path / TRANSCRIPT).read_bytes(), "the evidence stays"


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    (tmp_path / TRANSCRIPT).write_bytes(line(1).rstrip(b"\n"))
    store = FileStore(str(tmp_path))
    store.append([line(2)], sync=False)
    store.close()
    assert sequence(tmp_path) == ([1, 2], [])


def test_bad_lines_anywhere_are_passed_over_and_counted(tmp_path: Path) -> None:
    garbage = b"\x00\xff not json\n"
    (tmp_path / TRANSCRIPT).write_bytes(garbage + line(1) + b'{"v":1}\n' + line(2) + line(2) + b"[]\n" + line(3))
    seqs, problems = sequence(tmp_path)
    assert seqs == [1, 2, 3]
    assert len(problems) == 4


def test_a_record_of_a_later_version_is_passed_over_but_stays_in_the_chain() -> None:
    later = b'{"v":9,"id":"r5","seq":5,"parent":"r4","at":0.0,"turn":"t","agent":"","body":{"kind":"hologram","x":1}}'
    assert isinstance(Reader().decode(later).body, Unknown)


def test_a_second_process_is_told_who_holds_the_session(tmp_path: Path) -> None:
    program = "import sys; from agenyx.session.store import FileStore; FileStore(sys.argv[1])"
    store = FileStore(str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert f"in use by process {os.getpid()}" in done.stderr
    store.close()
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_failed_write_refuses_all_further_ones(tmp_path: Path) -> None:
    code = f"""
import resource, signal
from agenyx.core.errors import StoreError
from agenyx.session.store import FileStore
store = FileStore({str(tmp_path)!r})
store.append([b"1" * 1000 + b"\\n"], sync=True)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
for attempt in range(2):
    try:
        store.append([b"2" * 1000 + b"\\n"], sync=False)
    except StoreError as error:
        print(error.message)
    else:
        print("taken")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert "could not be written" in first
    assert "closed to writing" in second
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_store_error_is_an_error_for_people() -> None:
    assert issubclass(StoreError, AgenyxError)


@pytest.mark.parametrize("what", ["replaced", "removed", "hard link"])
def test_a_transcript_that_is_not_the_one_that_was_opened_takes_nothing(tmp_path: Path, what: str) -> None:
    transcript = tmp_path / TRANSCRIPT
    store = FileStore(str(tmp_path))
    store.append([line(1)], sync=True)
    match what:
        case "replaced":
            transcript.rename(tmp_path / "old")
            transcript.write_bytes(line(1))
        case "removed":
            transcript.unlink()
        case _:
            os.link(transcript, tmp_path / "second")
    with pytest.raises(StoreError, match=what.split()[-1]):
        store.append([line(2)], sync=True)
    with pytest.raises(StoreError, match="closed to writing"):
        store.append([line(2)], sync=True)
    store.close()
    if transcript.exists():
        assert transcript.read_bytes() == line(1)


def test_a_folder_that_was_renamed_stays_the_session(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "one"))
    (tmp_path / "one").rename(tmp_path / "two")
    store.append([line(1)], sync=True)
    store.close()
    assert (tmp_path / "two" / TRANSCRIPT).read_bytes() == line(1)


def test_a_full_transcript_takes_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenyx.session.store.TRANSCRIPT_BYTES", len(line(1)) + 5)
    store = FileStore(str(tmp_path))
    store.append([line(1)], sync=False)
    with pytest.raises(StoreError, match="exceed"):
        store.append([line(2)], sync=False)
    store.close()
    assert (tmp_path / TRANSCRIPT).read_bytes() == line(1)


def test_a_record_that_no_reader_would_take_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenyx.session.session.RECORD_BYTES", 1000)
    session = Session("s", FileStore(str(tmp_path)), State(), str(tmp_path), CountingIds(), lambda: 1.0)
    with pytest.raises(StoreError, match="a record would exceed"):
        session.append(Finished(Outcome("done")), Finished(Outcome("failed", "x" * 1000)))
    assert (tmp_path / TRANSCRIPT).read_bytes() == b"" and session.state.seq == 0, "neither of them"
    session.append(Finished(Outcome("done")))
    session.close()
    assert sequence(tmp_path) == ([1], [])


@pytest.mark.skipif(not os.path.exists("/proc/self/cmdline"), reason="there is no /proc")
def test_the_holder_is_named_by_command_and_time(tmp_path: Path) -> None:
    program = (
        "import sys; from agenyx.session.store import FileStore; FileStore(sys.argv[1]); print('held', flush=True);"
        "sys.stdin.read()"
    )
    holding = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(SessionLocked) as error:
            FileStore(str(tmp_path))
        process.stdin.close()
    assert re.search(
        rf"process {process.pid} \(\S*python\S* -c .*, since \d{{4}}-\d\d-\d\d \d\d:\d\d\)", error.value.message
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "another process"), ("x;rm", "another process"), ("99999999", "process 99999999, which has ended")],
)
def test_a_holder_that_cannot_be_found(text: str, words: str) -> None:
    assert holder(text).startswith(words)
