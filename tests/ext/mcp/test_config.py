from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.ext.mcp.config import Problem, Read, ServerConfig, fingerprint, merge, read, secret_values

ENV = {"HOME": "/home/ann", "TOKEN": "t0k-1234567890", "EMPTY": "", "OPENAI_API_KEY": "sk-abcdefghijkl"}


def of(servers: dict[str, Any], source: Any = "user", path: str = "/h/mcp.json", **more: Any) -> Read:
    return read(json.dumps({"mcpServers": servers}).encode(), source, path, ENV, ("sk-abcdefghijkl",), **more)


def one(**fields: Any) -> ServerConfig:
    found = of({"s": {"command": "run", **fields}})
    assert found.problems == ()
    return found.servers[0]


def why(**fields: Any) -> str:
    found = of({"s": fields, "other": {"command": "fine"}})
    assert [server.name for server in found.servers] == ["other"]  # one that is wrong takes no other along
    (problem,) = found.problems
    assert problem.server == "s" and problem.fix
    return problem.text


def test_the_shape_of_the_ecosystem():
    server = one(
        type="stdio",
        args=["-y", "pkg"],
        env={"B": "2", "A": "1"},
        cwd="sub",
        connect_timeout=5,
        tool_timeout=0.5,
        max_message_bytes=1 << 20,
        unknown="is passed over",
    )
    assert (server.command, server.args, server.env) == ("run", ("-y", "pkg"), (("A", "1"), ("B", "2")))
    assert (server.connect_timeout, server.request_timeout, server.tool_timeout) == (5.0, 60.0, 0.5)
    assert (server.cwd, server.max_message_bytes, server.source, server.path) == ("sub", 1 << 20, "user", "/h/mcp.json")
    assert not server.disabled and one(disabled=True).disabled


def test_variables_are_put_in_and_told_but_what_is_shown_is_what_was_written():
    server = one(args=["$HOME/x", "${TOKEN}", "${NONE:-a b}", "${EMPTY:-d}", "$$HOME", "5$", "$1"], env={"T": "$TOKEN"})
    assert server.args == ("/home/ann/x", "t0k-1234567890", "a b", "d", "$HOME", "5$", "$1")
    assert server.env == (("T", "t0k-1234567890"),)
    assert server.uses == ("HOME", "TOKEN")
    assert server.shown.args[1] == "${TOKEN}" and server.shown.env == (("T", "$TOKEN"),)


def test_what_a_variable_holds_is_not_expanded_again():
    found = read(b'{"mcpServers": {"s": {"command": "$A"}}}', "user", "f", {"A": "$B", "B": "no"})
    assert found.servers[0].command == "$B"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"command": "$NONE"}, "the variable NONE is not set"),
        ({"command": "x", "args": ["${NONE}"]}, "the variable NONE is not set"),
        ({"command": "x", "args": ["${no-name}"]}, "${no-name} is no variable"),
        ({"command": "x", "args": ["${HOME"]}, "it holds ${ without }"),
        ({"command": "x", "env": {"K": "$OPENAI_API_KEY"}}, "it uses OPENAI_API_KEY, which is a model provider's key"),
        ({"command": "x", "args": ["${ANTHROPIC_API_KEY:-}"]}, "it uses ANTHROPIC_API_KEY"),
        ({"command": "x", "env": {"OPENAI_API_KEY": "mine"}}, "its env sets OPENAI_API_KEY"),
        ({"command": "x", "args": ["--key=sk-abcdefghijkl"]}, "it would get a model provider's key"),
        ({"args": ["x"]}, "its command is missing or no text"),
        ({"command": " "}, "its command is missing or no text"),
        ({"command": ["x"]}, "its command is missing or no text"),
        ({"command": "x", "args": "y"}, "its args is no list of texts"),
        ({"command": "x", "args": [1]}, "its args is no list of texts"),
        ({"command": "x", "args": ["a\0b"]}, "its args is no list of texts"),
        ({"command": "x", "env": {"A": 1}}, "its env is no object of texts"),
        ({"command": "x", "env": ["A"]}, "its env is no object of texts"),
        ({"command": "x", "env": {"A=B": "1"}}, "its env is no object of texts"),
        ({"command": "x", "disabled": "yes"}, "its disabled is neither true nor false"),
        ({"command": "x", "tool_timeout": 0}, "its tool_timeout is no number of seconds"),
        ({"command": "x", "tool_timeout": 6e11}, "its tool_timeout is no number of seconds"),
        ({"command": "x", "connect_timeout": True}, "its connect_timeout is no number of seconds"),
        ({"command": "x", "max_message_bytes": 10}, "its max_message_bytes is not between"),
        ({"type": "http", "url": "https://x/"}, "its type 'http' is not supported in this version yet"),
        ({"type": "sse", "url": "https://x/"}, "its type 'sse' is not supported in this version yet"),
        ({"url": "https://x/"}, "its type 'http' is not supported in this version yet"),
    ],
)
def test_what_is_wrong_leaves_out_that_server_alone(fields, text):
    assert text in why(**fields)


