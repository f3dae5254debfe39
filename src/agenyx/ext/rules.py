"""Rules: instruction files of which some hold only for certain files of the workspace (`paths` in their head).

Pure. One without `paths` is told from the start, the others when such a file is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agenyx.ext.frontmatter import read
from agenyx.ext.instructions import Instruction, instruction
from agenyx.ext.sources import Source
from agenyx.workspace.globs import Glob, GlobError


class Rule(Struct, frozen=True):
    """One file of rules with what it takes in. `patterns` are globs relative to the workspace, () for all files."""

    told: tuple[Instruction, ...]
    patterns: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.told[0].path

    def applies(self, path: str) -> bool:
        """Whether it speaks of a file, a path relative to the workspace."""
        return any(Glob(pattern).matches(path) for pattern in self.patterns)


def rules(sources: Iterable[Source]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules in the order of the files, and a phrase for each thing that was not understood."""
    found, problems = list[Rule](), list[str]()
    dropped = ""
    for source in sources:
        if source.by:
            if found and not dropped:
                found[-1] = Rule((*found[-1].told, instruction(source)), found[-1].patterns)
            continue
        front = read(source.data.decode("utf-8-sig", "replace"))
        problems += [f"{source.shown}: {problem}" for problem in front.problems]
        patterns, dropped = front.items("paths"), ""
        for pattern in patterns:
            try:
                Glob(pattern)
            except GlobError as error:
                dropped = f"{source.shown} was left out: {error.message}"
        if dropped:
            problems.append(dropped)
            continue
        head = instruction(source, front.body)
        if not head.text:
            dropped = "it says nothing"
            continue
        found.append(Rule((head,), tuple(pattern.removeprefix("./").lstrip("/") for pattern in patterns)))
    return tuple(found), tuple(problems)


def standing(found: Sequence[Rule]) -> list[Instruction]:
    """The texts of the rules that hold for all files."""
    return [item for rule in found if not rule.patterns for item in rule.told]
