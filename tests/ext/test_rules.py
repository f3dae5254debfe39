"""Rules: which are told from the start, and which with the files they speak of."""

from __future__ import annotations

from agenyx.ext.rules import rules, standing
from agenyx.ext.sources import Source


def source(path: str, text: str, by: str = "") -> Source:
    return Source("rules", "workspace", "/w/.agenyx/rules", path, f"/w/.agenyx/rules/{path}", text.encode(), by)


def test_with_and_without_paths() -> None:
    found, problems = rules(
        [
            source("all.md", "---\ndescription: x\n---\nalways"),
            source("py.md", "---\npaths: src/**/*.{py,pyi}, ./setup.py\n---\npython @more.md"),
            source("more.md", "more python", "/w/.agenyx/rules/py.md"),
            source("js.md", "---\npaths:\n  - web/**\n---\nscript"),
        ]
    )
    assert problems == ()
    assert [item.text for item in standing(found)] == ["always"]
    python = found[1]
    assert [item.text for item in python.told] == ["python @more.md", "more python"]
    applied = [path for path in ("src/a.py", "src/b/c.pyi", "setup.py", "a.py", "web/a.js") if python.applies(path)]
    assert applied == ["src/a.py", "src/b/c.pyi", "setup.py"]
    assert [found[2].applies(path) for path in ("web/a/b.js", "web")] == [True, False]


def test_what_is_wrong_is_said_and_the_rest_stays() -> None:
    found, problems = rules(
        [
            source("bad.md", "---\npaths: src/{a\n---\nbad"),
            source("its.md", "of the bad one", "/w/.agenyx/rules/bad.md"),
            source("empty.md", "---\npaths: x\n---\n\n"),
            source("odd.md", "---\nhooks:\n  a: b\n---\nodd"),
        ]
    )
    assert [rule.told[0].text for rule in found] == ["odd"]
    assert problems == (
        "/w/.agenyx/rules/bad.md was left out: A { in the pattern has no }",
        "/w/.agenyx/rules/odd.md: hooks holds values inside values, which are passed over",
    )
