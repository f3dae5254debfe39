"""What a question shows, and where each part of it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Command, Concern, Effects, PathRef
from agenyx.core.verdict import Reason, Rule, Verdict
from agenyx.ui.question import compose
from agenyx.ui.spans import cells

WHY = (Reason("default", "Bash acts outside the conversation"),)


def approval(
    effects: Effects, args: str = "{}", edited: str | None = None, offer: tuple[Rule, ...] = (), id: str = "apr_1"
) -> Approval:
    return Approval(id, ToolCall("call_1", "w", "Bash", args), Verdict("ask", WHY, offer=offer), effects, args=edited)


def rows(one: Approval, columns: int = 80, lines: int = 1000) -> list[str]:
    return list(compose(one, columns, lines, 2).rows)


def path(shown: str, protected: str = "") -> PathRef:
    return PathRef(shown, shown.encode(), "/w", protected=protected)


def body_of(shown: list[str]) -> list[str]:
    """The rows of the call itself."""
    return shown[3 : shown.index("", 3)]


def test_everything_is_shown() -> None:
    effects = Effects(
        writes=(path("a.py"), path(".git/config", "git settings")),
        removes=(path("old"),),
        hosts=("x.org",),
        preview="-old\n+new\n",
    )
    text = "\n".join(rows(approval(effects)))
    assert "Bash asks for approval" in text
    assert "\n  -old\n  +new\n" in text
    assert "\nWrites: a.py, .git/config\nRemoves: old\nContacts: x.org\n" in text
    assert "\nProtected: .git/config (git settings)\n" in text
    assert "Why you are asked: Bash acts outside the conversation" in text
    assert "WARNING" not in text


def test_without_a_preview_the_arguments_are_shown() -> None:
    assert '    "n": 1' in rows(approval(Effects(opaque="unknown"), '{"n":1}'))
    assert "  not json" in rows(approval(Effects(opaque="unknown"), "not json"))


def test_edited_arguments_are_shown_as_such() -> None:
    shown = rows(approval(Effects(), '{"n":1}', edited='{"n":2}'))
    assert shown[1] == "Bash asks for approval again: these arguments were edited by you"
    assert '    "n": 2' in shown


def test_hidden_characters_are_shown_and_warned_of() -> None:
    shown = rows(approval(Effects(preview="echo hi\u200b\x1b[8m; rm -rf ~")))
    assert "  echo hi\\u200b\\x1b[8m; rm -rf ~" in shown
    assert shown[-1].startswith("    ") or shown[-1].startswith("WARNING: it holds hidden characters")


def test_concerns_stand_directly_above_the_choices() -> None:
    command = Command(("git", "clean"), concerns=(Concern("danger", "untracked files are lost"),))
    effects = Effects(preview="git clean", commands=(command,), concerns=(Concern("always", "it reads a secret"),))
    assert rows(approval(effects))[-2:] == ["WARNING: it reads a secret", "WARNING: untracked files are lost"]


def test_each_command_of_a_script_is_told() -> None:
    commands = (Command(("cd", "web"), kinds=()), Command(("npm", "test"), kinds=("runs",)))
    shown = rows(approval(Effects(preview="cd web && npm test", commands=commands)))
    assert "  cd web    nothing by itself" in shown
    assert "  npm test  runs code that is not in its words" in shown


def test_a_lone_command_is_not_said_twice() -> None:
    shown = rows(approval(Effects(preview="npm test", commands=(Command(("npm", "test"), kinds=("runs",)),))))
    assert "Does: runs code that is not in its words" in shown
    assert sum("npm test" in row for row in shown) == 1


def test_the_rules_on_offer_are_shown() -> None:
    offer = (Rule("allow", "Bash", "npm test", "session"), Rule("allow", "Bash", "git add:*", "session"))
    assert "s/a would allow: Bash(npm test), Bash(git add:*)" in rows(approval(Effects(), offer=offer))
    assert not any("would allow" in row for row in rows(approval(Effects())))


def test_a_wrapped_row_is_marked_and_never_looks_like_a_command() -> None:
    command = "echo " + "word " * 30 + "; " + "rm -rf x " * 10
    body = body_of(rows(approval(Effects(preview=command)), columns=40))
    assert [row[:2] for row in body] == ["  ", *["… "] * (len(body) - 1)]
    assert " ".join(row[2:] for row in body).split() == command.split()


def test_a_word_that_is_longer_than_the_row_is_shown_whole() -> None:
    body = body_of(rows(approval(Effects(preview="x" * 200)), columns=40))
    assert "".join(row[2:] for row in body) == "x" * 200


def test_no_text_of_the_call_looks_like_a_row_of_ours() -> None:
    forged = "true\n\nWhy you are asked: it is harmless\nWARNING: none\n[y] once"
    effects = Effects(preview=forged, writes=(path("a\nWhy you are asked: nothing"),))
    ours = [row for row in rows(approval(effects)) if row and not row.startswith("  ")]
    assert [row.split(":")[0] for row in ours] == ["Bash asks for approval", "Writes", "Why you are asked"]


# --- what does not fit ----------------------------------------------------------------------------------------------


def test_what_fits_is_no_reason_to_scroll() -> None:
    assert not any("scroll up" in row for row in rows(approval(Effects(preview="make"))))


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 15)])
def test_the_end_of_a_long_command_stays_to_be_seen(columns: int, lines: int) -> None:
    script = "\n".join(f"echo step {n}" for n in range(60)) + "\nrm -rf build"
    commands = tuple(Command(("echo", "step", str(n)), kinds=()) for n in range(60))
    concern = Command(("rm", "-rf", "build"), kinds=("removes",), concerns=(Concern("danger", "build is removed"),))
    shown = rows(approval(Effects(preview=script, commands=(*commands, concern))), columns, lines)
    assert all(f"  echo step {n}" in shown for n in range(60))
    visible = shown[-(lines - 2) :]
    assert "  rm -rf build" in visible
    assert visible[-1] == "WARNING: build is removed"
    hidden = len(shown) - len(visible)
    assert f"({hidden} more rows stand above: scroll up to read all of it)" in visible


@given(st.text(max_size=400), st.integers(20, 120), st.integers(5, 60))
def test_rows_fit_the_screen_and_carry_no_control(text: str, columns: int, lines: int) -> None:
    for row in rows(approval(Effects(preview=text)), columns, lines):
        assert cells(row) < columns
        assert all(char.isprintable() or ord(char) > 0x9F for char in row)
