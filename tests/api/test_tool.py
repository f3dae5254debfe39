"""`@tool`: what becomes of a function's signature and docstring, and which functions and names are refused."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import msgspec
import pytest

from agenyx import Agent, ToolContext, Touches, UsageError, tool
from agenyx.api.docstring import described
from agenyx.tools.registry import parse_args

if TYPE_CHECKING:
    from decimal import Decimal as Unseen


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(msgspec.Struct):
    width: int
    height: int = 1


@dataclass
class Point:
    x: float
    y: float = 0.0


class Options(TypedDict, total=False):
    deep: bool


class Node(msgspec.Struct):
    inner: Node | None = None


def everything(
    text: str,
    number: Annotated[int, msgspec.Meta(ge=1, le=9)],
    colour: Colour,
    how: Literal["fast", "slow"],
    size: Size,
    point: Point,
    options: Options,
    title: str,
    where: Path,
    maybe: str | None = None,
    tags: list[str] = ["a"],  # noqa: B006
    table: dict[str, float] = {},  # noqa: B006
    *,
    loud: Annotated[bool, "whether to shout"] = False,
) -> str:
    """Does everything.

    And more.

    Args:
        text: the words,
            on two lines
        number (int): how many
        maybe: perhaps

    Returns:
        nothing: at all
    """
    return f"{text} {number} {colour} {how} {size} {point} {options} {title} {where!r} {maybe} {tags} {table} {loud}"


def test_the_schema_says_what_the_signature_says() -> None:
    made = tool(everything)
    found = made.schema["properties"]
    assert (made.name, made.description) == ("everything", "Does everything.\n\nAnd more.")
    assert found["text"] == {"type": "string", "description": "the words, on two lines"}
    assert found["number"] == {"type": "integer", "minimum": 1, "maximum": 9, "description": "how many"}
    assert found["colour"] == {"enum": ["blue", "red"]}
    assert found["how"] == {"enum": ["fast", "slow"]}
    assert found["size"]["properties"] == {"width": {"type": "integer"}, "height": {"type": "integer", "default": 1}}
    assert found["point"]["required"] == ["x"]
    assert found["options"]["properties"] == {"deep": {"type": "boolean"}}
    assert found["title"] == found["where"] == {"type": "string"}
    assert {"type": "null"} in found["maybe"]["anyOf"] and found["maybe"]["description"] == "perhaps"
    assert found["tags"]["items"] == {"type": "string"}
    assert found["loud"] == {"type": "boolean", "default": False, "description": "whether to shout"}
    assert made.schema["required"] == [*list(found)[:9]]
    assert made.schema["additionalProperties"] is False
    assert "$ref" not in str(made.schema)


def test_arguments_become_what_the_signature_says() -> None:
    from agenyx.api.own import Own

    own = Own(tool(everything), None, "")
    text = (
        '{"text": "t", "number": 3, "colour": "red", "how": "slow", "size": {"width": 2}, "point": {"x": 1}, '
        '"options": {"deep": true}, "title": "T", "where": "a/b"}'
    )
    args: Any = parse_args(own, text)
    assert (args.colour, args.size, args.point) == (Colour.RED, Size(2), Point(1.0))
    values = own._values(args)  # pyright: ignore[reportPrivateUsage]
    assert values["where"] == Path("a/b")
    values["tags"].append("changed")
    assert own._values(parse_args(own, text))["tags"] == ["a"]  # pyright: ignore[reportPrivateUsage]


def test_a_tool_can_be_called_like_its_function() -> None:
    @tool(name="plus", description="Adds.")
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert (add.name, add(1), add(b=1, a=1)) == ("plus", 3, 2)


@pytest.mark.parametrize(
    "doc",
    [
        "Does it.\n\n    Args:\n        a: first\n        b (str, optional): second: with a colon\n",
        "Does it.\n\n    Parameters\n    ----------\n    a : int\n        first\n    b : str, optional\n"
        "        second: with\n        a colon\n\n    Returns\n    -------\n    c : int\n        no\n",
        "Does it.\n\n    :param a: first\n    :param str b: second: with\n        a colon\n    :returns: c\n",
    ],
)
def test_styles_of_docstrings(doc: str) -> None:
    found = described(doc)
    assert (found.text, found.parameters) == ("Does it.", {"a": "first", "b": "second: with a colon"})


@pytest.mark.parametrize("doc", [None, "", "Note: this is text.\n\nArgs are fun.", "Args:", ":param:"])
def test_docstrings_that_say_nothing_of_parameters(doc: str | None) -> None:
    assert described(doc).parameters == {}


def untyped(a, b: int) -> str:  # type: ignore[no-untyped-def]
    """A."""
    return ""


def starred(*words: str) -> str:
    """A."""
    return ""


def starred2(**words: str) -> str:
    """A."""
    return ""


def positional(a: int, /) -> str:
    """A."""
    return ""


def hidden(_a: int) -> str:
    """A."""
    return ""


def strange(a: Agent[Any]) -> str:
    """A."""
    return ""


def unseen(a: Unseen) -> str:
    """A."""
    return ""


def recursive(a: Node) -> str:
    """A."""
    return ""


def late(a: int, ctx: ToolContext[Any]) -> str:
    """A."""
    return ""


def mute(a: int) -> str:
    return ""


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (untyped, "a of the tool untyped has no type"),
        (starred, "words"),
        (starred2, "words"),
        (positional, "cannot be given by name"),
        (hidden, "begins with _"),
        (strange, "not supported"),
        (unseen, "cannot be resolved"),
        (recursive, "contains itself"),
        (late, "not the first one"),
        (mute, "no description"),
    ],
)
def test_functions_that_are_refused_name_what_is_wrong(function: Any, part: str) -> None:
    with pytest.raises(UsageError) as error:
        tool(function)
    assert part in error.value.message and error.value.fix


def test_what_is_no_function_is_told() -> None:
    with pytest.raises(UsageError) as error:
        tool(name="add", description="x")(partial(everything, "x"))
    assert "no function" in error.value.message


def test_a_method_is_a_tool_and_names_may_hold_a_dash() -> None:
    class Shelf:
        def look(self, at: int) -> str:
            """Looks."""
            return str(at)

    made = tool(name="look-at")(Shelf().look)
    assert (made(3), made.schema["required"]) == ("3", ["at"])


@pytest.mark.parametrize("name", ["mcp__x__y", "a b", "1a", "ä", "x" * 65, "a.b", ""])
def test_names_that_no_tool_can_have(name: str) -> None:
    with pytest.raises(UsageError):
        tool(name=name or " ", description="x")(mute)


@pytest.mark.parametrize(
    "name",
    [
        "Bash",
        "bash",
        "READ",
        "read_file",
        "run_command",
        "Task",
        "Agent",
        "Skill",
        "load_skill",
        "ExitPlanMode",
        "McpCall",
        "Memory",
        "TodoWrite",
        "KillShell",
        "AskUserQuestion",
        "web_fetch",
    ],
)
def test_names_of_our_own_tools_are_taken(name: str) -> None:
    made = tool(name=name, description="x")(mute)
    with pytest.raises(UsageError) as error:
        Agent(tools=[made], builtin_tools=[])
    assert f"the name {name} is taken" in error.value.message and "@tool(name=" in error.value.fix


def test_two_tools_of_one_name_clash() -> None:
    one, two = tool(name="look", description="x")(mute), tool(name="Look", description="x")(mute)
    with pytest.raises(UsageError):
        Agent(tools=[one, two])
    with pytest.raises(UsageError) as error:
        Agent(tools=[mute])  # type: ignore[list-item]
    assert "@tool" in error.value.fix


@pytest.mark.parametrize(
    "options",
    [
        {"reads": "path"},
        {"writes": ("a", "nope")},
        {"effects": "nothing"},
        {"effects": Touches(), "reads": "a"},
        {"timeout": 0},
    ],
)
def test_declarations_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as error:
        tool(description="x", **options)(mute)
    assert error.value.fix
