"""`agenyx mcp`: adding, listing, trying, approving and removing servers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mcp_place import McpPlace, fake, tools, until
from support.mcp_servers import FAKE
from support.mock import agenyx, command_env
from support.pty_screen import Screen

SERVER = [sys.executable, "-I", "-S", str(FAKE)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[McpPlace]:
    with McpPlace(tmp_path) as made:
        yield made


def test_a_server_is_added_tried_and_removed(place: McpPlace) -> None:
    path = place.home / "mcp.json"
    path.write_text('{"other": [1], "mcpServers": {"kept": {"command": "x", "flavour": "sweet"}}}')
    done = place.mcp("add", "mine", "--env", "MODE=test", "--", *SERVER)
    assert done.returncode == 0 and str(path) in done.stdout and done.stderr == ""
    written = json.loads(path.read_text())
    assert written["other"] == [1] and written["mcpServers"]["kept"] == {"command": "x", "flavour": "sweet"}
    assert written["mcpServers"]["mine"] == {"command": SERVER[0], "args": SERVER[1:], "env": {"MODE": "test"}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert "named 'mine' already" in place.mcp("add", "Mine", "--", "x").stderr
    tried = place.mcp("test", "mine")
    assert tried.returncode == 0 and "mine (fake 1) started in " in tried.stdout and "ping " in tried.stdout
    assert "20 tools, " in tried.stdout and "  mcp__mine__echo " in tried.stdout and "Says it back." in tried.stdout
    told = json.loads(place.mcp("test", "mine", "--json").stdout)
    assert told["revision"] == "2025-11-25" and told["resources"] == 2 and not told["error"]
    size = next(tool["size"] for tool in told["tools"] if tool["name"] == "mcp__mine__echo")
    assert 200 < size < 400
    assert place.mcp("remove", "mine").returncode == 0
    assert list(json.loads(path.read_text())["mcpServers"]) == ["kept"]
    assert place.mcp("remove", "mine").returncode == 2


def test_a_server_that_does_not_work_is_an_error_with_its_last_words(place: McpPlace) -> None:
    place.mine(dies=fake(start="exit"), fine=fake())
    done = place.mcp("test", "dies")
    assert done.returncode == 1 and "cannot find my configuration" in done.stderr
    listed = place.mcp("list", "--check")
    assert listed.returncode == 1
    assert "dies  failed: " in listed.stdout and "fine  works: 20 tools" in listed.stdout
    rows = json.loads(place.mcp("list", "--check", "--json").stdout)["servers"]
    assert [(row["name"], row["works"]) for row in rows] == [("dies", False), ("fine", True)]


def test_listing_starts_nothing_and_needs_no_trust(place: McpPlace) -> None:
    log = place.log("it")
    place.theirs(theirs=fake(log=str(log)), broken={"command": 7}, web={"url": "https://example.org"})
    place.mine(mine=fake(log=str(log), pages=9), off={"command": "x", "disabled": True})
    done = place.mcp("list")
    assert "theirs  does not start: it is not approved: agenyx mcp approve theirs" in done.stdout
    assert "mine  starts with a conversation" in done.stdout and "off  does not start: it is disabled" in done.stdout
    assert "'broken': its command" in done.stdout and "'web': its type 'http' is not supported" in done.stdout
    assert log.read_text() == ""
    assert place.mcp("test", "theirs").returncode == 2 and log.read_text() == ""


def test_secret_values_are_not_shown_and_warned_about(place: McpPlace) -> None:
    secret = "q7Zp2Lx9Wm4Rt8Kd"
    done = place.mcp("add", "s", "--env", f"NOTES_TOKEN={secret}", "--", "x", "--api-key", secret, f"--token={secret}")
    assert "the value of NOTES_TOKEN stands in plain text" in done.stderr
    assert "--env 'NOTES_TOKEN=$NOTES_TOKEN'" in done.stderr
    for argv in (["list"], ["list", "--json"], ["get", "s"], ["get", "s", "--json"]):
        shown = place.mcp(*argv)
        assert (secret not in shown.stdout + shown.stderr and "(hidden)" in shown.stdout) or argv == ["list"]
    assert secret not in place.mcp("list").stdout
    assert place.mcp("add", "t", "--env", "NOTES_TOKEN=$UNSET_HERE", "--", "x").stderr == ""
    refused = place.mcp("add", "k", "--env", "KEY=$OPENAI_API_KEY", "--", "x")
    assert refused.returncode == 2 and "a model provider's key" in refused.stderr


def test_a_server_for_all_who_work_here(place: McpPlace) -> None:
    made = place.mcp("add", "ours", "--scope", "project", "--json", json.dumps(fake()))
    assert made.returncode == 0 and json.loads((place.work / ".mcp.json").read_text())["mcpServers"]["ours"]
    entry = json.loads(place.mcp("get", "ours", "--json").stdout)
    assert entry["scope"] == "project" and entry["why"] == "the workspace is not trusted: agenyx trust add"
    assert place.mcp("revoke", "ours").returncode == 0 and place.mcp("revoke", "ours").returncode == 2
    assert "it is not approved" in place.mcp("get", "ours").stdout
    said = place.mcp("approve", "ours").stdout
    assert "ours may start here" in said and str(FAKE) in said and "agenyx trust add" in said
    assert agenyx("trust", "add", "--yes", cwd=place.work, env=command_env(place.top)).returncode == 0
    assert json.loads(place.mcp("get", "ours", "--json").stdout)["starts"] is True
    place.mcp("add", "more", "--scope", "project", "--", "x")  # one's own change keeps the trust
    assert json.loads(place.mcp("get", "ours", "--json").stdout)["starts"] is True
    place.theirs(ours=fake(pages=3))
    assert "its configuration changed since it was approved" in place.mcp("get", "ours").stdout


def test_nothing_is_changed_where_a_file_is_broken_or_a_link(place: McpPlace) -> None:
    path = place.work / ".mcp.json"
    path.write_text('{"mcpServers": {"a": {}, "a": {}}}')
    done = place.mcp("add", "x", "--scope", "project", "--", "y")
    assert done.returncode != 0 and "nothing was changed" in done.stderr
    assert path.read_text() == '{"mcpServers": {"a": {}, "a": {}}}'
    path.unlink()
    path.symlink_to(place.top / "elsewhere.json")
    assert "symbolic link" in place.mcp("add", "x", "--scope", "project", "--", "y").stderr
    assert not (place.top / "elsewhere.json").exists()


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ([], "needs a command"),
        (["frob"], "does not understand"),
        (["add"], "needs the name"),
        (["add", "x"], "needs a command behind --"),
        (["add", "a__b", "--", "x"], "its name is empty"),
        (["add", "x", "--env", "broken", "--", "y"], "--env needs NAME=VALUE"),
        (["add", "x", "--json", "[]"], "no JSON object"),
        (["add", "x", "--json", '{"command": "x"}', "--", "y"], "--json says all"),
        (["add", "x", "--json", '{"url": "https://example.org"}'], "is not supported"),
        (["add", "x", "--scope", "global", "--", "y"], "--scope cannot be"),
        (["get", "nope"], "no MCP server named 'nope'"),
        (["approve", "nope"], "no MCP server named 'nope'"),
        (["list", "--cwd", "/no/such/dir"], "is not a directory"),
    ],
)
def test_wrong_command_lines(place: McpPlace, argv: list[str], text: str) -> None:
    done = place.mcp(*argv)
    assert done.returncode == 2 and text in done.stderr and done.stdout == ""


def test_a_name_cannot_steer_the_terminal(place: McpPlace) -> None:
    place.theirs(evil=fake(era="old") | {"args": ["\x1b]0;owned\x07", "\u202eabc"]})
    place.mcp("approve", "evil")
    for argv in (["list"], ["get", "evil"], ["list", "--json"], ["get", "evil", "--json"]):
        done = place.mcp(*argv)
        assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout), argv


def test_a_home_that_cannot_be_written_is_told_and_a_run_goes_on(place: McpPlace) -> None:
    (place.top / "file").write_text("")
    nowhere = {"AGENYX_HOME": str(place.top / "file" / "home")}
    done = place.mcp("add", "x", "--", "y", **nowhere)
    assert done.returncode != 0 and "cannot be " in done.stderr and done.stdout == ""
    call = tools(("mcp__fake__echo", {"text": "hey"}))
    given = json.dumps({"mcpServers": {"fake": fake()}})
    done = place.run("--mcp-config", given, "--allowed-tools", "mcp__fake", "go", script=[call], **nowhere)
    assert done.returncode == 0 and place.results() == ["hey"] and "in memory only" in done.stderr


def test_how_long_the_first_request_waits_is_a_setting(place: McpPlace) -> None:
    env = command_env(place.top)
    assert agenyx("config", "set", "mcp.wait", "50", cwd=place.work, env=env).returncode == 0
    assert "50" in agenyx("config", "explain", "mcp.wait", cwd=place.work, env=env).stdout
    assert agenyx("config", "set", "mcp.wait", "60001", cwd=place.work, env=env).returncode != 0


def test_help_teaches(place: McpPlace) -> None:
    said = place.mcp("--help").stdout
    assert "agenyx mcp add git -- mcp-server-git" in said and "mcp__NAME__tool" in said
    assert "agenyx mcp ..." in agenyx("--help", cwd=place.work, env=command_env(place.top)).stdout


# --- at the terminal ------------------------------------------------------------------------------------------------


def press(screen: Screen, text: str, keys: str) -> None:
    """Answer a question that shows a text, once it listens."""
    screen.see(text)
    end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type(keys)


def test_the_person_says_yes_to_a_server_and_fills_in_its_form(place: McpPlace) -> None:
    place.theirs(fake=fake())
    assert agenyx("trust", "add", "--yes", cwd=place.work, env=command_env(place.top)).returncode == 0
    filled = {"type": "object", "properties": {"colour": {"type": "string", "default": "blue"}}}
    url = place.play(tools(("mcp__fake__form", {}), ("mcp__fake__form", {"schema": filled})))
    env = place.env(url, TERM="xterm")
    program = [sys.executable, "-m", "agenyx", "chat", "--allowed-tools", "mcp__fake"]
    with Screen(program, place.work, env, 50, 100) as screen:
        screen.see("Starting the MCP server fake of this workspace needs your yes")
        screen.see("mcp_fake.py")
        press(screen, "[y] trust", "y")
        screen.see("shows commands and keys")
        screen.type("go\r")
        screen.see("A form of the MCP server fake asks for approval")
        screen.see("colour (one of red (Red), blue (Blue))")
        press(screen, "size (integer, required)", "y")
        screen.see("Not sent: size has to be filled in")
        press(screen, "[e] edit", "n")
        press(screen, "colour (string)", "y")
        screen.see("All is done.")
        screen.type("/mcp\r")
        screen.see("fake  ready, 20 tools")
        screen.type("\x04")
        assert screen.end() == 0
    place.took()
    declined, accepted = map(json.loads, place.results())
    assert declined == {"action": "decline"}
    assert accepted == {"action": "accept", "content": {"colour": "blue"}}
    entry = json.loads(place.mcp("get", "fake", "--json").stdout)
    assert entry["starts"] is True  # the yes is kept


def test_the_prompt_stands_before_a_server_is_there(place: McpPlace) -> None:
    go = place.top / "go"
    place.wait(100)
    place.mine(late=fake(start=f"wait:{go}"), never=fake(start="never"))
    env = place.env(place.play(), TERM="xterm")
    with Screen([sys.executable, "-m", "agenyx", "chat"], place.work, env, 40, 100) as screen:
        screen.see("shows commands and keys")
        go.touch()
        until(lambda: _asked(screen))
        screen.type("\x04")
        assert screen.end() == 0


def _asked(screen: Screen) -> bool:
    """Whether the late one is ready by now."""
    before = screen.text.count("late  ready, 20 tools")
    screen.type("/mcp\r")
    screen.see("never  ")
    return before + screen.text.count("late  ready, 20 tools") > 0


def test_progress_is_shown_while_a_call_runs(place: McpPlace) -> None:
    place.mine(fake=fake())
    env = place.env(place.play(tools(("mcp__fake__progress", {"steps": 20}))), TERM="xterm")
    program = [sys.executable, "-m", "agenyx", "chat", "--allowed-tools", "mcp__fake", "go"]
    with Screen(program, place.work, env, 40, 100) as screen:
        screen.see(" of 20 step ")
        screen.see("All is done.")
        screen.type("\x04")
        assert screen.end() == 0


def test_the_configuration_is_read_anew_and_a_server_connected_anew(place: McpPlace) -> None:
    place.mine(one=fake(start="exit"), two=fake())
    through = ("McpCall", {"tool": "mcp__three__echo", "arguments": {"text": "hey"}})
    env = place.env(place.play(tools(("mcp__two__echo", {"text": "a"}), through)), TERM="xterm")
    program = [sys.executable, "-m", "agenyx", "chat", "--allowed-tools", "mcp__two,mcp__three"]
    with Screen(program, place.work, env, 40, 100) as screen:
        screen.see("shows commands and keys")
        screen.type("/mcp\r")
        screen.see("one  failed")
        place.mine(one=fake(), two=fake(pages=5), three=fake(pages=6))
        screen.type("/mcp reload\r")
        screen.see("one  ready, 20 tools")
        screen.see("three  ready, 20 tools")
        screen.type("go\r")
        screen.see("All is done.")
        screen.type("/mcp reconnect nope\r")
        screen.see("There is no MCP server named 'nope'")
        screen.type("/mcp reconnect one\r")
        screen.until(lambda: screen.text.count("one  ready, 20 tools") >= 2, "it is connected anew")
        screen.type("/mcp dance\r")
        screen.see("/mcp does not understand dance")
        screen.type("\x04")
        assert screen.end() == 0
    place.took()
    assert place.results() == ["a", "hey"]


def test_the_question_about_a_call_through_the_dispatcher_names_the_tool(place: McpPlace) -> None:
    place.mine(fake=fake())
    through = ("McpCall", {"tool": "mcp__fake__echo", "arguments": {"text": "hey"}})
    env = place.env(place.play(tools(through), tools(through)), TERM="xterm")
    with Screen([sys.executable, "-m", "agenyx", "chat", "go"], place.work, env, 40, 100) as screen:
        screen.see("mcp__fake__echo asks for approval")
        screen.see("echo of the MCP server fake")
        screen.see("s/a would allow: mcp__fake__echo")
        press(screen, "[q] no, and stop", "s")
        screen.see("All is done.")
        screen.type("\x04")
        assert screen.end() == 0
    place.took()
    assert place.results() == ["hey", "hey"]
