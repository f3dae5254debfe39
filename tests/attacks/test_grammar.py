"""The scripts of the grammar run to their end, harm nothing, and are seen to run what they run."""

from __future__ import annotations

import asyncio
import os
import time
from random import Random

import pytest

from agenyx.proc.spawn import Processes
from agenyx.shell.parse import Parsed, parse
from attacks import grammar


@pytest.mark.parametrize("seed", range(20))
def test_a_script_ends_and_is_recorded(tmp_path, seed):
    env = grammar.prepare(tmp_path)
    script = grammar.generate(Random(seed))
    assert script == grammar.generate(Random(seed))
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    start = time.monotonic()
    grammar.run(tmp_path, env, script + "\nalpha last 'a word' ''", seconds=30)
    assert time.monotonic() - start < 10, "a second where nothing else runs"
    calls = grammar.record(tmp_path)
    assert ["alpha", "last", "a word", ""] in calls or "exit" in script or "set -e" in script
    assert all(call[0] in (*grammar.NAMES, grammar.FAILS) for call in calls)
    after = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    assert {path.name for path in set(after) - set(before)} <= {"out", "record"}


def test_it_records_where_a_program_was_called(tmp_path):
    env = grammar.prepare(tmp_path)
    assert grammar.run(tmp_path, env, "alpha 'a b' ''; cd sub && r''= ; \\beta; omega") == 1
    assert grammar.places(tmp_path) == [("", ["alpha", "a b", ""]), ("sub", ["beta"]), ("sub", ["omega"])]


def test_the_scripts_hold_all_that_the_grammar_knows():
    text = "\n".join(grammar.generate(Random(seed)) for seed in range(300))
    for part in (
        "$(",
        "`",
        "<<E",
        "<<'E'",
        "case",
        "while",
        "for ((",
        "xargs",
        "find",
        "eval",
        "bash -c",
        "pushd",
        "$'",
        "[[",
    ):
        assert part in text, part


def test_what_runs_was_seen_where_it_ran(tmp_path):
    """Without programs that start others, which the parser leaves to policy."""
    scripts = [grammar.generate(Random(seed), wrappers=False) for seed in range(60)]
    env = grammar.prepare(tmp_path)
    seen = 0
    for script, parsed in zip(scripts, _parse(scripts, env), strict=True):
        if parsed.opaque:
            continue
        seen += 1
        (tmp_path / "record").unlink(missing_ok=True)
        grammar.run(tmp_path, env, script)
        for where, argv in grammar.places(tmp_path):
            assert any(
                _covers(list(command.argv), argv) and _same(tmp_path / "work", command.cwd, where)
                for command in parsed.commands
            ), (script, where, argv)
    assert seen >= 30


def _parse(scripts: list[str], env: dict[str, str]) -> list[Parsed]:
    async def main() -> list[Parsed]:
        processes = Processes()
        try:
            return [await parse(processes, script, env) for script in scripts]
        finally:
            await processes.close()

    return asyncio.run(main())


def _covers(seen: list[str | None], real: list[str]) -> bool:
    """Whether the words are the real ones; None stands for any number of words."""
    if not seen:
        return not real
    if seen[0] is None:
        return any(_covers(seen[1:], real[start:]) for start in range(len(real) + 1))
    return bool(real) and seen[0] == real[0] and _covers(seen[1:], real[1:])


def _same(work: os.PathLike[str], seen: str | None, where: str) -> bool:
    return seen is None or os.path.realpath(os.path.join(work, seen)) == os.path.realpath(os.path.join(work, where))
