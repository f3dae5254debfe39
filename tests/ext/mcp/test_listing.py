from __future__ import annotations

from agenyx.ext.mcp.listing import prompts, resources, tools


def hash_of(**fields) -> str:
    return tools([{"name": "t", "inputSchema": {}, **fields}])[0][0].sha256


def test_the_hash_speaks_of_what_the_server_says_before_anything_was_cleaned():
    base = hash_of(description="a")
    assert hash_of(description="a", annotations={"readOnlyHint": True}, _meta={"x": 1}) == base
    long = "x" * 5000
    different = {
        base,
        hash_of(description="b"),
        hash_of(description="a", title="b"),
        hash_of(description="a", inputSchema={"type": "object"}),
        hash_of(description=long),
        hash_of(description=long + "!"),
    }
    assert len(different) == 6


def test_a_title_stands_in_for_a_description():
    (found, _) = tools([{"name": "t", "title": "Does it", "inputSchema": {}}])
    assert found[0].description == "Does it"


def test_one_that_is_listed_twice_counts_once():
    found, problems = tools([{"name": "t", "description": "a"}, {"name": "t", "description": "b"}])
    assert [tool.description for tool in found] == ["a"]
    assert problems == ("the tool 't' is listed twice; the first counts",)


def test_problems_are_bounded():
    assert len(tools([{}] * 500)[1]) == 21


def test_resources_that_make_sense():
    found = resources(
        [
            {"uri": "a://1", "name": "one", "title": "One\nline", "size": 3, "description": "x\x1b"},
            {"uri": "a://2", "size": -1},
            {"uri": "a\u202eb"},
            {"uri": "x" * 3000},
            {"name": "no address"},
            None,
        ]
    )
    assert [(one.uri, one.name, one.size, one.description) for one in found] == [
        ("a://1", "One line", 3, "x\\x1b"),
        ("a://2", "a://2", None, ""),
    ]


def test_prompts_that_make_sense():
    found = prompts([{"name": "p", "arguments": [{"name": "a", "required": True}, {}, 7]}, {"name": "p"}, {}, 1])
    assert [(one.name, [(a.name, a.required) for a in one.arguments]) for one in found] == [("p", [("a", True)])]
    assert prompts([{"name": "p", "arguments": "x"}])[0].arguments == ()
