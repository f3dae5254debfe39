"""Readers that nobody here wrote take an exported session: ccusage, claude-code-log, claude-code-transcripts, SDK."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.crew import FOLDER
from agenyx.core.events import Outcome, Usage
from agenyx.core.ids import RandomIds, child_id
from agenyx.core.messages import Assistant, Reasoning, Text, ToolCall, ToolResult, User
from agenyx.llm import catalogue
from agenyx.session.records import (
    Accepted,
    Binding,
    Body,
    Compacted,
    Finished,
    Head,
    Opened,
    Prompt,
    Response,
    Result,
    Title,
)
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import FileStore
from support.mock import HERE, command_env
from support.mock import agenyx as run

CLIENTS = Path.home() / ".cache" / "agenyx-clients"
CCUSAGE = CLIENTS / "transcripts" / "node_modules" / ".bin" / "ccusage"
READERS = CLIENTS / "transcripts" / "venv" / "bin"
SDK = CLIENTS / "sdk" / "bin" / "python"
NAME = "019a0000-0000-7000-8000-00000000000a"
MODEL = "claude-haiku-4-5"
ASKED = os.environ.get("AGENYX_REAL_CLIENTS") == "1"

CALL = ToolCall("call_0192f3a4b5c6d7e8f9a0b1c2", "w", "Task", '{"prompt":"find it","description":"Find"}')
READ = ToolCall("call_0192f3a4b5c6d7e8f9a0b1c3", "w", "Read", '{"file_path":"a.py"}')
USAGES = (Usage(1000, 200, 50, 300), Usage(7, 1250, 0, 90), Usage(11, 0, 0, 5), Usage(400, 0, 0, 60))


def needs(path: Path) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not path.exists() and not ASKED, reason=f"{path.name} is not installed")


def say(*blocks: Any, usage: Usage) -> Response:
    made = tuple(Text(block) if isinstance(block, str) else block for block in blocks)
    return Response(Assistant(made, "calls" if isinstance(made[-1], ToolCall) else "end", MODEL), usage, "chatcmpl-1")


def typed(text: str) -> Prompt:
    return Prompt(User((Text(text),)))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A configuration folder with one exported session: a branch, a subagent, two turns. Its workspace is `work`."""
    work = tmp_path / "work"
    work.mkdir()
    env = command_env(tmp_path)
    from agenyx.session.load import sessions_of

    top = Path(sessions_of(env["AGENYX_HOME"], str(work))) / NAME

    def session(folder: Path, *turns: list[Body], agent: str = "") -> None:
        made = Session(folder.name, FileStore(str(folder)), State(), str(folder), RandomIds(), lambda: 1.78e9)
        made.agent, fork = agent, ""
        made.append(Opened(folder.name, str(work), "1"), Binding("p", "f", MODEL), turn="")
        for number, bodies in enumerate(turns):
            made.append(*bodies, turn=f"t{number}")
            if number == 1:
                made.append(Head(fork, "rewind"))
            fork = made.state.head
        made.close()

    done = Finished(Outcome("done"))
    first: list[Body] = [
        Prompt(User((Text("Today is Monday."),), "notice")),
        typed("Tidy up the <parser>"),
        say(Reasoning("I think."), "I look.", READ, CALL, usage=USAGES[0]),
        Accepted(READ.id),
        Accepted(CALL.id),
        Result(ToolResult(READ.id, "ok", (Text("print('a')"),))),
        Result(ToolResult(CALL.id, "denied", (Text("It is in b.py"),))),
        say("Tidied.", usage=USAGES[1]),
        done,
    ]
    second: list[Body] = [typed("Left branch"), say("On the left.", usage=USAGES[2]), done]
    third: list[Body] = [typed("Right branch"), say("On the right.", usage=USAGES[2]), done, Title("The parser")]
    session(top, first, second, third)
    child: list[Body] = [typed("find it"), say("in b.py", usage=USAGES[3]), done]
    session(top / FOLDER / CALL.id, child, agent=f"explore/{child_id(CALL.id)}")
    told = run("sessions", "export", NAME, "-o", f"{tmp_path}/config/", cwd=work, env=env)
    assert told.returncode == 0, told.stderr
    return tmp_path / "config"


