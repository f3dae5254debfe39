"""Each feature that the conformance page claims names a proof that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (?P<feature>[^|]+) \| (?P<state>[^|]+) \| (?P<proof>[^|]+) \|$")


def rows() -> list[tuple[str, str, str]]:
    lines = (TOP / "docs" / "conformance.md").read_text("utf-8").splitlines()
    found = [match for line in lines if (match := ROW.match(line))]
    table = [(m["feature"].strip(), m["state"].strip(), m["proof"].strip()) for m in found]
    return [row for row in table if row[0] != "feature" and not set(row[0]) <= set("-: ")]


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_row_has_a_known_state_and_a_proof_that_exists() -> None:
    table = rows()
    assert len(table) > 30
    makefile = (TOP / "Makefile").read_text("utf-8")
    for feature, state, proof in table:
        assert state in ("operational", "partial", "unavailable"), feature
        named = re.findall(r"`([^`]+)`", proof)
        assert named or state == "unavailable", f"{feature}: an operational feature needs a proof"
        for item in named:
            if item.startswith("make "):
                assert f"\n{item.removeprefix('make ')}:" in makefile, f"{feature}: {item}"
                continue
            file, _, test = item.partition("::")
            assert (TOP / file).is_file(), f"{feature}: there is no {file}"
            assert not test or test in functions_of(TOP / file), f"{feature}: {file} has no {test}"


def test_features_stand_once() -> None:
    names = [feature for feature, _, _ in rows()]
    assert len(names) == len(set(names))


def test_every_flag_and_command_has_a_row() -> None:
    from agenyx.app.commands.table import BUILTIN
    from agenyx.ui.flags import FLAGS

    page = (TOP / "docs" / "conformance.md").read_text("utf-8")
    missing = [name for flag in FLAGS for name in flag.names if f"`{name}" not in page and f" {name}" not in page]
    missing += [f"/{row.name}" for row in BUILTIN if not re.search(rf"[` ]/{row.name}[` ,]", page)]
    assert missing == []
    commands = (TOP / "src" / "agenyx" / "ui" / "cli.py").read_text("utf-8")
    for command in re.findall(r'case \["([a-z]+)", \*rest\]', commands):
        assert f"agenyx {command}" in page, command
