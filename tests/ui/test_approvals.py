"""Calls that wait for a yes: the run ends, the question stays, and another process answers it and goes on."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.mock import agenyx, command_env
from support.pty_screen import Screen
from support.raw_server import RawServer, call, content, finish, stream


def tools(*made: tuple[str, dict[str, object]]) -> list[Any]:
    """A reply that calls these tools."""
    parts = [call(name, json.dumps(args), f"call_{index}", index) for index, (name, args) in enumerate(made)]
    return [stream(*parts, finish("tool_calls"))]


def bash(command: str) -> tuple[str, dict[str, object]]:
    return "Bash", {"command": command}


DONE = [stream(content("All is done."), finish())]


class Place:
    """A workspace, a home and a scripted server."""

    def __init__(self, top: Path, *script: list[Any]) -> None:
        self.top, self.work, self.temporary, self.runtime = top, top / "work", top / "temp", top / "runtime"
        for folder in (self.work, self.temporary, self.runtime):
            folder.mkdir()
        self.server = RawServer(list(script))
        self.env = command_env(
            top,
            OPENAI_API_KEY="k" * 20,
            OPENAI_BASE_URL=f"{self.server.url}/v1",
            AGENYX_MODEL="m",
            TMPDIR=str(self.temporary),
            XDG_RUNTIME_DIR=str(self.runtime),
            USER="pat",
        )

    def run(self, *argv: str, cwd: Path | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
        done = agenyx(*argv, cwd=cwd or self.work, env=self.env, **more)
        assert "Traceback" not in done.stderr
        return done

    def defer(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return self.run("-p", "--approvals", "defer", *argv)

    def waiting(self) -> list[dict[str, Any]]:
        return json.loads(self.run("approvals", "list", "--json").stdout)

    def results(self, number: int = -1) -> list[str]:
        """What the model was told about its calls."""
        return [m["content"] for m in self.server.requests[number].json["messages"] if m["role"] == "tool"]


@pytest.fixture
def place(tmp_path: Path, request: Any) -> Iterator[Place]:
    made = Place(tmp_path, *request.param)
    with made.server:
        yield made


def script(*replies: list[Any]) -> pytest.MarkDecorator:
    """What the server of `place` answers, one reply a request."""
    return pytest.mark.parametrize("place", [replies], indirect=True, ids=["place"])


ONE = script(tools(bash("echo one > made.txt")), DONE)
TWO = script(tools(bash("echo one > made.txt"), bash("echo two > more.txt")), DONE)


@ONE
def test_a_call_that_asks_ends_the_run_and_says_what_waits(place: Place) -> None:
    done = place.defer("do it")
    assert (done.returncode, done.stdout) == (3, "")
    (waits,) = place.waiting()
    assert waits["id"] in done.stderr and "echo one > made.txt" in done.stderr
    assert "agenyx approvals list" in done.stderr and f"agenyx approvals allow {waits['id']} --resume" in done.stderr
    assert waits["tool"] == "Bash" and waits["input"] == {"command": "echo one > made.txt"}
    assert waits["command"] == "echo one > made.txt" and waits["writes"] == ["made.txt"]
    assert waits["reasons"] and waits["workspace"] == str(place.work) and waits["waiting"] is True
    assert not (place.work / "made.txt").exists()
    listed = place.run("approvals")
    assert waits["id"] in listed.stdout and "echo one > made.txt" in listed.stdout
    assert place.run("approvals", "list", cwd=place.top).stdout.startswith("Nothing waits here")
    assert str(place.work) in place.run("approvals", "list", "--all", cwd=place.top).stdout


@TWO
def test_the_record_names_every_call_that_waits_and_how_to_answer(place: Place) -> None:
    done = place.defer("--output-format", "json", "do it")
    assert done.returncode == 3
    record = json.loads(done.stdout)
    assert (record["subtype"], record["is_error"], record["stop_reason"]) == ("approval_required", False, "waiting")
    assert [entry["input"]["command"] for entry in record["approvals"]] == [
        "echo one > made.txt",
        "echo two > more.txt",
    ]
    first = record["approvals"][0]
    assert first["allow"] == f"agenyx approvals allow {first['id']} --resume"
    assert [entry["id"] for entry in place.waiting()] == [entry["id"] for entry in record["approvals"]]
    assert record["permission_denials"] == [] and len(place.server.requests) == 1


@ONE
def test_allowed_by_another_process_the_turn_goes_on_from_the_stored_call(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    done = place.run("approvals", "allow", waits["id"], "--resume", stdin=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert (place.work / "made.txt").read_text() == "one\n"
    assert len(place.server.requests) == 2, "the model was not asked for the call again"
    assert place.waiting() == []


@ONE
def test_answered_now_and_gone_on_with_later(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    said = place.run("approvals", "allow", waits["id"][-8:])
    assert said.returncode == 0 and f"--resume {waits['session_id']}" in said.stdout
    assert len(place.server.requests) == 1 and not (place.work / "made.txt").exists()
    later = place.run("-p", "--resume", waits["session_id"])
    assert (later.returncode, later.stdout) == (0, "All is done.\n"), later.stderr
    assert (place.work / "made.txt").read_text() == "one\n"


def wiped(place: Place) -> None:
    for folder in (place.temporary, place.runtime):
        shutil.rmtree(folder)
        folder.mkdir()


@ONE
def test_an_edit_from_another_process_after_kill_9_with_runtime_folder_and_temp_wiped(place: Place) -> None:
    """The question stood at a terminal when everything was killed; it is answered as if it had been left open."""
    argv = [sys.executable, "-m", "agenyx", "-p", "do it"]
    with Screen(argv, place.work, {**place.env, "TERM": "xterm"}) as screen:
        screen.see("[y] once")
        pid = screen.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
        for each in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        screen.process.wait()
    wiped(place)

    (waits,) = place.waiting()
    edited = json.dumps({"command": "echo edited > made.txt"})
    done = place.run("approvals", "allow", waits["id"], "--edit", edited, "--resume", cwd=place.top)
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert (place.work / "made.txt").read_text() == "edited\n"
    assert len(place.server.requests) == 2
    first, second = (request.json["messages"] for request in place.server.requests)
    assert second[: len(first)] == first
    (sent,) = second[len(first)]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"command": "echo one > made.txt"}, "what was sent stays"
    assert place.results()[0].startswith("[The user changed the arguments to")


@ONE
def test_a_deferred_call_is_answered_with_an_edit_after_its_process_left_nothing_but_the_home(place: Place) -> None:
    assert place.defer("do it").returncode == 3
    wiped(place)
    (waits,) = place.waiting()
    edited = '{"command": "echo edited > made.txt"}'
    done = place.run("approvals", "allow", waits["id"], "--edit", edited, "--resume", "--json", cwd=place.top)
    assert done.returncode == 0 and json.loads(done.stdout)["result"] == "All is done."
    assert (place.work / "made.txt").read_text() == "edited\n" and len(place.server.requests) == 2


@TWO
def test_answering_one_leaves_the_others_waiting(place: Place) -> None:
    place.defer("do it")
    first, second = place.waiting()
    done = place.run("approvals", "allow", second["id"], "--resume")
    assert done.returncode == 3 and first["id"] in done.stderr and second["id"] not in done.stderr
    assert [entry["id"] for entry in place.waiting()] == [first["id"]]
    assert not list(place.work.iterdir()), "calls run in their order"
    done = place.run("approvals", "allow", first["id"], "--resume")
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert (place.work / "made.txt").exists() and (place.work / "more.txt").exists()
    assert len(place.server.requests) == 2


@script(tools(bash("echo one > made.txt"), bash("echo two > made.txt")), DONE)
def test_what_the_call_before_did_to_the_file_is_no_reason_to_ask_again_only_where_it_was_seen(place: Place) -> None:
    place.defer("do it")
    first, second = place.waiting()
    place.run("approvals", "allow", first["id"])
    done = place.run("approvals", "allow", second["id"], "--resume")
    assert done.returncode == 3, "the file that it overwrites is not the one that was shown"
    (again,) = place.waiting()
    assert again["id"] != second["id"] and any("changed since you were asked" in why for why in again["reasons"])
    assert (place.work / "made.txt").read_text() == "one\n"
    assert place.run("approvals", "allow", again["id"], "--resume").returncode == 0
    assert (place.work / "made.txt").read_text() == "two\n" and len(place.server.requests) == 2


@ONE
@pytest.mark.parametrize("flags", [("--approvals", "defer"), ()])
def test_a_resume_without_an_answer_ends_the_same_way_and_asks_nothing(place: Place, flags: tuple[str, ...]) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    for _ in range(2):
        done = place.run("-p", "--continue", *flags, "--output-format", "json")
        assert done.returncode == 3, done.stderr
        assert [entry["id"] for entry in json.loads(done.stdout)["approvals"]] == [waits["id"]]
    assert len(place.server.requests) == 1 and not (place.work / "made.txt").exists()


@ONE
def test_denied_with_a_message_the_model_reads_it_and_goes_on(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    done = place.run("approvals", "deny", waits["id"], "--message", "use another name", "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert place.results() == ["Denied: use another name"]
    (denied,) = json.loads(done.stdout)["permission_denials"]
    assert denied["tool_input"] == {"command": "echo one > made.txt"}
    assert not (place.work / "made.txt").exists()


@TWO
def test_a_no_that_stops_ends_the_turn(place: Place) -> None:
    place.defer("do it")
    first, _ = place.waiting()
    done = place.run("approvals", "deny", first["id"], "--stop", "--message", "not today")
    assert done.returncode == 0 and "The turn is over" in done.stdout
    assert place.waiting() == [] and not list(place.work.iterdir())
    assert place.run("-p", "--continue").returncode == 2, "there is nothing to go on with"
    assert place.run("-p", "--continue", "what now?").stdout == "All is done.\n"
    denied, cancelled = place.results()
    assert denied == "Denied: not today" and "stopped before this call ran" in cancelled


@ONE
def test_the_first_answer_counts_and_the_second_says_who_gave_it_and_when(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    argv = [sys.executable, "-m", "agenyx", "approvals"]
    both = [
        subprocess.Popen(
            [*argv, word, waits["id"]], cwd=place.work, env=place.env, stderr=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for word in ("allow", "deny")
    ]
    said = [process.communicate()[1].decode() for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    assert f"by pat with agenyx approvals at {time.strftime('%Y-')}" in "".join(said)
    third = place.run("approvals", "deny", waits["id"])
    assert third.returncode == 1 and "was answered before" in third.stderr
    won = "allowed" if both[0].returncode == 0 else "denied"
    assert f"{won} by pat" in third.stderr
    assert f"{won} by pat" in place.run("approvals", "show", waits["id"]).stdout


@script(tools(("Edit", {"file_path": "notes.txt", "old_string": "old", "new_string": "new"})), DONE)
def test_a_file_that_changed_meanwhile_is_asked_about_again(place: Place) -> None:
    notes = place.work / "notes.txt"
    notes.write_text("old\n")
    place.defer("do it")
    (waits,) = place.waiting()
    assert "-old" in place.run("approvals", "show", waits["id"]).stdout
    notes.write_text("something else, and old\n")
    assert "notes.txt changed since then" in place.run("approvals", "show", waits["id"]).stdout
    done = place.run("approvals", "allow", waits["id"], "--resume")
    assert done.returncode == 3 and notes.read_text() == "something else, and old\n"
    (again,) = place.waiting()
    assert any(why.endswith("notes.txt changed since you were asked") for why in again["reasons"])
    shown = place.run("approvals", "show", again["id"]).stdout
    assert "+something else, and new" in shown
    assert place.run("approvals", "allow", again["id"], "--resume").returncode == 0
    assert notes.read_text() == "something else, and new\n" and len(place.server.requests) == 2


@ONE
def test_a_workspace_that_vanished_is_told_and_nothing_is_lost(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    place.work.rename(place.top / "elsewhere")
    for flags in ((), ("--resume",)):
        done = place.run("approvals", "allow", waits["id"], *flags, cwd=place.top)
        assert done.returncode == 1 and f"{place.work} of this session is not there" in done.stderr
    (place.top / "elsewhere").rename(place.work)
    assert [entry["id"] for entry in place.waiting()] == [waits["id"]]
    assert place.run("approvals", "allow", waits["id"], "--resume").returncode == 0
    assert (place.work / "made.txt").exists()


@ONE
def test_a_no_needs_no_workspace(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    place.work.rename(place.top / "elsewhere")
    assert place.run("approvals", "deny", waits["id"], "--resume", cwd=place.top).returncode == 1
    denied = place.run("approvals", "deny", waits["id"], "--message", "it is gone", cwd=place.top)
    assert denied.returncode == 0, denied.stderr
    assert place.run("approvals", "list", "--all", cwd=place.top).stdout == "Nothing waits for an answer.\n"
    (place.top / "elsewhere").rename(place.work)
    assert place.run("-p", "--continue").returncode == 0
    assert place.results() == ["Denied: it is gone"]


@ONE
def test_a_session_in_use_is_told(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    (lock,) = place.top.rglob(".session.lock")
    with open(lock, "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = place.run("approvals", "allow", waits["id"])
    assert done.returncode == 1 and "in use by process" in done.stderr
    assert place.waiting()[0]["id"] == waits["id"]


@script(tools(bash("npm test"), bash("npm test")), tools(bash("npm test")), DONE)
def test_a_rule_for_the_session_covers_what_waits_and_what_comes(place: Place) -> None:
    place.defer("do it")
    first, second = place.waiting()
    assert first["rules"] == ["Bash(npm test)"], first
    done = place.run("approvals", "allow", first["id"], "--session", "--resume")
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert len(place.server.requests) == 3
    late = place.run("approvals", "allow", second["id"])
    assert late.returncode == 1 and "allowed by rule" in late.stderr


@script(tools(bash("npm test")), DONE, tools(bash("npm test")), DONE)
def test_a_rule_for_good_is_kept_in_the_settings(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    assert place.run("approvals", "allow", waits["id"], "--always", "--resume").returncode == 0
    assert "npm test" in (place.top / ".agenyx" / "settings.toml").read_text()
    assert place.defer("again").returncode == 0


@ONE
def test_a_new_prompt_gives_up_what_waits_and_says_so(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    done = place.run("-p", "--continue", "never mind")
    assert done.returncode == 0 and "A call that waited for an answer was given up" in done.stderr
    assert "stopped before this call ran" in place.results()[0]
    late = place.run("approvals", "allow", waits["id"])
    assert late.returncode == 1 and "went on without an answer" in late.stderr


@ONE
def test_wrong_answers_are_refused_and_the_question_still_waits(place: Place) -> None:
    place.defer("do it")
    (waits,) = place.waiting()
    name = waits["id"]
    for argv, words in (
        (("allow", name, "--edit", "echo"), "--edit does not hold arguments of Bash"),
        (("allow", name, "--edit", '["x"]'), "one JSON object"),
        (("allow", name, "--edit", '{"comand": "x"}'), "comand"),
        (("allow", name, "--session", "--always"), "exclude each other"),
        (("deny", name, "--edit", "{}"), "deny has no flag --edit"),
        (("allow", name, "--model", "x"), "--model goes with --resume only"),
        (("allow", name, "--resume", "--continue"), "exclude each other"),
        (("allow", "apr_nothing"), "there is no question apr_nothing"),
        (("show", "../x"), "is not the id of a question"),
        (("allow",), "does not understand"),
    ):
        done = place.run("approvals", *argv)
        assert done.returncode == 2 and words in done.stderr, (argv, done.stderr)
    assert [entry["id"] for entry in place.waiting()] == [name]


@script(DONE)
def test_where_nothing_can_be_kept_nothing_is_deferred(place: Place) -> None:
    done = place.defer("--no-session-persistence", "do it")
    assert done.returncode == 2 and "has to be stored" in done.stderr
    chat = place.run("chat", "--approvals", "defer")
    assert chat.returncode == 2 and "single task" in chat.stderr
    (place.top / ".agenyx").mkdir(0o700)
    (place.top / ".agenyx" / "sessions").write_text("in the way", "utf-8")
    lost = place.defer("do it")
    assert lost.returncode == 1 and "--approvals defer needs a session on disk" in lost.stderr
    assert place.server.requests == []
