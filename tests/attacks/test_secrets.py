"""Keys are planted wherever one can come from, and looked for wherever one could go: home, workspace, temporary files,
terminal, output, log, recording, requests. The real program, as a process, against a server that plays the attacker.

S53, S54, S62, S66, S69, S70, S72 of the attack list.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.mock import agenyx, command_env
from support.pty_screen import Screen
from support.raw_server import RawServer, Step, begin, call, chunk, content, event, finish, reasoning, stream

KEY = "sk-live-9aZ/8bY+7cX=6dW_5e"
TOKEN = "ghp_Q1w2E3r4T5y6U7i8O9p0"
MASK = "[REDACTED]"
END = chunk(event("[DONE]")) + b"0\r\n\r\n"
BYPASS = ("--permission-mode", "bypassPermissions", "--dangerously-skip-permissions")


def spelled(key: str) -> list[bytes]:
    """The ways in which a search would find a key."""
    data = key.encode()
    coded = [base64.b64encode(b"\0" * n + data).decode()[4:-4] for n in range(3)]
    return [
        data,
        json.dumps(key)[1:-1].encode(),
        quote(key, safe="").encode(),
        data.hex().encode(),
        *map(str.encode, coded),
    ]


SPELLED = [form for key in (KEY, TOKEN) for form in spelled(key)]


class Place:
    """A home, a workspace and a folder for temporary files, and everything that is to be searched."""

    def __init__(self, base: Path) -> None:
        self.home, self.work, self.temp = base / "home", base / "work", base / "temp"
        for folder in (self.home, self.work, self.temp):
            folder.mkdir()
        self.record = base / "cassette.jsonl"
        self.holders: list[Path] = []

    def env(self, url: str, **more: str) -> dict[str, str]:
        keys = {"OPENAI_API_KEY": KEY, "GITHUB_TOKEN": TOKEN, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "m"}
        return command_env(self.home, TMPDIR=str(self.temp), **(keys | more))

    def put(self, name: str, text: str) -> Path:
        """A file that may hold a key, as its owner put it there."""
        path = self.work / name
        path.write_text(text, "utf-8")
        self.holders.append(path)
        return path

    def run(self, script: list[list[Step]], *argv: str, **more: str) -> tuple[int, str, str, RawServer]:
        """Exit code, output, error output. Everything is searched."""
        with RawServer(script) as server:
            done = agenyx(
                "-p",
                "go",
                *BYPASS,
                "--record",
                str(self.record),
                *argv,
                cwd=self.work,
                env=self.env(server.url, **more),
            )
        self.search(server, done.stdout.encode(), done.stderr.encode())
        return done.returncode, done.stdout, done.stderr, server

    def search(self, server: RawServer, *captured: bytes) -> None:
        places = {f"captured {number}": data for number, data in enumerate(captured)}
        for number, seen in enumerate(server.requests):
            lines = seen.head.split(b"\r\n")
            assert f"Authorization: Bearer {KEY}".encode() in lines
            lines.remove(f"Authorization: Bearer {KEY}".encode())
            places[f"request {number}"] = b"\n".join(lines) + seen.body
        files = [file for folder in (self.home, self.work, self.temp) for file in folder.rglob("*")]
        for file in [*files, *([self.record] if self.record.exists() else [])]:
            if file not in self.holders:
                places[str(file)] = os.fsencode(file) + (file.read_bytes() if file.is_file() else b"")
        found = [(place, form) for place, data in places.items() for form in SPELLED if form in data]
        assert not found
        assert any(name.endswith("transcript.jsonl") for name in places), "the search finds what there is"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def answers(*payloads: Any) -> list[Step]:
    return [stream(*payloads, finish())]


def calls(name: str, **args: Any) -> list[Step]:
    return [stream(call(name, json.dumps(args)), finish("tool_calls"))]


def results(server: RawServer) -> list[str]:
    return [m["content"] for m in server.requests[-1].json["messages"] if m["role"] == "tool"]


# --- what the model says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("argv", [(), ("--output-format", "json"), ("--debug",)])
def test_s70_a_key_cut_at_every_place_between_two_events(place: Place, argv: tuple[str, ...]) -> None:
    said = [content(part) for cut in range(1, len(KEY)) for part in (KEY[:cut], KEY[cut:] + " ")]
    thought = [reasoning(part) for cut in range(1, len(TOKEN)) for part in (TOKEN[:cut], TOKEN[cut:] + " ")]
    code, out, err, _ = place.run([answers(*thought, *said)], *argv)
    assert code == 0, err
    assert out.count(MASK) == len(KEY) - 1


def test_s70_a_key_cut_at_every_byte_of_the_stream(place: Place) -> None:
    data = event(content(f"<{KEY}> <{TOKEN}>")) + event(finish()) + event("[DONE]")
    script = [begin(), *(chunk(data[at : at + 1]) for at in range(len(data))), b"0\r\n\r\n"]
    code, out, err, _ = place.run([script])
    assert (code, out) == (0, f"<{MASK}> <{MASK}>\n"), err


def test_s70_a_key_behind_escapes_and_in_arguments(place: Place) -> None:
    escaped = "".join(f"\\u{ord(c):04x}" for c in KEY)
    script = [
        calls("Bash", command=f"echo {KEY} {TOKEN}"),
        [stream(call("Bash", f'{{"command": "echo {escaped}"}}'), finish("tool_calls"))],
        calls("Read", file_path=f"/no/such/{KEY}"),
        calls("Write", file_path=f"{TOKEN}.txt", content=KEY),
        [stream(call("Bash", f'{{"command": "{KEY}'), finish("tool_calls"))],
        [stream(call(f"No{TOKEN[:20]}", "{}"), finish("tool_calls"))],
        answers(content("done")),
    ]
    code, _, err, server = place.run(script, "--verbose")
    assert code == 0, err
    assert results(server)[0].strip() == f"{MASK} {MASK}" and results(server)[1].strip() == MASK


def test_a_stream_that_breaks_off_within_a_key(place: Place) -> None:
    script: list[list[Step]] = [[begin(content(f"it is {KEY[:-1]}")), b"0\r\n\r\n"]]
    code, out, err, _ = place.run(script)
    assert code != 0 and KEY[:-1] not in out + err
    for file in place.home.rglob("*"):
        assert not file.is_file() or KEY[:-1].encode() not in file.read_bytes()


# --- what a server says ----------------------------------------------------------------------------------------------


def with_id(key: str) -> list[Step]:
    return [stream(content("hi") | {"id": f"chatcmpl-{key}"}, finish() | {"id": f"chatcmpl-{key}"})]


@pytest.mark.parametrize(
    "reply",
    [
        with_id(KEY),
        [stream(content("hi") | {"model": f"m-{TOKEN}"}, finish())],
        [stream(call("Read", '{"file_path": "a"}', id=f"call_{KEY}"), finish("tool_calls"))],
        [stream(call(f"Read{TOKEN}", "{}"), finish("tool_calls"))],
        [stream(call("Read", "{}", id="call_\x1b]52;c;x\x07"), finish("tool_calls"))],
        with_id("\x9b31m"),
    ],
    ids=["response", "model", "call", "tool", "control in call", "control in response"],
)
def test_s70_a_key_or_a_control_character_in_what_a_server_names_is_refused(place: Place, reply: list[Step]) -> None:
    code, _, err, server = place.run([reply, answers(content("never"))])
    assert code == 1 and "the server sent a" in err and len(server.requests) == 1
    assert not any(c in err for c in "\x1b\x07\x9b")


def test_s70_a_key_in_an_error_of_a_server(place: Place) -> None:
    from support.raw_server import plain

    body = {"error": {"message": f"wrong key {KEY}, or {quote(KEY, safe='')}", "type": TOKEN, "code": KEY}}
    code, out, err, _ = place.run([[plain(401, body)]], "--output-format", "json", "--debug")
    assert code == 1 and json.loads(out)["is_error"], err


# --- what tools bring ------------------------------------------------------------------------------------------------


def test_s70_a_key_in_files_names_and_output(place: Place) -> None:
    place.put("keys.txt", f"one={KEY}\ntwo={TOKEN}\n")
    place.put(f"file-{TOKEN}.txt", "x\n")
    place.put("half.sh", f"printf '%s' '{KEY[:9]}'; sleep 0.1; printf '%s\\n' '{KEY[9:]}'; cat /no/{TOKEN}\n")
    script = [
        calls("Read", file_path="keys.txt"),
        calls("Grep", pattern="one|two", output_mode="content"),
        calls("Glob", pattern="*"),
        calls("LS", path="."),
        calls("Bash", command="cat keys.txt; base64 keys.txt; od -An -v -tx1 keys.txt | tr -d ' \\n'; ls"),
        calls("Bash", command="sh half.sh"),
        calls("Bash", command="i=0; while [ $i -lt 3000 ]; do cat keys.txt; i=$((i+1)); done"),
        calls("Bash", command="cat keys.txt; sleep 1", run_in_background=True),
        calls("TaskOutput", task_id="b1", timeout=30000),
        answers(content("done")),
    ]
    code, _, err, server = place.run(script, "--verbose")
    assert code == 0, err
    assert all(MASK in result for at, result in enumerate(results(server)) if at != 7), results(server)


def test_s69_the_environment_of_commands(place: Place) -> None:
    script = [
        calls("Bash", command="env; printenv OPENAI_API_KEY GITHUB_TOKEN; echo over"),
        calls("Bash", command="for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done 2>/dev/null | grep -a KEY="),
        answers(content("done")),
    ]
    code, _, err, server = place.run(script)
    assert code == 0, err
    first, _ = results(server)
    assert "over" in first and "OPENAI_API_KEY" not in first and MASK not in first


@pytest.mark.parametrize("tail", ["", "# changed\n"])
def test_a_masked_read_and_then_a_write_leave_the_key_whole(place: Place, tail: str) -> None:
    held = f"key = '{KEY}'\nname = 'x'\n"
    path = place.put("settings.py", held)
    script = [
        calls("Read", file_path="settings.py"),
        calls("Write", file_path="settings.py", content=f"key = '{MASK}'\nname = 'y'\n{tail}"),
        calls("Edit", file_path="settings.py", old_string=f"key = '{MASK}'", new_string="key = ''"),
        calls("MultiEdit", file_path="settings.py", edits=[{"old_string": "'x'", "new_string": f"'{MASK}'"}]),
        answers(content("done")),
    ]
    code, _, err, server = place.run(script)
    assert code == 0, err
    read, *others = results(server)
    assert MASK in read and KEY not in read
    assert "stands for a secret" in others[0] and "stands for a secret" in others[1]
    assert f"'{KEY}'" in path.read_text("utf-8")


def test_where_a_secret_looks_like_the_mask_another_is_used(place: Place) -> None:
    path = place.put("settings.py", "key = '[REDACTED]-and-0123'\n")
    script = [calls("Read", file_path="settings.py"), answers(content("done"))]
    code, _, err, server = place.run(script, SOME_TOKEN="[REDACTED]-and-0123")
    assert code == 0, err
    (read,) = results(server)
    assert "REDACTED" not in read
    mask = read.split("'")[1]
    place.record.unlink()
    script = [
        calls("Read", file_path="settings.py"),
        calls("Write", file_path="settings.py", content=f"key = '{mask}'\n"),
        answers(content("done")),
    ]
    place.run(script, SOME_TOKEN="[REDACTED]-and-0123")
    assert path.read_text("utf-8") == "key = '[REDACTED]-and-0123'\n"


# --- S53, S66: what cannot be seen, and what acts on a terminal ------------------------------------------------------

ACTS = "\x1b]52;c;QUFB\x07\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\\x1bP+q\x1b\\\x1b_G\x1b\\\x9b2J\x07\x07a\rb\x08\x08\x1b[1A"


def test_s53_what_cannot_be_seen_is_told_to_the_model(place: Place) -> None:
    place.put("page.txt", "safe\u202e\u2066\U000e0041\u200bend\n")
    script = [calls("Bash", command="cat page.txt"), calls("Read", file_path="page.txt"), answers(content("done"))]
    code, _, err, server = place.run(script)
    assert code == 0, err
    bash, read = results(server)
    assert "safe\\u202e\\u2066\\U000e0041\\u200bend" in bash
    assert "invisible characters: U+200B, U+202E, U+2066, U+E0041" in read and "safe\u202e" in read


def test_s54_s66_what_acts_on_a_terminal(place: Place) -> None:
    place.put("page.txt", ACTS)
    os.symlink("page.txt", place.work / "name\x1b]0;x\x07")
    script = [
        calls("Bash", command="cat page.txt; ls; printf '\\033]0;t\\007' >&2"),
        [stream(call("Read", json.dumps({"file_path": f"no{ACTS}"})), finish("tool_calls"))],
        answers(content(f"![x](http://evil/?d=1) {ACTS}")),
    ]
    with RawServer(script) as server:
        argv = [sys.executable, "-m", "agenyx", "-p", "go", "--verbose", *BYPASS]
        with Screen(argv, place.work, place.env(server.url, TERM="xterm")) as screen:
            assert screen.end() == 0
            data = screen.data
        assert len(server.requests) == 3, "nothing but the model's server was asked"
    assert not [c for c in b"\x1b\x07\x08\x9b" if bytes((c,)) in data.replace("\x9b".encode(), b"\x9b")]
    assert data.count(b"\r") == data.count(b"\r\n")


# --- at a terminal ---------------------------------------------------------------------------------------------------


def test_s70_a_question_about_a_file_that_holds_a_key(place: Place) -> None:
    place.put("settings.py", f"a = 1\nkey = '{KEY}'\nb = 2\n")
    script = [
        calls("Read", file_path="settings.py"),
        calls("Edit", file_path="settings.py", old_string="a = 1", new_string="a = 2"),
        calls("Bash", command="cat settings.py"),
        [stream(*(content(part) for part in (f"it is {KEY[:11]}", f"**{KEY[11:]}**")), finish()), *()],
    ]
    with RawServer(script) as server:
        argv = [sys.executable, "-m", "agenyx", "chat"]
        with Screen(argv, place.work, place.env(server.url, TERM="xterm"), rows=50, columns=120) as screen:
            screen.see("shows commands and keys")
            screen.type(f"use {TOKEN} for it\r")
            typed = len(screen.data)
            for what in ("+a = 2", "cat settings.py"):
                screen.see(what)
                screen.see("[q] no, and stop")
                end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
                screen.until(lambda end=end: time.monotonic() > end, "the question listens")
                screen.type("y")
                screen.until(lambda: not screen.rows()[-1].endswith("deny and stop"), "it is answered")
            screen.see("4 steps")
            screen.type("\x04")
            assert screen.end() == 0
            place.search(server, screen.data.replace(TOKEN.encode(), b""), *(seen.body for seen in server.requests))
            assert MASK.encode() in screen.data[typed:]
    assert (place.work / "settings.py").read_text("utf-8") == f"a = 2\nkey = '{KEY}'\nb = 2\n"


# --- S72, and what would be a mistake of the person ------------------------------------------------------------------


def test_s72_everything_that_is_kept_is_private(place: Place) -> None:
    place.put("keys.txt", "x" * 100 + "\n")
    script = [
        calls("Bash", command="i=0; while [ $i -lt 3000 ]; do cat keys.txt; i=$((i+1)); done"),
        answers(content("ok")),
    ]
    place.run(script)
    kept = [*place.home.glob(".agenyx/**/*"), *place.temp.rglob("*"), place.record]
    assert len(kept) > 4
    open_ones = [str(path) for path in kept if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert not open_ones


@pytest.mark.parametrize("where", [lambda url: f"{url}/{KEY}/v1", lambda url: f"{url}/v1/{quote(KEY, safe='')}"])
def test_a_key_in_an_address_is_refused(place: Place, where: Callable[[str], str]) -> None:
    with RawServer([answers(content("never"))]) as server:
        done = agenyx("-p", "go", cwd=place.work, env=place.env(server.url, OPENAI_BASE_URL=where(server.url)))
        assert done.returncode == 1 and "holds a configured key" in done.stderr, done.stderr
        assert not server.requests
    assert not [form for form in SPELLED if form in (done.stdout + done.stderr).encode()]


def test_a_key_that_is_typed_as_a_flag_is_not_repeated(place: Place) -> None:
    done = agenyx("-p", f"--api-key={KEY}", cwd=place.work, env=place.env("http://127.0.0.1:9"))
    assert done.returncode != 0 and KEY not in done.stderr and "--api-key" in done.stderr


def test_more_secrets_than_can_be_looked_for(place: Place) -> None:
    many = {f"N{number}_TOKEN": f"token-{number:06d}-abcDEF" for number in range(300)}
    done = agenyx("-p", "go", cwd=place.work, env=place.env("http://127.0.0.1:9", **many))
    assert done.returncode == 1 and "the most are 256" in done.stderr, done.stderr
