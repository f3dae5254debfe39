"""What SKILL.md files say: read leniently, with a reason for each that is left out. Other hands wrote them."""

from __future__ import annotations

import time
from typing import Literal

import pytest

from agenyx.ext.skills.reading import Missing, Skill, Skills, read
from agenyx.ext.sources import Source


def source(
    path: str, text: str | bytes, place: str = "/w/.claude/skills", origin: Literal["user", "workspace"] = "workspace"
) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source("skills", origin, place, path, f"{place}/{path}", data)


def skill(text: str | bytes, name: str = "pdf") -> Skill:
    found = read([source(f"{name}/SKILL.md", text)])
    assert not found.missing
    return found.found[name]


def missing(text: str | bytes, path: str = "pdf/SKILL.md") -> Missing:
    found = read([source(path, text)])
    assert not found.found
    return found.missing[0]


def test_the_fields_of_the_standard_and_of_others() -> None:
    found = skill(
        "---\nname: pdf\ndescription: Fill in PDF forms.\nlicense: MIT\ncompatibility: Needs python\n"
        "metadata:\n  author: me\n  version: '1'\nallowed-tools: Bash(git:*) Read\nargument-hint: [file]\n"
        "disable-model-invocation: true\nuser-invocable: false\ncontext: fork\nagent: explore\nmodel: m\neffort: low\n"
        "when_to_use: When a form comes up.\n---\n\nDo it.\n"
    )
    assert found.description == "Fill in PDF forms. When a form comes up."
    assert [rule.text for rule in found.scope.rules] == ["Bash(git:*)", "Read"]
    assert (found.listed, found.typed, found.fork, found.agent) == (False, False, True, "explore")
    assert (found.model, found.effort, found.hint, found.body) == ("m", "low", "file", "Do it.")
    assert found.folder == "/w/.claude/skills/pdf"
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("description: d", "it has no name"),
        ("name: other\ndescription: d", "its name 'other' is not that of its folder"),
        ("name: ../../x\ndescription: d", "its name '../../x' is not that of its folder"),
        ("name: pdf\ndescription: d\nflavour: sweet", "keys that mean nothing here: flavour"),
        ("name: pdf\ndescription: d\nallowed-tools:", "allowed-tools is empty"),
        ("name: pdf\ndescription: d\nallowed-tools: Bash(git:*", "Bash(git:*"),
        ("name: pdf\ndescription: d\nhooks: x", "hooks of a skill are not used"),
        (f"name: pdf\ndescription: {'d' * 2000}", "more than 1,024 characters"),
        ("name: pdf\ndescription: d\n  - [broken", ""),
    ],
)
def test_what_is_odd_is_told_and_does_no_harm(head: str, told: str) -> None:
    found = skill(f"---\n{head}\n---\ntext")
    assert found.name == "pdf" and found.body == "text"
    assert told in "; ".join(found.warnings)
    assert len(found.description) <= 1024


