from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.masked_output import OutputMasker
from agenyx.core.redact import Masker
from agenyx.proc.capture import Recorder


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 50), st.integers(0, 50))
def test_head_and_tail_for_any_split(chunks, head, tail):
    whole = b"".join(chunks)
    recorder = Recorder(head, tail)
    for chunk in chunks:
        recorder.feed(chunk)
    capture = recorder.finish()
    assert capture.total == len(whole)
    if len(whole) <= head + tail:
        assert (capture.head, capture.tail, capture.omitted) == (whole, b"", 0)
    else:
        assert capture.head == whole[:head]
        assert capture.tail == whole[len(whole) - tail :]
        assert capture.omitted == len(whole) - head - tail


@given(chunks=st.lists(st.binary(max_size=40), max_size=30), cap=st.integers(0, 400))
def test_spill_holds_the_output_from_the_first_byte(tmp_path_factory, chunks, cap):
    path = tmp_path_factory.mktemp("spill") / "file"
    whole = b"".join(chunks)
    recorder = Recorder(20, 20, str(path), cap)
    for chunk in chunks:
        recorder.feed(chunk)
    capture = recorder.finish()
    if len(whole) <= 40:
        assert capture.spill is None and not path.exists()
    else:
        assert capture.spill == str(path)
        assert path.read_bytes() == whole[:cap]


def test_an_existing_file_or_link_is_never_written(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    link = tmp_path / "link"
    link.symlink_to(victim)
    for path in (victim, link, tmp_path / "missing" / "file"):
        recorder = Recorder(1, 1, str(path), 100)
        recorder.feed(b"overflow")
        assert recorder.finish().spill is None
    assert victim.read_bytes() == b"precious"


def test_a_full_disk_loses_the_spill_and_nothing_else(tmp_path):
    if not os.path.exists("/dev/full"):
        return
    recorder = Recorder(2, 2, str(tmp_path / "spill"), 100)
    recorder.feed(b"12345")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, recorder._file)
    os.close(full)
    recorder.feed(b"678")
    capture = recorder.finish()
    assert (capture.head, capture.tail, capture.total, capture.spill) == (b"12", b"78", 8, None)
    assert os.listdir(tmp_path) == []


def test_credentials_are_masked_before_anything_is_kept(tmp_path):
    key = b"sk-live-0123456789"
    path = tmp_path / "spill"
    recorder = Recorder(20, 20, str(path), 1000, OutputMasker(Masker((key.decode(),))))
    for byte in b"1 " + key + b" 2 " * 20 + key:
        recorder.feed(bytes((byte,)))
        assert not path.exists() or b"sk-live" not in path.read_bytes()
    capture = recorder.finish()
    whole = b"1 [REDACTED]" + b" 2 " * 20 + b"[REDACTED]"
    assert path.read_bytes() == whole and capture.total == len(whole)
    assert (capture.head, capture.tail) == (whole[:20], whole[-20:])
