"""Copies of sessions: whole or not there at all, with what belongs to results, without calls that could run twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.messages import Assistant, Step, Text, ToolCall, ToolResult, User
from agenyx.llm.request import Options
from agenyx.session import fork as forking
from agenyx.session import load
from agenyx.session.fork import fork
from agenyx.session.records import (
    Accepted,
    Binding,
    Body,
    EffectsBegun,
    Head,
    Opened,
    Prefix,
    Prompt,
    Response,
    Result,
)
from agenyx.session.resolve import resolve
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import LOCK, TRANSCRIPT, UNFINISHED, FileStore
from support.parts import CountingIds

HEAD: tuple[Body, ...] = (Opened("one", "/w", "1"), Binding("p", "f", "m"), Prefix("h", Options(), ("sys",), ()))


def typed(text: str) -> Prompt:
    return Prompt(User((Text(text),), "typed"))


def response(*ids: str) -> Response:
    return Response(Assistant(tuple(ToolCall(i, f"w{i}", "Bash", "{}") for i in ids), "calls"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A session with a spilled result, kept contents, a branch, a running shell and a damaged line."""
    place = tmp_path / "home" / "sessions" / ("0" * 24) / "one"
    session = Session("one", FileStore(str(place)), State(), str(place), CountingIds(), lambda: 1.0)
    for name in ("output", "blobs", "shell", "jobs"):
        (place / name).mkdir()
    spill = place / "output" / "c1.txt"
    spill.write_text("the whole output", "utf-8")
    (place / "blobs" / "aa").write_bytes(b"\x00before")
    (place / "shell" / "state").write_text("cd /", "utf-8")
    session.append(*HEAD, typed("one"), response("c1"), Accepted("c1"), EffectsBegun(("c1",), True), turn="t1")
    session.append(Result(ToolResult("c1", "ok", (Text("head"),), str(spill))))
    point = session.state.head
    session.append(typed("two"), turn="t2")
    session.move(Head(point, "rewind"))
    session.append(typed("three"), turn="t3")
    session.close()
    with open(place / TRANSCRIPT, "ab") as file:
        file.write(b'{"v":1,"id":"torn')
    return place


def test_a_copy_has_everything_but_what_only_runs_once(source: Path) -> None:
    before = (source / TRANSCRIPT).read_bytes()
    target = source.parent / "two"
    fork(str(source), str(target))
    assert (source / TRANSCRIPT).read_bytes() == before
    assert sorted(path.name for path in target.iterdir()) == [LOCK, "blobs", "output", TRANSCRIPT]
    assert (target / "blobs" / "aa").read_bytes() == b"\x00before"
    old, new = load.load(str(source)), load.load(str(target))
    assert new.opened == Opened("two", "/w", "1", origin="one")
    assert not new.problems, "damaged lines stay behind"
    (step,) = [entry for entry in new.entries if isinstance(entry, Step)]
    assert step.results[0].spill == str(target / "output" / "c1.txt")
    assert Path(step.results[0].spill).read_text("utf-8") == "the whole output"
    texts = [[entry.text for entry in state.entries if isinstance(entry, User)] for state in (old, new)]
    assert texts == [["one", "three"]] * 2
    assert (target / TRANSCRIPT).read_bytes().count(b'"two"') >= 1, "other branches are copied as well"
    assert (target / TRANSCRIPT).stat().st_mode & 0o777 == 0o600
    assert target.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("begun", [False, True])
def test_a_call_without_a_result_stays_with_the_session_that_made_it(source: Path, begun: bool) -> None:
    store, state = FileStore(str(source)), load.load(str(source))
    session = Session("one", store, state, str(source), CountingIds(100), lambda: 1.0)
    session.append(response("c8", "c9"), Accepted("c8"), Accepted("c9"))
    if begun:
        session.append(EffectsBegun(("c8",), True), Result(ToolResult("c8", "ok", ())))
    target = source.parent / "two"
    fork(str(source), str(target))  # while the session is open and goes on
    copy = load.load(str(target))
    assert not copy.pending
    assert copy.entries == load.load(str(target)).entries
    assert isinstance(copy.entries[-1], User)
    assert b"c8" not in (target / TRANSCRIPT).read_bytes()
    session.close()


def test_unknown_records_and_fields_are_copied_as_they_are(source: Path) -> None:
    state = load.load(str(source))
    line = (
        b'{"v":9,"id":"later","seq":%d,"parent":"%b","at":1.0,"turn":"t","new":[1, 2],'
        b'"body":{"kind":"hologram","x":1}}\n' % (state.seq + 1, state.head.encode())
    )
    with open(source / TRANSCRIPT, "ab") as file:
        file.write(b"\n" + line)
    target = source.parent / "two"
    fork(str(source), str(target))
    assert line in (target / TRANSCRIPT).read_bytes()


def test_links_are_not_followed(source: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", "utf-8")
    (source / "output" / "link").symlink_to(secret)
    target = source.parent / "two"
    fork(str(source), str(target))
    assert sorted(path.name for path in (target / "output").iterdir()) == ["c1.txt"]


def test_a_copy_that_differs_is_no_session(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def digest(self) -> bytes:
            return b"other"

    def other(*_: Any) -> Other:
        return Other()

    monkeypatch.setattr(forking.hashlib, "file_digest", other)
    with pytest.raises(AgenyxError, match="could not be copied: the copy of"):
        fork(str(source), str(source.parent / "two"))
    nobody_finds(source, "two")


def nobody_finds(source: Path, name: str) -> None:
    home = str(source.parent.parent.parent)
    with pytest.raises(UsageError, match="there is no session"):
        resolve(home, "/w", name)
    assert resolve(home, "/w", "one") == str(source)


POINTS = ("open", "fsync", "mkdir", "unlink")


def killed_at(point: int, source: Path, target: Path) -> bool:
    """Copy in a child that dies before system call number `point`. False when it came to its end."""
    child = os.fork()
    if not child:
        count = 0

        def dying(call: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*args: Any, **more: Any) -> Any:
                nonlocal count
                count += 1
                if count > point:
                    os._exit(9)
                return call(*args, **more)

            return wrapped

        for name in POINTS:
            setattr(os, name, dying(getattr(os, name)))
        try:
            fork(str(source), str(target))
        except BaseException:  # noqa: BLE001 - the rim of the child
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9)
    return code == 9


def test_a_crash_at_any_step_leaves_nothing_that_is_taken_for_a_session(source: Path) -> None:
    point, whole = 0, load.load(str(source)).entries
    half = 0
    while killed_at(point, source, source.parent / f"copy{point}"):
        target = source.parent / f"copy{point}"
        if (target / TRANSCRIPT).exists() and not (target / UNFINISHED).exists():
            assert len(load.load(str(target)).entries) == len(whole), "the marker goes last"
            assert resolve(str(source.parent.parent.parent), "/w", target.name) == str(target)
        else:
            nobody_finds(source, target.name)
            half += 1
        point += 1
    assert half > 8
    assert len(load.load(str(source.parent / f"copy{point}")).entries) == len(whole)


def test_a_full_disk_is_told(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(forking.os, "fsync", full)
    with pytest.raises(AgenyxError, match="No space left") as caught:
        fork(str(source), str(source.parent / "two"))
    assert "the session itself is as it was" in caught.value.fix
    nobody_finds(source, "two")
    assert not (source.parent / "two").exists(), "what was copied is gone again"