def read(*argv: str | Path, cwd: Path, **env: str) -> str:
    given = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8", **env}
    done = subprocess.run(
        [str(one) for one in argv], cwd=cwd, env=given, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs(CCUSAGE)
def test_ccusage_counts_the_tokens_and_the_cost_that_we_do(place: Path, tmp_path: Path) -> None:
    told = json.loads(read(CCUSAGE, "session", "--json", "--offline", cwd=tmp_path, CLAUDE_CONFIG_DIR=str(place)))
    # Both branches were paid for, and so was the subagent.
    responses = [USAGES[0], USAGES[1], USAGES[2], USAGES[2], USAGES[3]]
    whole = sum(responses, Usage())
    totals = told["totals"]
    assert (totals["inputTokens"], totals["outputTokens"]) == (whole.fresh, whole.out)
    assert (totals["cacheReadTokens"], totals["cacheCreationTokens"]) == (whole.cache_read, whole.cache_write)
    assert {model for one in told["sessions"] for model in one["modelsUsed"]} == {MODEL}
    known = catalogue.read(str(tmp_path)).model("api.anthropic.com", MODEL)
    ours = sum(catalogue.price(usage, known) or 0.0 for usage in responses)
    assert totals["totalCost"] == pytest.approx(ours)


@needs(READERS / "claude-code-log")
def test_claude_code_log_shows_the_conversation(place: Path, tmp_path: Path) -> None:
    (file,) = place.glob("projects/*/*.jsonl")
    log = READERS / "claude-code-log"
    read(log, file, "-o", tmp_path / "page.html", cwd=tmp_path, CLAUDE_CONFIG_DIR=str(place))
    page = (tmp_path / "page.html").read_text("utf-8")
    for words in (
        "Tidy up the &lt;parser&gt;",
        "I look.",
        "a.py",
        "It is in b.py",
        "Tidied.",
        "On the right.",
        "in b.py",
    ):
        assert words in page
    assert "Today is Monday." not in page


@needs(READERS / "claude-code-transcripts")
def test_claude_code_transcripts_shows_the_conversation(place: Path, tmp_path: Path) -> None:
    (file,) = place.glob("projects/*/*.jsonl")
    read(READERS / "claude-code-transcripts", "json", file, "-o", tmp_path / "pages", cwd=tmp_path)
    page = (tmp_path / "pages" / "page-001.html").read_text("utf-8")
    for words in ("Tidy up the", "I look.", "Tidied.", "On the right."):
        assert words in page


@needs(SDK)
def test_the_agent_sdk_lists_and_reads_the_session(place: Path, tmp_path: Path) -> None:
    script = HERE / "sdk_sessions.py"
    (told,) = json.loads(read(SDK, script, tmp_path / "work", cwd=tmp_path, CLAUDE_CONFIG_DIR=str(place)))
    assert (told["id"], told["title"], told["cwd"]) == (NAME, "The parser", str(tmp_path / "work"))
    assert [kind for kind, _ in told["messages"]] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    texts = json.dumps(told["messages"])
    assert "On the right." in texts and "On the left." not in texts
    assert told["agents"] == {child_id(CALL.id): [["user", CALL.id], ["assistant", CALL.id]]}


def test_a_summary_begins_the_chain_anew_for_readers(tmp_path: Path) -> None:
    """What the SDK's reader does, by the rules of the layout: from the last line back to one without a parent."""
    folder = tmp_path / "s"
    made = Session("s", FileStore(str(folder)), State(), str(folder), RandomIds(), lambda: 1.78e9)
    made.append(Opened("s", "/w", "1"), typed("old"), say("ancient", usage=USAGES[0]), turn="t")
    made.append(Compacted("In short.", made.state.view.ids[-1]), typed("new"), say("fresh", usage=USAGES[1]), turn="u")
    made.close()
    from support.transcripts import out

    rows = [json.loads(row) for row in out(folder).lines]
    by_uuid, chain, at = {row["uuid"]: row for row in rows}, list[str](), rows[-1]
    while at:
        chain.append(at["type"])
        at = by_uuid.get(at["parentUuid"] or "")
    assert chain == ["assistant", "user", "user", "system"]
