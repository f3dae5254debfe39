"""What is wrong with a transcript: words for people, with a code for programs (reference: AgentX §8.5). Values only."""

from __future__ import annotations

from typing import Literal

MOST = 1024  # of one transcript; what comes after them is only counted (reference: AgentX §8.3)

Code = Literal[
    "record_too_large",
    "malformed_record",
    "truncated_tail",
    "invalid_event",
    "foreign_session_event",
    "duplicate_event_id",
    "duplicate_sequence",
    "non_monotonic_sequence",
    "parent_cycle",
    "missing_parent",
    "noncausal_parent",
    "orphan_event",
    "orphan_tool_result",
    "duplicate_tool_result",
    "omitted_fully_unresolved_group",
    "recovered_interrupted_tool",
    "more_diagnostics",
]


class Problem(str):
    """The words are the string itself. `line` counts from 1 in the file; 0 where only the record is known."""

    __slots__ = ("code", "line")
    code: Code
    line: int

    def __new__(cls, code: Code, text: str, line: int = 0) -> Problem:
        problem = super().__new__(cls, text)
        problem.code, problem.line = code, line
        return problem


def tell(problems: list[str], code: Code, text: str, line: int = 0) -> None:
    """Add a problem, up to MOST of them; the last one then says that there are more."""
    if len(problems) < MOST:
        problems.append(Problem(code, text, line))
    elif len(problems) == MOST:
        problems.append(Problem("more_diagnostics", "further problems are not listed"))


def listed(problems: list[str]) -> list[dict[str, object]]:
    """The problems as a program reads them, in their order."""
    return [
        {"code": problem.code, "line": problem.line or None, "message": str(problem)}
        for problem in problems
        if isinstance(problem, Problem)
    ]
