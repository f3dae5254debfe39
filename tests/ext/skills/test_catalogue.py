"""The list of skills keeps within its tokens, whatever the skills are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenyx.ext.skills.catalogue import FLOOR, HEADING, budget, catalogue
from agenyx.ext.skills.reading import Skill


def skill(name: str, description: str, *, listed: bool = True) -> Skill:
    return Skill(name, "", description, "user", f"/s/{name}", f"/s/{name}/SKILL.md", "", listed=listed)


def weigh(text: str) -> int:
    return len(text) // 3


def test_one_percent_of_the_window_with_a_floor() -> None:
    assert [budget(window) for window in (None, 8_000, 200_000, 1_000_000)] == [FLOOR, FLOOR, 2_000, 10_000]


def test_nothing_where_there_is_nothing_to_list() -> None:
    assert catalogue([], 1000, weigh) == ""
    assert catalogue([skill("a", "x", listed=False)], 1000, weigh) == ""


def test_descriptions_go_first_then_all_but_names_then_names() -> None:
    skills = [skill(f"skill-{number}", "does something useful " * 20) for number in range(40)]
    whole = catalogue(skills, 10_000, weigh)
    assert whole.startswith(HEADING) and "…" not in whole
    shorter = catalogue(skills, 1_500, weigh)
    assert shorter.count("…") == 40 and "- skill-39: does something useful" in shorter
    names = catalogue(skills, 250, weigh)
    assert "skill-39" in names and "useful" not in names and "more:" not in names
    few = catalogue(skills, 120, weigh)
    assert "skill-0, skill-1" in few and "skill-39" not in few and "more: agenyx skills list" in few
    shown = few.split("\n")[-1].count(",") + 1
    assert f"and {40 - shown} more" in few


def test_a_short_description_is_not_cut_for_a_long_one() -> None:
    text = catalogue([skill("a", "short"), skill("b", "long " * 500)], 120, weigh)
    assert "- a: short\n" in text and text.endswith("…")


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 1024)), min_size=1, max_size=60),
    st.integers(budget(None), 3000),
)
def test_it_never_takes_more_than_it_may(sizes: list[tuple[int, int]], most: int) -> None:
    skills = [skill(f"{'n' * name}{at}", "d" * description) for at, (name, description) in enumerate(sizes)]
    text = catalogue(skills, most, weigh)
    assert weigh(text) <= most
    assert text.startswith(HEADING)
