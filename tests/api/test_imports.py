"""`import agenyx` costs next to nothing, and everything that it gives out is there, for programs and for checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agenyx

SOURCE = Path(agenyx.__file__)


def declared() -> dict[str, str]:
    """What checkers are told: the names with the modules that they come from."""
    (block,) = [node for node in ast.parse(SOURCE.read_text("utf-8")).body if isinstance(node, ast.If)]
    lines = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or "": f"{node.module}" for node in lines for alias in node.names}


def test_importing_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import agenyx; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _with_path(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['agenyx']\n"


def test_making_a_tool_and_an_agent_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom agenyx import Agent, tool\n"
        "@tool\ndef f(a: int) -> str:\n    'F.'\n    return ''\n"
        "Agent(tools=[f])\n"
        "print(sorted({'httpx', 'rich', 'click', 'textual', 'prompt_toolkit', 'pydantic', 'mcp', 'opentelemetry'}"
        " & set(sys.modules)), [m for m in sys.modules if m.startswith('agenyx.ui')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"


def _with_path(code: str) -> str:
    return f"import sys; sys.path[:0] = {sys.path!r}; {code}"


def test_every_name_is_there_and_is_what_checkers_are_told() -> None:
    found = declared()
    assert {"Agent", "tool", "approvable", "Session", "Result", "events", "providers"} <= set(found)
    for name, place in found.items():
        value = getattr(agenyx, name)
        if place != "agenyx":
            assert value is getattr(sys.modules[place], name), name
        assert name in dir(agenyx)
    public = {name for name in dir(agenyx) if not name.startswith("_")}
    inner = {"agent", "api", "app", "config", "core", "ext", "llm", "policy", "proc", "session", "shell", "tools", "ui"}
    assert public - inner - {"workspace", "TYPE_CHECKING"} == set(found)


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="Agnt"):
        _ = agenyx.Agnt  # type: ignore[attr-defined]


def test_everything_public_says_what_it_is() -> None:
    for name in declared():
        value = getattr(agenyx, name)
        if isinstance(value, type) or callable(value):
            assert name in ("Answer", "Hooks") or (value.__doc__ or "").strip(), name


def test_the_package_says_that_it_is_typed() -> None:
    assert SOURCE.with_name("py.typed").exists()
