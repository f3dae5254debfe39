"""Judgement: modes, protected paths, refused programs. Everything here is a pure function."""

from __future__ import annotations

import pytest

from agenyx.core.tools import Command, Effects, PathRef
from agenyx.policy.decide import Policy, decide
from agenyx.policy.paths import protection

INSIDE = PathRef("a.py", b"/w/a.py", "/w")
GUARDED = PathRef(".env", b"/w/.env", "/w", protected=".env may hold secrets")
OUTSIDE = PathRef("/etc/passwd", b"/etc/passwd", None, problem="/etc/passwd lies outside the workspace")

READ = Effects(reads=(INSIDE,), parallel=True)
EDIT = Effects(writes=(INSIDE,))
SHELL = Effects(commands=(Command(("ls",)),), opaque="a shell command is not judged in parts")
GUARDED_READ = Effects(reads=(GUARDED,), parallel=True)
GUARDED_EDIT = Effects(writes=(GUARDED,))
BEYOND = Effects(reads=(OUTSIDE,))
REBOOT = Effects(commands=(Command(("ls",)), Command(("/sbin/reboot", "-f"))), opaque="a shell command")

MODES = {
    "default": Policy(),
    "acceptEdits": Policy("acceptEdits"),
    "plan": Policy("plan"),
    "dontAsk": Policy("dontAsk"),
    "bypass": Policy("bypassPermissions", unsafe=True),
    "bypass without its flag": Policy("bypassPermissions"),
}


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (READ, {"default": "allow", "acceptEdits": "allow", "plan": "allow", "dontAsk": "allow", "bypass": "allow"}),
        (EDIT, {"default": "ask", "acceptEdits": "allow", "plan": "deny", "dontAsk": "deny", "bypass": "allow"}),
        (SHELL, {"default": "ask", "acceptEdits": "ask", "plan": "deny", "dontAsk": "deny", "bypass": "allow"}),
        (GUARDED_READ, {"default": "ask", "acceptEdits": "ask", "plan": "ask", "dontAsk": "deny", "bypass": "ask"}),
        (GUARDED_EDIT, {"default": "ask", "acceptEdits": "ask", "plan": "deny", "dontAsk": "deny", "bypass": "ask"}),
        (BEYOND, dict.fromkeys(MODES, "deny")),
        (REBOOT, dict.fromkeys(MODES, "deny")),
        (EDIT, {"bypass without its flag": "ask"}),
    ],
)
def test_modes(effects: Effects, expected: dict[str, str]) -> None:
    decided = {mode: decide("Tool", effects, MODES[mode]) for mode in expected}
    assert {mode: verdict.decision for mode, verdict in decided.items()} == expected
    assert all(verdict.text for verdict in decided.values()), "every verdict has a reason"


@pytest.mark.parametrize("name", ["shutdown", "/sbin/halt", "mkfs", "mkfs.ext4", "init", "poweroff"])
def test_refused_programs_are_refused_by_their_parsed_name(name: str) -> None:
    effects = Effects(commands=(Command((name, "x")),), opaque="shell")
    assert decide("Bash", effects, MODES["bypass"]).decision == "deny"


@pytest.mark.parametrize(
    "argv", [("echo", "reboot"), ("npm", "init"), ("git", "init"), ("initdb",), (None, "reboot"), ()]
)
def test_words_that_only_look_like_refused_programs_are_not(argv: tuple[str | None, ...]) -> None:
    effects = Effects(commands=(Command(argv),), opaque="shell")
    assert decide("Bash", effects, MODES["bypass"]).decision == "allow"


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.ENV",
        "/w/sub/.env.local",
        "/w/.git/hooks/pre-commit",
        "/w/.git",
        "/w/sub/.GIT/config",
        "/w/.vscode/tasks.json",
        "/w/.agenyx/settings.toml",
        "/w/deploy/id_rsa",
        "/w/aws-credentials.json",
        "/w/.npmrc",
        "/home/u/.agenyx/auth.json",
        "/home/u/.agenyx",
        "/home/u/.ssh/known_hosts",
    ],
)
def test_protected(path: str) -> None:
    assert protection(path.encode(), "/w", "/home/u/.agenyx")


@pytest.mark.parametrize(
    "path", ["/w", "/w/a.py", "/w/.env.example", "/w/.github/workflows/ci.yml", "/w/.gitignore", "/w/env", "/w/git/x"]
)
def test_not_protected(path: str) -> None:
    assert protection(path.encode(), "/w", "/home/u/.agenyx") == ""


def test_a_workspace_below_a_protected_name_is_an_ordinary_one() -> None:
    assert protection(b"/home/u/.codex/proj/a.py", "/home/u/.codex/proj", "/home/u/.agenyx") == ""
