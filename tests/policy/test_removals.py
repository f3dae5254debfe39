"""What may never be removed, and what is asked about in every mode. Pure functions."""

from __future__ import annotations

import pytest

from agenyx.core.tools import PathRef
from agenyx.policy.removals import concern_of, concern_of_pattern, concern_of_unknown, concern_of_words

W, U = "/home/u/proj/app", "/home/u"


def level(path: str, tree: bool = True, workspace: str = W, home: str = U) -> str:
    concern = concern_of(PathRef(path, path.encode(), None), tree, workspace, home)
    return concern.level if concern else ""


@pytest.mark.parametrize(
    "path",
    [
        "/", "/usr", "/etc", "/home", "/var", "/tmp", "/root", "/opt", "/private", "/private/etc", "/private/var",
        "/home/u", "/home/u/proj", W, "/home/other", "/Users/alice", "/ETC", "/Home/U",
    ],
)  # fmt: skip
def test_roots_homes_and_the_workspace_are_refused(path: str) -> None:
    assert level(path) == "refuse" and level(path, tree=False) == "refuse"


@pytest.mark.parametrize(
    "path", ["/home/u/Documents", "/home/u/.ssh", "/home/u/notes.txt", "/usr/lib", "/etc/passwd", "/var/lib/dpkg"]
)
def test_what_lies_directly_in_the_home_or_the_system_is_always_asked(path: str) -> None:
    assert level(path) == "always"


@pytest.mark.parametrize("path", [f"{W}/build", f"{W}/a.py", "/tmp/x", "/home/u/Documents/old", "/home/u/proj/other"])
def test_the_rest_is_for_rules(path: str) -> None:
    assert level(path) == ""


def test_workspaces_in_unusual_places() -> None:
    assert level("/work/main/x", workspace="/work/main") == ""
    assert level("/work/main", workspace="/work/main") == "refuse"
    assert level("/srv/app/x", workspace="/srv/app") == ""
    assert level("/srv/app/x", workspace="/srv") == ""
    assert level("/home/u/Documents", workspace="/home/u") == ""  # the workspace is the home
    assert level("/home/u", workspace="/home/u") == "refuse"
    assert level("/data/u", home="/data/u") == "refuse"
    assert concern_of(PathRef("x", b"", None, problem="no"), True, W, U) is None


def test_every_concern_says_what_it_is_about() -> None:
    concern = concern_of(PathRef("..", b"/home/u/proj", None), True, W, U)
    assert concern is not None and concern.part == ".." and "holds the workspace" in concern.text


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/*", "refuse"), ("//*", "refuse"), ("/./*", "refuse"), ("/u*", "refuse"), ("/{etc,usr}", "refuse"),
        ("/*/", "refuse"), ("~/*", "refuse"), ("~/.*", "refuse"), ("~/{*,.*}", "refuse"), ("~/?*", "refuse"),
        ("/home/*", "refuse"), ("/home/u/*", "refuse"), ("/home/u/*/*", "refuse"), ("/etc/*", "refuse"),
        ("/usr/**", "refuse"), ("../*", "refuse"), ("../../*", "refuse"), ("/private/etc/*", "refuse"),
        ("~/*.log", "always"), ("~root/*", "always"), ("/usr/lib*", "always"), ("/usr/local/*", "always"),
        ("*", "always"), ("./*", "always"), (".*", "always"), (".[!.]*", "always"), ("{*,.*}", "always"),
        ("[a-z]*", "always"), ("**/*", "always"), ("*.*", "always"), (f"{W}/*", "always"), ("*/..", "always"),
        ("a*/../../x", "always"), ("*.pyc", ""), ("build/*", ""), ("./dist/*", ""), ("**/*.pyc", ""),
        ("**/__pycache__", ""), ("/tmp/x/*", ""), ("../other/*", ""), ("~/Documents/old/*", ""),
        ("~", "refuse"), ("~/", "refuse"), ("~/x", "always"),
    ],
)  # fmt: skip
def test_patterns(pattern: str, expected: str) -> None:
    concern = concern_of_pattern(pattern, W, True, W, U)
    assert (concern.level if concern else "") == expected


def test_a_pattern_in_an_unknown_directory_is_always_asked() -> None:
    concern = concern_of_pattern("*.pyc", "", True, W, U)
    assert concern is not None and concern.level == "always" and "only when" in concern.text
    absolute = concern_of_pattern("/*", "", True, W, U)
    assert absolute is not None and absolute.level == "refuse"


def test_a_pattern_in_another_directory() -> None:
    in_root = concern_of_pattern("*", "/", True, W, U)
    assert in_root is not None and in_root.level == "refuse"
    assert concern_of_pattern("*", f"{W}/build", True, W, U) is None


def test_unknown_words_and_switched_off_protection() -> None:
    unknown = concern_of_unknown(True)
    assert unknown is not None and unknown.level == "always"
    assert concern_of_unknown(False) is None
    for word in ("--no-preserve-root", "--no-preserve", "--no-pre"):
        concern = concern_of_words(("rm", "-rf", word, None))
        assert concern is not None and concern.level == "refuse" and concern.part == word
    assert concern_of_words(("rm", "-rf", "--preserve-root", "--no", None)) is None


@pytest.mark.parametrize("size", [1000, 10_000])
def test_a_hostile_pattern_takes_no_time(size: int) -> None:
    import time

    started = time.process_time()
    concern_of_pattern("*" * size + "x", W, True, W, U)
    concern_of_pattern("[" * size, W, True, W, U)
    concern_of_pattern("{*" * size, W, True, W, U)
    assert time.process_time() - started < 2
