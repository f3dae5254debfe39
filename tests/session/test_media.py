"""The bytes of images of a session: kept whole and private, never dropped, copied with it, and refused in words."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.events import Outcome
from agenyx.core.messages import Assistant, Media, Step, Text, ToolCall, ToolResult, User
from agenyx.core.redact import Masker
from agenyx.llm.request import Options
from agenyx.session import load
from agenyx.session.fork import fork
from agenyx.session.media import MOST_ITEM, MediaStore
from agenyx.session.records import Binding, Finished, Opened, Prefix, Prompt, Record, Response, Result, Unseen
from agenyx.session.session import Session
from agenyx.session.state import NeedModel, State
from agenyx.session.store import FileStore, MemoryStore
from support.parts import CountingIds
from support.pictures import GIF, JPEG, PDF, PNG, png

ALL: Any = ("images", "documents")
KEY = "sk-very-secret-0123456789"


def kept(store: MediaStore, data: bytes = PNG, name: str = "a.png") -> Media:
    found = store.keep(data, name, ALL)
    assert isinstance(found, Media), found
    return found


def test_bytes_are_kept_once_by_their_hash_for_the_owner_alone(tmp_path: Path) -> None:
    store = MediaStore(str(tmp_path / "s"))
    first, again, other = kept(store), kept(store, name="b.png"), kept(store, JPEG)
    assert first.sha256 == again.sha256 != other.sha256 and (first.mime, first.size) == ("image/png", len(PNG))
    assert store.get(first) == PNG and store.get(other) == JPEG
    folder = tmp_path / "s" / "media"
    assert sorted(os.listdir(folder)) == sorted({first.sha256, other.sha256})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_what_is_gone_damaged_or_a_link_is_not_given_out(tmp_path: Path) -> None:
    store = MediaStore(str(tmp_path))
    media = kept(store)
    path = tmp_path / "media" / media.sha256
    path.write_bytes(b"x" * len(PNG))
    assert store.get(media) is None
    path.unlink()
    assert store.get(media) is None
    (tmp_path / "real").write_bytes(PNG)
    path.symlink_to(tmp_path / "real")
    assert store.get(media) is None
    path.unlink()
    os.mkfifo(path)
    assert store.get(media) is None
    assert store.get(Media("image", "image/png", "../../etc/passwd", 1, "")) is None


@pytest.mark.parametrize(
    ("data", "sees", "why"),
    [
        (PNG, (), "cannot see images"),
        (PDF, ("images",), "documents"),
        (png(9_000, 9_000), ALL, "9,000 x 9,000"),
        (PNG[:-5], ALL, "cut off"),
        (png(10, 10, bytes(MOST_ITEM)), ALL, "at most 20,971,520"),
        (png(10, 10, text=KEY.encode()), ALL, "configured key"),
    ],
)
def test_what_cannot_be_shown_is_said_and_not_kept(tmp_path: Path, data: bytes, sees: Any, why: str) -> None:
    said = MediaStore(str(tmp_path), Masker((KEY,)).found).keep(data, "x", sees)
    assert isinstance(said, str) and why in said and said.endswith(".")
    assert not (tmp_path / "media").exists()


def test_what_is_no_image_is_none(tmp_path: Path) -> None:
    assert MediaStore(str(tmp_path)).keep(b"<svg/>", "a.png", ALL) is None


def test_a_full_session_says_so_and_drops_nothing(tmp_path: Path) -> None:
    store = MediaStore(str(tmp_path), most=len(PNG) + 10)
    media = kept(store)
    said = store.keep(JPEG, "b", ALL)
    assert isinstance(said, str) and "new session" in said
    assert store.get(media) == PNG and kept(store) == media, "what is there already takes no room"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("in the way")
    said = MediaStore(str(tmp_path)).keep(PNG, "a", ALL)
    assert isinstance(said, str) and "could not be kept" in said


def test_what_a_crash_left_is_cleared_away(tmp_path: Path) -> None:
    store = MediaStore(str(tmp_path), most=1000)
    kept(store)
    left, fresh = tmp_path / "media" / "a.tmp", tmp_path / "media" / "b.tmp"
    left.write_bytes(bytes(2000))
    os.utime(left, (1, 1))
    fresh.write_bytes(b"being written")
    kept(store, GIF)
    assert not left.exists() and fresh.exists()


def test_names_are_harmless_text(tmp_path: Path) -> None:
    assert kept(MediaStore(str(tmp_path)), name="a\x1b[2J\u202e" + "x" * 300).name == "a\\x1b[2J\\u202e" + "x" * 86


def test_threads_may_keep_the_same_at_once(tmp_path: Path) -> None:
    store, found = MediaStore(str(tmp_path)), list[Media]()
    data = png(50, 50, os.urandom(1 << 20))
    threads = [threading.Thread(target=lambda: found.append(kept(store, data))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and os.listdir(tmp_path / "media") == [found[0].sha256]


# --- in a session ----------------------------------------------------------------------------------------------------


def opened(place: Path, state: State | None = None) -> Session:
    return Session("one", FileStore(str(place)), state or State(), str(place), CountingIds(), lambda: 1.0)


def begun(place: Path) -> tuple[Session, Media]:
    session = opened(place)
    session.append(Opened("one", "/w", "1"), Binding("p", "f", "m", sees=ALL), Prefix("h", Options(), ("sys",), ()))
    media = session.keep(PNG, "a.png")
    assert isinstance(media, Media)
    session.append(Prompt(User((Text("look"), media))), turn="t1")
    return session, media


def test_the_request_of_a_session_gives_the_bytes_also_after_a_fork_and_in_memory(tmp_path: Path) -> None:
    place = tmp_path / "home" / "sessions" / ("0" * 24) / "one"
    session, media = begun(place)
    action = session.next()
    assert isinstance(action, NeedModel) and action.request.sees == ALL
    assert action.request.media(media) == PNG == session.request().media(media)
    session.close()
    copy = place.parent / "two"
    fork(str(place), str(copy))
    forked = opened(copy, load.load(str(copy)))
    assert forked.request().media(media) == PNG
    forked.close()
    memory = Session("one", MemoryStore(), load.load(str(place)), str(tmp_path / "tmp"), CountingIds(), lambda: 1.0)
    memory.earlier = str(place)
    assert memory.request().media(media) == PNG
    assert isinstance(memory.keep(JPEG, "b"), Media)
    assert not (place / "media" / memory.keep(JPEG, "b").sha256).exists()  # type: ignore[union-attr]


def test_a_model_that_sees_nothing_gets_no_bytes(tmp_path: Path) -> None:
    session, media = begun(tmp_path / "s")
    session.append(Binding("p", "f", "m"))
    assert session.request().sees == () and session.request().media(media) is None
    assert session.keep(PNG) == "This model cannot see images."
    assert session.state.breaks == {"what the model can be shown changed": 1}
    session.close()


def test_what_the_server_refused_stands_in_words_from_then_on_and_on_record(tmp_path: Path) -> None:
    session, media = begun(tmp_path / "s")
    second = session.keep(JPEG, "b.jpg")
    assert isinstance(second, Media)
    call = ToolCall("c1", "w1", "Read", "{}")
    session.append(Response(Assistant((call,), "calls")), Result(ToolResult("c1", "ok", (Text("b.jpg"), second))))
    session.append(Unseen((second.sha256,), "no"), sync=True)
    session.append(Finished(Outcome("done")))
    session.close()
    state = load.load(str(tmp_path / "s"))
    user, step = state.view.entries
    assert isinstance(user, User) and user.blocks == (Text("look"), media)
    assert isinstance(step, Step) and "refused it" in step.results[0].text and "b.jpg" in step.results[0].text
    assert not any(isinstance(block, Media) for block in step.results[0].content)
    whole = state.entries[-1]
    assert isinstance(whole, Step) and second in whole.results[0].content, "the history keeps it"
    assert state.breaks == {"the server refused an image": 1}
    unknown = State()
    unknown.apply(Record(1, "r", 1, "", 0.0, "t", Unseen(("0",), "")))
