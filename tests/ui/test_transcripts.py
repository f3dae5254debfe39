"""`agenyx sessions export` and `import` as a person types them, and going on with what came in."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from support import validity, wires
from support.mock import agenyx, command_env
from support.pictures import PNG
from support.raw_server import RawServer, call, chunk, content, finish, head, stream, usage
from support.transcripts import SESSION, Lines

SECRET = "sk-9f8e7d6c5b4a39281706"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def environment(server: RawServer, home: Path) -> dict[str, str]:
    url = f"{server.url}/v1"
    return command_env(home, OPENAI_API_KEY=SECRET, OPENAI_BASE_URL=url, AGENYX_MODEL="served-model")


def held(work: Path, tmp_path: Path) -> tuple[str, dict[str, str]]:
    """A session that a real run made: its id, and the environment."""
    script: list[Any] = [
        [stream(content("Let me see."), call("LS", '{"path":"."}'), finish("tool_calls"), usage(100, 20))],
        [stream(content("Nothing there."), finish(), usage(150, 7))],
    ]
    with RawServer(script) as server:
        env = environment(server, tmp_path)
        done = agenyx("-p", "--output-format", "json", "What is here?", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["session_id"], env


def rows(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(row) for row in text.splitlines()]


def test_a_session_goes_out_to_standard_output_a_file_or_a_folder(work: Path, tmp_path: Path) -> None:
    session, env = held(work, tmp_path)
    told = agenyx("sessions", "export", session[:12], cwd=work, env=env)
    lines = rows(told.stdout)
    assert [line["type"] for line in lines] == ["user", "user", "assistant", "user", "assistant"]
    assert [bool(line.get("isMeta")) for line in lines] == [True, False, False, False, False]
    assert {(line["sessionId"], line["cwd"]) for line in lines} == {(session, str(work))}
    assert lines[2]["message"]["usage"]["input_tokens"] == 100
    assert [line["parentUuid"] for line in lines] == [None, *(line["uuid"] for line in lines[:-1])]

    file = tmp_path / "out.jsonl"
    assert agenyx("sessions", "export", session, "-o", str(file), cwd=work, env=env).returncode == 0
    assert file.read_text("utf-8") == told.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = agenyx("sessions", "export", session, "-o", str(file), cwd=work, env=env)
    assert again.returncode == 1 and "is there already" in again.stderr
    assert agenyx("sessions", "export", session, "-o", str(file), "--force", cwd=work, env=env).returncode == 0

    folder = f"{tmp_path}/config/"
    made = agenyx("sessions", "export", session, "-o", folder, "--json", cwd=work, env=env)
    key = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(work))
    expected = tmp_path / "config" / "projects" / key / f"{session}.jsonl"
    assert json.loads(made.stdout)["files"] == [str(expected)]
    assert expected.read_text("utf-8") == told.stdout
    assert not (tmp_path / ".claude").exists(), "only where a person names it"


def test_the_other_formats_and_what_is_wrong(work: Path, tmp_path: Path) -> None:
    session, env = held(work, tmp_path)
    assert "## You\n\nWhat is here?" in agenyx("sessions", "export", session, "--format=md", cwd=work, env=env).stdout
    told = agenyx("sessions", "export", session, "--format", "json", cwd=work, env=env)
    assert json.loads(told.stdout)["session_id"] == session
    for wrong in (["--format", "xml", session], [], [session, "more"], ["nonsense"], [session, "--cwd", "/nowhere"]):
        done = agenyx("sessions", "export", *wrong, cwd=work, env=env)
        assert done.returncode == 2 and done.stderr.count("\n") == 2
    assert "Usage: agenyx sessions export" in agenyx("sessions", "import", "--help", cwd=work, env=env).stdout


def written(tmp_path: Path) -> Path:
    """What another program left: parallel calls, one of them open, an image, a summary."""
    lines = Lines()
    lines.add("user", "old words")
    lines.add("assistant", [{"type": "text", "text": "old answer"}])
    lines.rows.append({"type": "system", "subtype": "compact_boundary", "uuid": "b", "logicalParentUuid": "u1"})
    lines.add("user", "SUMMARY-OF-IT", above="b", isCompactSummary=True)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    picture["source"]["data"] = base64.b64encode(PNG).decode()  # type: ignore[index]
    lines.add("user", [{"type": "text", "text": f"look, the key is {SECRET}"}, picture])
    lines.call("Read", "toolu_1", {"file_path": "a"}, id="m1")
    lines.call("Bash", "toolu_2", {"command": "x"}, id="m1")
    lines.result("toolu_1", "A" * 100)
    lines.rows.append(b'{"type":"assistant","torn')
    return lines.write(tmp_path / f"{SESSION}.jsonl")


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_what_came_in_goes_on_with_every_wire(wire: str, work: Path, tmp_path: Path) -> None:
    if wire == "chat":
        answer = stream(content("Going on."), finish(), usage(5, 2))
    else:
        responses = wires.response(wires.message("Going on."))
        events = (
            responses if wire == "responses" else [wires.opened(), *wires.text_block(0, "Going on."), *wires.closed()]
        )
        body = b"".join(chunk(wires.named(event)) for event in events) + b"0\r\n\r\n"
        answer = head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked") + body
    with RawServer([[answer]]) as server:
        kind = "anthropic" if wire == "anthropic" else "openai"
        facts: dict[str, Any] = {"base_url": f"{server.url}/v1", "api_key": SECRET, "model": "m"}
        facts |= {"wire": "responses"} if wire == "responses" else {}
        home = tmp_path / ".agenyx"
        home.mkdir(mode=0o700)
        (home / "auth.json").write_text(
            json.dumps({"version": 2, "providers": [{"id": "x", "type": kind, kind: facts}]})
        )
        (home / "auth.json").chmod(0o600)
        env = command_env(tmp_path)
        made = agenyx("sessions", "import", str(written(tmp_path)), "--json", cwd=work, env=env)
        assert made.returncode == 0, made.stderr
        told = json.loads(made.stdout)
        assert (told["prompts"], told["steps"], told["interrupted_calls"]) == (2, 2, 1)
        assert told["problems"] == {"damaged lines": 1}
        done = agenyx("-p", "--resume", told["session_id"], "And now?", cwd=work, env=env)
    assert (done.returncode, done.stdout) == (0, "Going on.\n"), done.stderr
    sent = server.requests[0].json
    {"chat": validity.chat, "responses": validity.responses, "anthropic": validity.anthropic}[wire](
        sent["input" if wire == "responses" else "messages"]
    )
    body = server.requests[0].body.decode()
    for words in ("SUMMARY-OF-IT", "A" * 100, "has no result of this call", "And now?", str(work)):
        assert words in body
    for words in ("old answer", SECRET):
        assert words not in body
    shown = agenyx("sessions", "show", told["session_id"], cwd=work, env=env)
    assert "damaged" not in shown.stdout
    back = agenyx("sessions", "export", told["session_id"], cwd=work, env=env)
    assert [line["message"]["content"] for line in rows(back.stdout) if line["type"] == "user"][-1] == "And now?"


def test_a_person_is_told_what_came_in(work: Path, tmp_path: Path) -> None:
    env = command_env(tmp_path)
    made = agenyx("sessions", "import", str(written(tmp_path)), cwd=work, env=env)
    assert made.returncode == 0, made.stderr
    for words in (
        "prompts 2, responses 2, subagents 0",
        "calls without a result, which are marked as interrupted: 1",
        "passed over, damaged lines: 1",
        "it was held in /somewhere/else, and goes on in",
        "To go on: agenyx --resume ",
    ):
        assert words in made.stdout
    listed = agenyx("sessions", "list", cwd=work, env=env)
    assert "old words" in listed.stdout
    for wrong in (str(tmp_path / "none.jsonl"), "/dev/null", str(work)):
        done = agenyx("sessions", "import", wrong, cwd=work, env=env)
        assert done.returncode in (1, 2) and len(done.stderr.splitlines()) == 2
    assert agenyx("sessions", "list", cwd=work, env=env).stdout == listed.stdout
