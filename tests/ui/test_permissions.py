"""`agenyx permissions`: what it says about calls, which rules it knows, and what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mock import command_env


class Place:
    """A workspace and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.work, self.home = folder / "work", folder / "home" / ".agenyx"
        self.work.mkdir()
        self.home.mkdir(parents=True, mode=0o700)

    def run(self, *words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", "permissions", *words],
            cwd=self.work,
            env=command_env(self.home.parent),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def explain(self, call: str, *flags: str) -> tuple[int, dict[str, Any]]:
        code, out, err = self.run("explain", "--json", *flags, call)
        assert not err, err
        return code, json.loads(out)

    def settings(self, text: str) -> None:
        (self.home / "settings.toml").write_text(text)
        (self.home / "settings.toml").chmod(0o600)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_shape_of_an_explanation(place: Place) -> None:
    code, said = place.explain('Bash(A=1 cat "$X" < in.txt | tee out.txt; echo done > log)')
    assert code == 10 and said["verdict"] == "ask" and said["reason"] and said["rule"] is None
    assert [command["argv"] for command in said["commands"]] == [["cat", None], ["tee", "out.txt"], ["echo", "done"]]
    assert all(command["verdict"] in ("allow", "ask", "deny") and command["reason"] for command in said["commands"])
    assert said["redirects"] == [{"op": "<", "target": "in.txt"}, {"op": ">", "target": "log"}]
    assert said["assignments"] == ["A=1"]
    assert said["opaque"] == ""


@pytest.mark.parametrize(
    ("call", "flags", "code"),
    [
        ("Bash(git push origin main)", (), 10),
        ("Bash(git push origin main)", ("--allowed-tools", "Bash(git push:*)"), 0),
        ("Bash(git push origin main)", ("--allowed-tools", "Bash", "--disallowed-tools", "Bash(git push:*)"), 11),
        ("Bash(git log && git push)", ("--allowed-tools", "Bash(git log:*)"), 10),
        ("Bash(cd sub && git log -3)", ("--allowed-tools", "Bash(git log:*)"), 0),
        ("Bash(rg --pre=x y)", ("--allowed-tools", "Bash(rg:*)"), 10),
        ("Bash(rm -rf /)", ("--allowed-tools", "Bash"), 11),
        ("Bash(rm -rf /)", ("--permission-mode", "bypassPermissions"), 11),
        ("Bash(touch x)", ("--permission-mode", "plan"), 11),
        ("Bash(touch x)", ("--permission-mode", "dontAsk"), 11),
        ("Bash(cat .env)", ("--allowed-tools", "Bash(cat:*)"), 10),
        ("Bash(cat .env)", ("--disallowed-tools", "Read(.env)"), 11),
        ("Bash(echo x > .env)", ("--disallowed-tools", "Edit(.env)"), 11),
        ("Read(src/a.py)", (), 0),
        ("Read(.env)", (), 10),
        ("Read(../secret)", (), 11),
        ("Write(notes.txt)", (), 10),
        ("Write(notes.txt)", ("--permission-mode", "acceptEdits"), 0),
        ("Edit(docs/a.md)", ("--allowed-tools", "Edit(docs/**)"), 0),
        ("edit_file(docs/a.md)", ("--allowed-tools", "write(docs/**)"), 0),
        ("WebFetch(docs.python.org)", ("--allowed-tools", "WebFetch(domain:docs.python.org)"), 0),
        (
            "WebFetch(https://docs.python.org.evil.example/)",
            ("--allowed-tools", "WebFetch(domain:docs.python.org)"),
            10,
        ),
        ('Grep({"pattern": "x", "path": "src"})', (), 0),
        ("Bash(echo 'a)", (), 10),
    ],
)
def test_verdicts_and_exit_codes(call: str, flags: tuple[str, ...], code: int, place: Place) -> None:
    found, said = place.explain(call, *flags)
    assert found == code, said["reason"]
    assert said["verdict"] == {0: "allow", 10: "ask", 11: "deny"}[code]


def test_the_deciding_rule_is_named_with_its_place(place: Place) -> None:
    place.settings("model = 'm'\n\n[permissions]\nallow = ['Bash(npm test)']\n")
    _, said = place.explain("Bash(npm test)")
    assert said["rule"] == f"allow Bash(npm test) ({place.home / 'settings.toml'}:4)"
    code, out, _ = place.run("explain", "Bash(npm test)")
    assert code == 0 and "settings.toml:4" in out


def test_text_shows_every_command_and_what_it_touches(place: Place) -> None:
    code, out, _ = place.run("explain", "Bash(timeout 5 rm -r build && curl -s example.org)")
    assert code == 10
    lines = out.splitlines()
    assert lines[0].startswith("ask: ")
    assert any(line.strip().startswith("2") and "rm -r build" in line for line in lines)
    assert "removes: build" in lines and "contacts: example.org" in lines


def test_hidden_characters_do_not_reach_the_terminal(place: Place) -> None:
    code, out, _ = place.run("explain", "Bash(ls \x1b[8m\u202e)")
    assert code == 10 and "\x1b" not in out and "\u202e" not in out


def test_rules_of_the_workspace_count_only_when_it_is_trusted(place: Place) -> None:
    (place.work / ".agenyx").mkdir()
    (place.work / ".agenyx" / "settings.toml").write_text("[permissions]\nallow = ['Bash(make)', 'Bash']\n")
    assert place.explain("Bash(make)")[0] == 10
    code, out, _ = place.run("list", "--trust-workspace", "--json")
    listed = json.loads(out)
    assert code == 0 and [rule["rule"] for rule in listed["rules"]] == ["Bash(make)"]
    assert "may not allow all of Bash" in listed["problems"][0]
    assert place.explain("Bash(make)", "--trust-workspace")[0] == 0


def test_add_list_and_remove(place: Place) -> None:
    assert place.run("add", "allow", "bash(npm test)")[0] == 0
    assert place.run("add", "deny", "Read(.env)")[0] == 0
    _, out, _ = place.run("list")
    assert [line.split("  (")[0] for line in out.splitlines()] == ["deny   Read(.env)", "allow  Bash(npm test)"]
    assert os.stat(place.home / "settings.toml").st_mode & 0o777 == 0o600
    assert place.run("remove", "Bash(npm test)")[:2] == (0, "removed Bash(npm test) from allow\n")
    code, _, err = place.run("remove", "Bash(npm test)")
    assert code == 2 and "no rule" in err


def test_examples_of_rules_are_tried(place: Place) -> None:
    place.settings(
        "[permissions]\n"
        "allow = [{ rule = 'Bash(git log:*)', matches = ['Bash(git log -3)'], spares = ['Bash(git push)'] }]\n"
        "deny = [{ rule = 'Read(.env)', matches = ['Read(.env)', 'Bash(cat .env)'], spares = ['Read(.env.x)'] }]\n"
    )
    code, out, _ = place.run("test")
    assert code == 0 and out.endswith("5 right, 0 wrong\n"), out
    place.settings("[permissions]\nallow = [{ rule = 'Bash(git log:*)', matches = ['Bash(git logs)'] }]\n")
    code, out, _ = place.run("test")
    assert code == 1 and "WRONG" in out and "git logs" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "needs a command"),
        (("explain",), "too few|does not understand"),
        (("explain", "Nothing(x)"), "no tool named 'Nothing'"),
        (("explain", "Bash(ls"), "has no \\) at its end"),
        (("add", "allow", "Bash(a(b))"), "parenthesis"),
        (("explain", "--permission-mode", "x", "Bash(ls)"), "cannot be 'x'"),
        (("list", "--allowed-tools", "Bash("), "--allowed-tools"),
    ],
)
def test_mistakes_are_usage_errors(words: tuple[str, ...], told: str, place: Place) -> None:
    import re

    code, out, err = place.run(*words)
    assert code == 2 and not out and re.search(told, err), err
