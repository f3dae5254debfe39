"""Where the paths lie that a glob stands for."""

from __future__ import annotations

from agenyx.policy.assessment import folder_of


def test_the_folder_of_a_glob() -> None:
    known = {"*": ".", "a/*": "a", "a/b*/c": "a", "/*": "/", "./*.py": ".", "a/x{1,2}": "a", ".*": ".", "a/\\[*": "a"}
    assert {glob: folder_of(glob) for glob in known} == known
    assert [folder_of(glob) for glob in ("~/*", "{/etc,a}/x*", "a/*/../../x", "a/{../..,b}/*")] == [None] * 4
