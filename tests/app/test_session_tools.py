"""Stored sessions from outside: what is searched, what is pruned, pages and revisions."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agenyx.app import sessions as app
from agenyx.app.session_prune import Limits, choose, limits
from agenyx.app.session_search import search
from agenyx.core.errors import AgenyxError, StoreError, UsageError
from agenyx.session.inventory import sessions
from agenyx.session.revision import Budget, generation, offset_of, page_token, revision_of
from agenyx.session.store import TRANSCRIPT, FileStore
from support.conversation import open_scripted
from support.scripted import Scripted, say
from support.stored import NOON, store_session, turn

DAY = 86400.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def hits(home: Path, work: Path, wanted: str) -> list[tuple[str, str]]:
    return [(hit.where, hit.text) for one in sessions(str(home), str(work)) for hit in search(one, wanted, 5)]


def test_search_finds_prompts_answers_and_calls_but_not_results(home: Path, tmp_path: Path) -> None:
    one = turn("mend the Parser", "The LEXER was wrong,\nnot the rest", args='{"file_path": "src/grüße.py"}')
    store_session(home, tmp_path, "s", [one])
    assert hits(home, tmp_path, "parser") == [("prompt", "mend the Parser")]
    assert hits(home, tmp_path, "the lexer was") == [("answer", "The LEXER was wrong, not the rest")]
    assert [where for where, _ in hits(home, tmp_path, "src/")] == ["call"]
    assert [where for where, _ in hits(home, tmp_path, "GRÜSSE")] == ["call"]
    assert hits(home, tmp_path, "what the tool said") == []
    assert hits(home, tmp_path, "nowhere") == []


def test_a_hit_is_shown_with_what_stands_around_it(home: Path, tmp_path: Path) -> None:
    store_session(home, tmp_path, "s", [turn("a " * 100 + "needle" + " b" * 100)])
    ((_, text),) = hits(home, tmp_path, "needle")
    assert text.startswith("...") and text.endswith("...") and "needle" in text
    assert len(text) < 100


def test_search_gets_past_damage_and_through_large_files(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("x" * 3_000_000) for _ in range(3)])
    with (directory / TRANSCRIPT).open("ab") as file:
        file.write(b'{"kind":"prompt" needle\n')
    store_session(home, tmp_path, "s", [turn("the needle")])
    assert hits(home, tmp_path, "needle") == [("prompt", "the needle")]


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (Limits(), ["d", "c", "b", "a"]),
        (Limits(age=2.5 * DAY), ["d", "c", "b"]),
        (Limits(keep=1), ["d"]),
        (Limits(keep=0), []),
        (Limits(size=2500), ["d", "c"]),
        (Limits(age=1.5 * DAY, keep=3), ["d", "c"]),
    ],
)
def test_the_latest_stay(home: Path, tmp_path: Path, limit: Limits, left: list[str]) -> None:
    for age, name in enumerate("dcba"):
        directory = store_session(home, tmp_path, name, at=NOON - age * DAY)
        taken = sum(path.stat().st_size for path in directory.rglob("*"))
        (directory / "filling").write_bytes(b"x" * (1000 - taken))
    found = sessions(str(home), str(tmp_path))
    chosen = choose(found, limit, NOON)
    assert [one.id for one in found if one.id not in {gone.found.id for gone in chosen}] == left
    assert all(one.size == 1000 for one in chosen)


def test_limits_are_read() -> None:
    assert limits("", "", "") == Limits()
    assert limits("30d", "50", "2G") == Limits(30 * DAY, 50, 2 << 30)
    for text, days in (("12h", 0.5), ("8w", 56), ("3", 3)):
        assert limits(text, "", "").age == days * DAY
    for text, size in (("500m", 500 << 20), ("10KiB", 10240), ("7", 7)):
        assert limits("", "", text).size == size
    for wrong in (("soon", "", ""), ("", "-1", ""), ("", "", "1T"), ("", "1e3", "")):
        with pytest.raises(UsageError):
            limits(*wrong)


def test_pages_go_on_where_the_last_one_ended(home: Path, tmp_path: Path) -> None:
    for number in range(5):
        store_session(home, tmp_path, f"s{number}", [turn("hello")], at=NOON - number)
    seen, token = list[str](), ""
    while True:
        page = app.page(str(home), str(tmp_path), 2, token)
        assert page.status == "ok"
        seen += [found.id for found, _ in page.sessions]
        token = page.token
        if not token:
            break
        assert len(token) == 53 and token.startswith("p1_")
    assert seen == ["s0", "s1", "s2", "s3", "s4"]


def test_a_token_is_stale_once_anything_changed(home: Path, tmp_path: Path) -> None:
    for number in range(3):
        store_session(home, tmp_path, f"s{number}", [turn("hello")], at=NOON - number)
    token = app.page(str(home), str(tmp_path), 1).token
    assert app.page(str(home), str(tmp_path), 1, token).status == "ok"
    store_session(home, tmp_path, "s2", [turn("more")], at=NOON - 2)
    assert app.page(str(home), str(tmp_path), 1, token).status == "stale"


def test_tokens_that_are_none(home: Path, tmp_path: Path) -> None:
    store_session(home, tmp_path, "s", [turn("hello")])
    now = generation(sessions(str(home), str(tmp_path)))
    assert offset_of(page_token(1, now), now, 2) == 1
    for offset in (0, 2, 3):
        assert offset_of(page_token(offset, now), now, 2) is None
    for wrong in ("", "p1_", "p1_" + "A" * 50, "p2" + page_token(1, now)[2:], page_token(1, now) + "A"):
        assert offset_of(wrong, now, 2) is None


def test_a_revision_is_that_of_identity_and_content(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("hello")])
    first = app.revision(str(directory))
    assert app.revision(str(directory)) == first
    os.utime(directory / TRANSCRIPT, (1, 1))
    assert app.revision(str(directory)) == first, "the time is no content"
    content = (directory / TRANSCRIPT).read_bytes()
    (directory / TRANSCRIPT).write_bytes(content[:-5] + b"AAAA\n")
    assert app.revision(str(directory)) != first
    (directory / TRANSCRIPT).write_bytes(content)
    assert app.revision(str(directory)) == first
    (directory / TRANSCRIPT).rename(tmp_path / "aside")
    (directory / TRANSCRIPT).write_bytes(content)
    assert app.revision(str(directory)) != first, "another file with the same content is another one"


def test_what_is_too_large_to_be_read_is_refused_and_never_read_in_part(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("hello")])
    folder = os.open(directory, os.O_RDONLY)
    try:
        with pytest.raises(AgenyxError, match="too large"):
            revision_of(folder, Budget(10))
    finally:
        os.close(folder)


def test_a_title_is_recorded_once_masked_and_shown(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("hello")])
    env = {"AGENYX_HOME": str(home), "HOME": str(tmp_path), "OPENAI_API_KEY": "sk-secret-0123456789"}
    title = app.rename(str(directory), "  the  key sk-secret-0123456789\n here ", env)
    assert "sk-secret" not in title and title.startswith("the key ") and title.endswith(" here")
    assert b"sk-secret" not in (directory / TRANSCRIPT).read_bytes()
    assert app.details(str(directory)).row.title == title
    for wrong in ("", " \n", "x" * 201):
        with pytest.raises(UsageError):
            app.rename(str(directory), wrong, env)
    store = FileStore(str(directory))
    with pytest.raises(AgenyxError, match="in use by process"):
        app.rename(str(directory), "another", env)
    store.close()


def test_details(home: Path, tmp_path: Path) -> None:
    directory = store_session(home, tmp_path, "s", [turn("one", args="{}"), turn("two")])
    with (directory / TRANSCRIPT).open("ab") as file:
        file.write(b"garbage\n")
    one = app.details(str(directory))
    assert (one.records, one.prompts, one.steps, one.calls) == (12, 2, 3, 1)
    assert (one.model, one.profile, one.unfinished) == ("m", "p", False)
    assert one.usage is not None and one.usage.out == 19
    assert [problem["code"] for problem in one.problems] == ["malformed_record"]


def test_a_full_session_takes_no_more_and_can_still_be_read(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenyx.session.session.TRANSCRIPT_RECORDS", 7)
    with pytest.raises(StoreError, match="full"):
        store_session(home, tmp_path, "s", [turn("one"), turn("two")])
    monkeypatch.setattr("agenyx.session.load.TRANSCRIPT_RECORDS", 7)
    (found,) = sessions(str(home), str(tmp_path))
    assert app.details(found.directory).prompts == 1


def test_a_prompt_never_runs_twice_also_not_after_a_resume(home: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        model = Scripted([say("one"), say("two")])
        talk, _ = open_scripted(model, home, tmp_path)
        await talk.prompt("first", "p-1")
        with pytest.raises(UsageError, match="p-1 was taken up"):
            await talk.prompt("first", "p-1")
        await talk.close()
        talk, _ = open_scripted(model, home, tmp_path)
        with pytest.raises(UsageError, match="p-1 was taken up"):
            await talk.prompt("first", "p-1")
        assert (await talk.prompt("second", "p-2")).text == "two"
        assert len(model.requests) == 2
        await talk.close()

    asyncio.run(scenario())
