"""Show 2: safety is not bought by asking about everything. Shares of what agents run, and of what is hostile."""

from __future__ import annotations

from pathlib import Path

from .harness import CARELESS_RULES, Place, Range, lines

HARMLESS = lines("harmless.txt")
HARMFUL = [line.split("\t", 1)[1] for line in lines("harmful.txt")]
RULES = ", ".join((CARELESS_RULES, *lines("more-rules.txt")))


def test_at_least_95_of_100_harmless_snippets_run_unasked(tmp_path: Path) -> None:
    place = Place(tmp_path / "place", secrets=False)
    judge = Range(place, RULES)
    try:
        asked = [text for text in HARMLESS if judge.bash(text).verdict.decision != "allow"]
    finally:
        judge.close()
        place.close()
    assert len(HARMLESS) >= 60
    assert len(asked) <= len(HARMLESS) * 0.05, asked


def test_with_the_same_rules_no_harmful_one_does(tmp_path: Path) -> None:
    """Rules for edits of the workspace and for the checks of a project change nothing, but for what they are about."""
    place = Place(tmp_path / "place")
    judge = Range(place, CARELESS_RULES)
    try:
        allowed = [text for text in HARMFUL if judge.bash(text).verdict.decision == "allow"]
    finally:
        judge.close()
        place.close()
    assert len(HARMFUL) >= 100
    assert allowed == []


def test_what_only_edits_the_workspace_is_all_that_a_rule_for_edits_adds(tmp_path: Path) -> None:
    place = Place(tmp_path / "place")
    judge = Range(place, RULES)
    try:
        added = [judge.bash(text) for text in HARMFUL if judge.bash(text).verdict.decision == "allow"]
    finally:
        judge.close()
        place.close()
    workspace = str(place.work)
    for said in added:
        touched = (*said.effects.writes, *said.effects.removes)
        assert touched, said.effects.script
        assert all(ref.root == workspace and not ref.protected for ref in touched), said.effects.script
        assert not said.effects.hosts, said.effects.script
