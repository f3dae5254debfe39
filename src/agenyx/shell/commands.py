"""Collects the simple commands of a syntax tree (shfmt's JSON), wherever they stand in it, with their directory.

The tree is walked as bash would run it, every branch and every loop, with what is known of directory and variables at
each point (values.State). Anything not understood gives a reason instead of a guess. Knows no program.

How redirections come out (`Redirect.op`, `target`): `>` `>>` `>|` `&>` `&>>` write the file `target`, `<` reads it,
`<>` does both. `>&` with a number, a number and `-`, or `-` only names descriptors, and so does every `<&`; any other
`>&` writes a file. `<<` `<<-` `<<<` give text, which then is `target`. None is what only the run knows.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agenyx.core.tools import Command
from agenyx.shell import syntax, values
from agenyx.shell.flow import Walker
from agenyx.shell.syntax import Node, children
from agenyx.shell.walk import TooMuch
from agenyx.shell.words import Dialect


class Collected(Struct, frozen=True):
    """The commands in the order of the text; `opaque` says why they may not be all, or is empty.

    `functions` are the names that the script defines; what it calls by such a name is not one of the programs.
    """

    commands: tuple[Command, ...]
    opaque: str
    functions: frozenset[str] = frozenset()


def collect(tree: Node, env: Mapping[str, str], dialect: Dialect = "bash") -> Collected:
    """`tree` is the decoded JSON of a File node; `env` the environment that the script starts with."""
    reason = syntax.problem(tree)
    if reason:
        return Collected((), reason)
    functions = syntax.functions_of(tree)
    first = values.first(env)
    try:
        survey = Walker(dialect, functions, first)
        survey.statements(children(tree, "Stmts"), first, True)
        if "PWD" in survey.everywhere.names or "PWD" in survey.attributes:
            first = first.without("PWD")
        walker = Walker(dialect, functions, first, survey)
        walker.statements(children(tree, "Stmts"), first, True)
    except TooMuch:
        return Collected((), "it is too long to be followed", functions)
    except RecursionError:
        return Collected((), "it is nested too deeply", functions)
    if survey.everywhere.globs and survey.everywhere.anything:
        walker.refuse("it changes what a pattern stands for, and runs a script inside of it")
    return Collected(tuple(walker.found), walker.opaque, functions)
