"""The shape of the code: what a newcomer is promised about it."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "agenyx"


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.startswith("agenyx.")}


def test_the_engine_and_the_boundary_with_what_only_they_import_are_under_500_lines() -> None:
    users: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        module = "agenyx." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name in imported(path):
            users.setdefault(name, set()).add(module)
    core = {"agenyx.agent.engine", "agenyx.agent.boundary"}
    while True:
        more = {
            name
            for name, by in users.items()
            if by <= core and (SOURCE.parent / f"{name.replace('.', '/')}.py").exists()
        }
        if more <= core:
            break
        core |= more
    lines = {
        name: len((SOURCE.parent / f"{name.replace('.', '/')}.py").read_text("utf-8").splitlines()) for name in core
    }
    assert sum(lines.values()) < 500, lines


def test_every_module_says_what_it_owns_and_no_file_is_huge() -> None:
    for path in SOURCE.rglob("*.py"):
        if path.name == "_version.py":
            continue
        text = path.read_text("utf-8")
        assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
        assert len(text.splitlines()) <= 400, f"{path} is too long"