def test_a_description_with_a_colon_is_read() -> None:
    assert skill("---\nname: pdf\ndescription: Use when: forms\n---\nx").description == "Use when: forms"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nname: pdf\n---\nx", "it has no description"),
        ("---\nname: pdf\ndescription: ''\n---\nx", "it has no description"),
        ("just text", "it has no head between --- lines"),
        ("---\nname: pdf\ndescription: d\n", "no line --- at its end"),
        (f"---\nname: pdf\nx: {'y' * 70_000}\n---\n", "longer than"),
        (b"\xff\xfe\x00\x01" * 10, "it has no head"),
        ("---\n" + "- " * 20_000 + "\n---\n", "line 2 is not a key"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_a_reason(text: str | bytes, why: str) -> None:
    left = missing(text)
    assert why in left.why and left.wrong
    assert left.path == "/w/.claude/skills/pdf/SKILL.md"


def test_a_bad_one_leaves_its_neighbours_alone() -> None:
    good, bad = "---\ndescription: d\n---\n", "---\nname: x\n"
    found = read([source("a/SKILL.md", good), source("b/SKILL.md", bad), source("c/SKILL.md", good)])
    assert list(found.found) == ["a", "c"] and [one.name for one in found.missing] == ["b"]


def test_a_skill_needs_a_folder_with_a_name_that_can_be_shown() -> None:
    assert "no folder of its own" in missing("---\ndescription: d\n---\n", "SKILL.md").why
    assert "cannot be shown" in missing("---\ndescription: d\n---\n", "pd\u202ef/SKILL.md").why
    assert "\u202e" not in missing("---\ndescription: d\n---\n", "pd\u202ef/SKILL.md").name
    assert "cannot be shown" in missing("---\ndescription: d\n---\n", "a\x1b[31m/SKILL.md").why


def test_hidden_text_is_shown_and_told() -> None:
    found = skill("---\ndescription: nice\u200b \U000e0041skill\n---\ndo \u202eevil\x1b[2J")
    assert "\u200b" not in found.description and "\\u200b" in found.description
    assert "\u202e" not in found.body and "\x1b" not in found.body
    assert "cannot be seen" in "; ".join(found.warnings)


def test_of_two_with_one_name_the_workspace_counts_and_then_agenyx() -> None:
    text = "---\ndescription: {}\n---\n"
    places = [
        ("/h/.agents/skills", "user"),
        ("/h/.codex/skills", "user"),
        ("/h/.claude/skills", "user"),
        ("/h/.agenyx/skills", "user"),
        ("/w/.agents/skills", "workspace"),
        ("/w/.codex/skills", "workspace"),
        ("/w/.claude/skills", "workspace"),
        ("/w/.agenyx/skills", "workspace"),
    ]
    sources = [source("a/SKILL.md", text.format(place), place, origin) for place, origin in places]  # type: ignore[arg-type]
    while sources:
        strongest = sources[-1]
        for order in (sources, sources[::-1]):
            found = read(order)
            assert found.found["a"].description == strongest.place
            assert len(found.missing) == len(sources) - 1
            assert all(f"{strongest.shown} has the same name" in one.why for one in found.missing)
            assert not any(one.wrong for one in found.missing)
        sources.pop()


def test_a_broken_one_does_not_hide_a_weaker_one() -> None:
    found = read(
        [
            source("a/SKILL.md", "---\nname: a\n---\n"),
            source("a/SKILL.md", "---\ndescription: d\n---\n", "/h/skills", "user"),
        ]
    )
    assert found.found["a"].origin == "user"


def test_skills_may_lie_deeper_but_not_inside_of_another() -> None:
    text = "---\ndescription: d\n---\n"
    found = read([source("group/a/SKILL.md", text), source("b/SKILL.md", text), source("b/templates/c/SKILL.md", text)])
    assert list(found.found) == ["a", "b"]
    assert [(one.name, one.wrong) for one in found.missing] == [("c", False)]


def test_a_skill_is_found_in_any_case_and_by_its_title_but_never_by_a_path() -> None:
    found = read([source("pdf/SKILL.md", "---\nname: PDF Forms\ndescription: d\n---\n")])
    for name in ("pdf", "PDF", "/pdf", "pdf forms", " pdf "):
        assert found.find(name) is not None
    for name in ("", "../pdf", "/w/.claude/skills/pdf", "pdf/SKILL.md", "pd*"):
        assert found.find(name) is None
    assert Skills().find("pdf") is None


def test_a_thousand_hostile_heads_take_no_time() -> None:
    bombs = [
        "---\n" + "a: &a [*a,*a]\n" * 3000 + "---\n",
        "---\ndescription: " + "[" * 30_000 + "\n---\n",
        "---\ndescription: |\n" + "  x\n" * 12_000 + "---\n",
        "---\n" + "".join(f"k{n}: v\n" for n in range(5000)) + "---\n",
        "---\ndescription: " + "'" * 30_001 + "\n---\n",
        "---\ndescription: d\nallowed-tools: " + "Bash(git:*) " * 4000 + "\n---\n",
    ]
    begun = time.process_time()
    for number, bomb in enumerate(bombs):
        read([source(f"s{number}/SKILL.md", bomb)])
    assert time.process_time() - begun < 5
