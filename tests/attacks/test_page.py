"""docs/security.md names a proof that exists for each kind of attack, and every kind has its scripts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from .harness import HERE, lines

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
ROW = re.compile(r"^\| (S\d\d) \| (.+) \| ([^|]+) \|$", re.MULTILINE)
IDS = [f"S{number:02}" for number in range(1, 75)]


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_attack_has_a_row_with_a_proof_that_exists() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert [number for number, _, _ in rows] == IDS
    for number, _, proof in rows:
        named = re.findall(r"`([^`]+)`", proof)
        assert named or proof.startswith("not applicable: "), number
        for item in named:
            file, _, test = item.partition("::")
            assert (HERE / file).is_file(), f"{number}: there is no {file}"
            assert not test or test in functions_of(HERE / file), f"{number}: {file} has no {test}"
            if test == "test_is_not_allowed":
                assert any(line.startswith(number) for line in lines("harmful.txt")), number


def test_each_attack_is_named_by_a_test() -> None:
    """`pytest tests/attacks -v` shows it, but for what does not apply."""
    text = " ".join(name for path in HERE.glob("test_*.py") for name in functions_of(path))
    shown = {f"S{number}" for number in re.findall(r"s(\d\d)(?=_)", text)}
    shown |= {line[:3] for line in lines("harmful.txt")}
    idle = {number for number, _, proof in ROW.findall(PAGE.read_text("utf-8")) if proof.startswith("not applicable: ")}
    assert set(IDS) - shown - idle == set()


def test_each_mechanism_says_what_it_cannot_do() -> None:
    part = PAGE.read_text("utf-8").partition("## Rules and mechanisms")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    assert all(len(row) == 3 and all(len(cell) > 3 for cell in row) for row in rows), rows
    source = PAGE.parents[1] / "src" / "agenyx"
    for path in re.findall(r"`([a-z]+/[a-z_]+\.(?:py|json))`", part):
        assert (source / path).is_file(), path
