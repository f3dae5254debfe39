"""Finding and answering what waits in stored sessions, without a surface."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from agenyx.app import approvals
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.ids import RandomIds
from agenyx.core.messages import Assistant, Text, ToolCall, User
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict
from agenyx.session import load
from agenyx.session.records import Accepted, Asked, Binding, Finished, Opened, Outcome, Prompt, Response
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import INTENT, TRANSCRIPT, UNFINISHED, FileStore

KEY = "sk-live-0123456789abcdefghij"


def stored(home: Path, workspace: str, name: str, *ids: str, at: float = 1.0, over: bool = False) -> Path:
    """A session whose calls wait for an answer, each by a question with the given id."""
    directory = load.sessions_of(str(home), workspace)
    directory = os.path.join(directory, name)
    session = Session(name, FileStore(directory), State(), directory, RandomIds(), lambda: at)
    made = [ToolCall(f"call_{id}", "w", "Bash", '{"command": "make"}') for id in ids]
    asked = [Approval(id, made[n], Verdict("ask", ()), Effects(), asked_at=at) for n, id in enumerate(ids)]
    session.append(
        Opened(name, workspace, "test"),
        Binding("p", "f", "m"),
        Prompt(User((Text("go"),), "typed", "p1")),
        Response(Assistant(tuple(made), "calls")),
        *(Accepted(call.id) for call in made),
        *(Asked(approval) for approval in asked),
        turn="t1",
    )
    if over:
        session.append(Finished(Outcome("stopped")))
    session.close()
    return Path(directory)


def names(home: Path, workspace: str = "") -> list[str]:
    return [question.approval.id for question in approvals.waiting(str(home), workspace)]


def test_what_waits_is_found_by_age_here_and_everywhere(tmp_path: Path) -> None:
    stored(tmp_path, "/w", "one", "apr_b", "apr_c", at=5)
    stored(tmp_path, "/w", "two", "apr_a", at=3)
    stored(tmp_path, "/other", "three", "apr_x", at=4)
    stored(tmp_path, "/w", "four", "apr_y", over=True)
    assert names(tmp_path) == ["apr_a", "apr_x", "apr_b", "apr_c"]
    assert names(tmp_path, "/w") == ["apr_a", "apr_b", "apr_c"]
    assert names(tmp_path / "nowhere") == []


def test_damaged_torn_copied_and_deleted_sessions_do_no_harm(tmp_path: Path) -> None:
    torn = stored(tmp_path, "/w", "torn", "apr_torn")
    with open(torn / TRANSCRIPT, "ab") as file:
        file.write(b'{"v":1,"id":"rec')
    (stored(tmp_path, "/w", "gone", "apr_gone") / INTENT).write_text("{}", "utf-8")
    (stored(tmp_path, "/w", "half", "apr_half") / UNFINISHED).touch()
    (stored(tmp_path, "/w", "bad", "apr_bad") / TRANSCRIPT).write_bytes(b"\x00\n" * 9)
    empty = stored(tmp_path, "/w", "empty", "apr_empty") / TRANSCRIPT
    empty.write_bytes(b"")
    (empty.parent.parent / "a file").touch()
    assert names(tmp_path) == ["apr_torn"]


def test_an_id_may_be_cut_where_it_stays_plain(tmp_path: Path) -> None:
    stored(tmp_path, "/w", "one", "apr_11112222aaaa", "apr_11112222bbbb")
    home = str(tmp_path)
    assert approvals.find(home, "2222bbbb").approval.id == "apr_11112222bbbb"
    with pytest.raises(UsageError, match="2 waiting questions"):
        approvals.find(home, "apr_11112222")
    for unknown in ("bbbb", "apr_11112222cccc"):
        with pytest.raises(UsageError, match="there is no question"):
            approvals.find(home, unknown)


def test_an_answer_waits_a_moment_for_another_and_then_knows_it(tmp_path: Path) -> None:
    folder, home = stored(tmp_path, "/w", "one", "apr_1"), str(tmp_path)
    question = approvals.find(home, "apr_1")
    held, answered = FileStore(str(folder)), list[Exception | str]()

    def answer() -> None:
        try:
            answered.append(approvals.answer(home, {}, question, Decision("apr_1", "allow", by="late", at=9.0)))
        except AgenyxError as error:
            answered.append(error)

    thread = threading.Thread(target=answer)
    thread.start()
    held.close()
    thread.join(30)
    assert answered == [""]
    answer()
    assert "allowed by late" in str(answered[1])
    found = approvals.find(home, "apr_1")
    assert not found.waiting and found.decision is not None and found.decision.by == "late"


def test_a_key_in_a_message_or_an_edit_is_not_stored(tmp_path: Path) -> None:
    folder, home = stored(tmp_path, "/w", "one", "apr_1"), str(tmp_path)
    decision = Decision("apr_1", "allow", args=json.dumps({"command": f"echo {KEY}"}), message=f"use {KEY}")
    approvals.answer(home, {"OPENAI_API_KEY": KEY, "AGENYX_HOME": home}, approvals.find(home, "apr_1"), decision)
    assert KEY.encode() not in (folder / TRANSCRIPT).read_bytes()
    assert names(tmp_path) == []


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder, home = stored(tmp_path, "/w", "one", "apr_1"), str(tmp_path)
    question = approvals.find(home, "apr_1")
    (folder / TRANSCRIPT).rename(folder / "aside")
    (folder / TRANSCRIPT).mkdir()
    with pytest.raises(AgenyxError, match="cannot be written"):
        approvals.answer(home, {}, question, Decision("apr_1", "deny"))
    (folder / TRANSCRIPT).rmdir()
    (folder / "aside").rename(folder / TRANSCRIPT)
    assert names(tmp_path) == ["apr_1"]
