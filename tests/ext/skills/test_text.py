"""What the model gets of a skill: arguments and places put in, once, and what lies beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenyx.core.errors import UsageError
from agenyx.ext.expansion import Shell
from agenyx.ext.skills.reading import Skill
from agenyx.ext.skills.text import RESULT_CHARS, parts_of, pieces, resources, told


def skill(body: str, folder: str = "/s/pdf") -> Skill:
    return Skill("pdf", "", "d", "user", folder, f"{folder}/SKILL.md", body)


def text(body: str, arguments: str | list[str] = "") -> str:
    found = pieces(skill(body), arguments, "sess_1")
    assert all(isinstance(piece, str) for piece in found)
    return "".join(piece for piece in found if isinstance(piece, str))


def test_arguments_the_folder_and_the_session_are_put_in() -> None:
    assert text("do $ARGUMENTS: $1, $2", "a b") == "do a b: a, b"
    assert text("$1|$2", ["one two", "three"]) == "one two|three"
    assert text("$1|$2", 'one "two three"') == "one|two three"
    assert text("${CLAUDE_SKILL_DIR}/x ${AGENYX_SKILL_DIR} ${SKILL_DIR}") == "/s/pdf/x /s/pdf /s/pdf"
    assert text("${AGENYX_SESSION_ID} ${CLAUDE_SESSION_ID}") == "sess_1 sess_1"


def test_the_longest_number_counts() -> None:
    ten = [f"w{number}" for number in range(1, 12)]
    assert text("$1 $10 $11 $110", ten) == "w1 w10 w11 $110"


def test_what_was_not_given_stays_as_it_is_written() -> None:
    assert text("awk '{print $1}' $HOME ${PATH} $0 price $100") == "awk '{print $1}' $HOME ${PATH} $0 price $100"
    assert text("$1 $2", "a") == "a $2"


def test_arguments_are_put_in_once_and_run_nothing() -> None:
    assert text("$1 $2", ["$2", "!`id`"]) == "$2 !`id`"
    assert text("$ARGUMENTS", "${SKILL_DIR} $1 !`id`") == "${SKILL_DIR} $1 !`id`"


def test_arguments_without_a_place_follow_the_text() -> None:
    assert text("Do it.", "on a.pdf") == "Do it.\n\nArguments: on a.pdf"
    assert text("Do it.") == "Do it."


def test_commands_are_told_apart_and_get_arguments_as_single_words() -> None:
    assert pieces(skill("at !`git status` end"), "", "s") == ["at ", Shell("git status"), " end"]
    assert pieces(skill("!`cat $1`"), ["a; rm -rf x"], "s") == [Shell("cat 'a; rm -rf x'")]
    with pytest.raises(UsageError):
        pieces(skill("!`cat <<$1`"), ["x"], "s")
    assert text("`!`x`` and a!`b` and \\!`c`") == "`!`x`` and a!`b` and \\!`c`"


def test_files_beside_it_are_named_within_bounds(tmp_path: Path) -> None:
    folder = tmp_path / "pdf"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text("x")
    (folder / "references" / "a.md").write_text("x")
    (folder / "references" / "evil\u202e\n.md").write_text("x")
    os.symlink("/etc/passwd", folder / "passwd")
    os.symlink("/etc", folder / "etc")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "b.js").write_text("x")
    one = skill("body", str(folder))
    files, more = resources(one)
    assert files == ["references/a.md", "references/evil\\xe2\\x80\\xae\\x0a.md"] and not more
    assert "references/a.md" in told(one, "body") and "passwd" not in told(one, "body")
    for number in range(300):
        (folder / f"f{number}").write_text("x")
    files, more = resources(one)
    assert len(files) == 100 and more


def test_the_whole_has_a_bound(tmp_path: Path) -> None:
    whole = told(skill("", str(tmp_path)), "x" * (RESULT_CHARS * 2))
    assert len(whole) <= RESULT_CHARS
    assert f"the rest is in {tmp_path}/SKILL.md" in whole


@pytest.mark.parametrize(
    "path", ["", "..", "../x", "a/../../x", "/etc/passwd", "~/x", "~root", ".", "a\0b", "x" * 5000, "a/\\x2e\\x2e/b"]
)
def test_paths_that_could_lead_out_are_none(path: str) -> None:
    assert parts_of(path) is None


def test_paths_below() -> None:
    assert parts_of("./references//a.md") == (b"references", b"a.md")
