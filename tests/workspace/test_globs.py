"""Patterns match what people mean by them, in linear time."""

from __future__ import annotations

import time

import pytest

from agenyx.workspace.globs import Glob, GlobError, split


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "d/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "d/e/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/b", "src/b", True),
        ("a/**/b/**/c", "a/x/b/y/b/c", True),
        ("a/**/b/**/c", "a/x/y/c", False),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{src,test}/*.{a,b}", "test/x.b", True),
        ("{a,{b,c}}x", "cx", True),
        ("*{a,ab}c", "xabc", True),
        ("file?.txt", "file1.txt", True),
        ("file?.txt", "file.txt", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]x]", "]", True),
        ("a[", "a[", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("*", ".hidden", True),
        ("a*b*c", "aXbYbZc", True),
        ("a*b*c", "abcX", False),
        ("*.py", "a.py\n", False),
        ("./a", "a", True),
        ("[&&]", "&", True),
    ],
)
def test_matching(pattern: str, path: str, matches: bool) -> None:
    assert Glob(pattern).matches(path) is matches


@pytest.mark.parametrize("pattern", ["{a", "[z-a]x", "{a,b}" * 10])
def test_invalid_patterns_say_so(pattern: str) -> None:
    with pytest.raises(GlobError):
        Glob(pattern)


def test_hostile_patterns_end_quickly() -> None:
    started = time.monotonic()
    assert not Glob("*a" * 60 + "*b").matches("a" * 250)
    assert not Glob("**/a/" * 30 + "b").matches("a/" * 200 + "c")
    with pytest.raises(GlobError):
        Glob("{" * 3000 + "a,b" + "}" * 3000 + "{a,b}" * 50)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("*.py", ("", "*.py")),
        ("src/app/*.py", ("src/app", "*.py")),
        ("/abs/dir/**/*.py", ("/abs/dir", "**/*.py")),
        ("/*.py", ("/", "*.py")),
        ("src/a.py", ("src", "a.py")),
        ("**/x", ("", "**/x")),
    ],
)
def test_the_plain_beginning_is_split_off(pattern: str, parts: tuple[str, str]) -> None:
    assert split(pattern) == parts