@pytest.mark.parametrize("name", ["", " ", "a__b", "x" * 129, "a\nb", "a\u202eb"])
def test_names(name):
    found = of({name: {"command": "x"}, "fine": {"command": "y"}})
    assert [server.name for server in found.servers] == ["fine"]
    assert found.problems[0].server == name


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{", b'{"mcpServers": []}', b'{"mcpServers": {"a": {}, "a": {}}}', b"\xff", b'{"mcpServers": {}} x'],
)
def test_a_file_that_is_no_such_file_is_one_problem(data):
    found = read(data, "project", "/w/.mcp.json", ENV)
    assert not found.servers and len(found.problems) == 1
    assert found.problems[0].server == "" and "/w/.mcp.json is not valid" in found.problems[0].text


def test_an_entry_that_is_no_object():
    assert of({"s": "npx x"}).problems[0].text == "it is no object"


def test_bounds_of_a_file():
    assert "larger than 4 MiB" in read(b" " * (4 << 20) + b"{}", "user", "f", {}).problems[0].text
    many = of({f"s{n}": {"command": f"c{n}"} for n in range(200)})
    assert len(many.servers) == 128 and "more than 128 servers" in many.problems[0].text
    assert read(b"{}", "user", "f", {}) == Read()


def test_the_stronger_of_one_name_counts_and_the_other_is_told():
    merged = merge(
        [
            of({"Git": {"command": "user"}, "a": {"command": "a"}}),
            of({"git": {"command": "project"}}, "project", "/w/.mcp.json"),
        ]
    )
    assert [(server.name, server.command) for server in merged.servers] == [("a", "a"), ("git", "project")]
    hidden = "the server of /h/mcp.json is hidden by the one named 'git' of /w/.mcp.json"
    assert merged.problems == (Problem("Git", hidden),)


def test_the_same_command_runs_once():
    merged = merge([of({"a": {"command": "x", "args": ["1"]}}), of({"b": {"command": "x", "args": ["1"]}})])
    assert [server.name for server in merged.servers] == ["a"]
    assert merged.problems == (Problem("b", "it is the same command as 'a' and is left out"),)


def test_an_approval_is_bound_to_what_is_run_and_not_to_names_or_limits():
    base = fingerprint(one(args=["a"], env={"K": "$TOKEN"}, cwd="c"))
    assert fingerprint(one(args=["a"], env={"K": "$TOKEN"}, cwd="c", tool_timeout=3)) == base
    renewed = read(
        b'{"mcpServers": {"n": {"command": "run", "args": ["a"], "env": {"K": "$TOKEN"}, "cwd": "c"}}}',
        "project",
        "g",
        {"TOKEN": "renewed"},
    )
    assert fingerprint(renewed.servers[0]) == base
    different = [
        one(args=["b"], env={"K": "$TOKEN"}, cwd="c"),
        one(args=["a"], env={"K": "$HOME"}, cwd="c"),
        one(args=["a"], env={"K": "$TOKEN"}),
        one(args=["a", ""], env={"K": "$TOKEN"}, cwd="c"),
    ]
    assert len({base, *map(fingerprint, different)}) == 5
    assert len(base) == 64


def test_secrets_in_environments_are_named_for_masking():
    server = one(env={"GITHUB_TOKEN": "ghp_1234567890abcdef", "MODE": "ghp_not_secret_named", "API_KEY": "short"})
    assert secret_values([server]) == ("ghp_1234567890abcdef",)
