"""A turn that waited goes on in the mode and with the rules of flags that it had, never in a wider one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .test_approvals import DONE, Place, bash, place, script, tools

__all__ = ["place"]

WRITE = tools(("Write", {"file_path": "new.txt", "content": "x\n"}))
LATE = script(tools(bash("echo one > made.txt")), WRITE, DONE)


def resume(place: Place, *flags: str) -> subprocess.CompletedProcess[str]:
    (waits,) = place.waiting()
    return place.run("approvals", "allow", waits["id"], "--resume", *flags)


def notices(place: Place) -> list[str]:
    return [m["content"] for m in place.server.requests[-1].json["messages"] if "switched the mode" in str(m)]


@LATE
def test_it_goes_on_in_the_mode_that_it_had(place: Place) -> None:
    assert place.defer("--permission-mode", "acceptEdits", "do it").returncode == 3
    done = resume(place)
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert (place.work / "new.txt").exists() and notices(place) == []


@LATE
def test_answered_first_and_resumed_later_it_has_the_mode_too(place: Place) -> None:
    place.defer("--permission-mode", "acceptEdits", "do it")
    (waits,) = place.waiting()
    place.run("approvals", "allow", waits["id"])
    done = place.run("-p", "--resume", waits["session_id"])
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr


@LATE
def test_a_mode_that_is_given_counts_is_told_and_stays(place: Place) -> None:
    place.defer("--permission-mode", "acceptEdits", "do it")
    done = resume(place, "--permission-mode", "default")
    assert done.returncode == 3 and not (place.work / "new.txt").exists()
    (told,) = notices(place)
    assert "switched the mode to default" in told
    (waits,) = place.waiting()
    assert waits["tool"] == "Write"
    assert place.run("-p", "--resume", waits["session_id"]).returncode == 3, "and that one is the mode from now on"
    assert resume(place).returncode == 0 and (place.work / "new.txt").exists()


@LATE
def test_the_default_of_the_settings_is_not_said_for_this_turn(place: Place) -> None:
    place.defer("--permission-mode", "acceptEdits", "do it")
    (place.top / ".agenyx" / "settings.toml").write_text('permission_mode = "plan"\n')
    assert resume(place).returncode == 0


@LATE
def test_the_dangerous_mode_needs_its_flag_again(place: Place) -> None:
    home = place.top / ".agenyx"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text('[permissions]\nask = ["Bash(echo one:*)"]\n')
    assert place.defer("--dangerously-skip-permissions", "do it").returncode == 3
    done = resume(place)
    assert done.returncode == 3 and not (place.work / "new.txt").exists()
    assert "goes on in the mode default" in done.stderr and "--dangerously-skip-permissions again" in done.stderr
    (waits,) = place.waiting()
    assert waits["tool"] == "Write"
    assert resume(place, "--dangerously-skip-permissions").returncode == 0


@LATE
def test_with_its_flag_it_goes_on_dangerously(place: Place) -> None:
    home = place.top / ".agenyx"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text('[permissions]\nask = ["Bash(echo one:*)"]\n')
    place.defer("--dangerously-skip-permissions", "do it")
    done = resume(place, "--dangerously-skip-permissions")
    assert done.returncode == 0 and "needs" not in done.stderr


@LATE
def test_rules_of_flags_hold_on_both_sides(place: Place) -> None:
    place.defer("--allowed-tools", "Write(new.txt)", "do it")
    assert resume(place).returncode == 0 and (place.work / "new.txt").exists()


@LATE
def test_what_a_flag_forbade_stays_forbidden(place: Place) -> None:
    place.defer("--permission-mode", "acceptEdits", "--disallowed-tools", "Write(new.txt)", "do it")
    done = resume(place)
    assert done.returncode == 0 and not (place.work / "new.txt").exists()
    assert "new.txt" in place.results()[-1]


@LATE
def test_rules_that_are_given_count_instead_of_those_of_their_kind(place: Place) -> None:
    place.defer("--permission-mode", "acceptEdits", "--disallowed-tools", "Write(new.txt)", "do it")
    assert resume(place, "--disallowed-tools", "Write(other.txt)").returncode == 0
    assert (place.work / "new.txt").exists()


PLANS = script(DONE, DONE, DONE)


@PLANS
def test_a_model_that_was_in_plan_mode_is_told_that_it_is_not_any_more(place: Place) -> None:
    place.run("-p", "--permission-mode", "plan", "think")
    assert place.run("-p", "--continue", "--permission-mode", "acceptEdits", "do it").returncode == 0
    (told,) = notices(place)
    assert "acceptEdits" in told
    assert place.run("-p", "--continue", "--permission-mode", "acceptEdits", "more").returncode == 0
    assert len(notices(place)) == 1


def test_default_terms_write_no_record(tmp_path: Path) -> None:
    made = Place(tmp_path, DONE)
    with made.server:
        made.run("-p", "hello")
        (transcript,) = (tmp_path / ".agenyx").rglob("transcript.jsonl")
        kinds = [json.loads(line)["body"]["kind"] for line in transcript.read_text().splitlines()]
    assert "terms" not in kinds and "prompt" in kinds
