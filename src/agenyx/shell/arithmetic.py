"""Arithmetic of the shell: what it assigns, and whether it can run a command.

bash evaluates what a variable holds as an expression again, down to `a[$(command)]`. So arithmetic is followed only
over numbers: constants, results of arithmetic, counts, and variables that surely hold a number at that point.
"""

from __future__ import annotations

import re
from typing import Protocol

from agenyx.shell.syntax import Node, child, children, name_of
from agenyx.shell.values import KEYED, NUMBER, State, Value, join
from agenyx.shell.words import value

_CONSTANT = re.compile(r"\s*[0-9][0-9a-zA-Z@_#]*\s*")
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_DIGITS = re.compile(r"\s*[-+]?[0-9]*\s*")
_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "**="))
_MAYBE = frozenset(("&&", "||", "?", ":"))
_COUNT = re.compile(r"-[iEFvwxPs]*c[iEFvwxPs]*")
_DATE = re.compile(r"\+(?:%[sYmdHMSNju])+")


class Walk(Protocol):
    """What arithmetic asks of the walker whose script it stands in."""

    functions: frozenset[str]

    def word(self, word: Node, state: State) -> State:
        """Go through the commands and expansions of a word."""
        ...

    def refuse(self, reason: str) -> None:
        """Say that not everything is seen."""
        ...

    def assign(self, state: State, name: str, value: Value | None) -> State:
        """Note an assignment that stands in no command."""
        ...

    def counts(self, name: str, state: State) -> bool:
        """Whether the variable surely holds a number."""
        ...


def evaluate(walk: Walk, node: Node, state: State) -> State:
    """Go through an expression. Gives the state after it."""
    match node.get("Type"):
        case "BinaryArithm":
            op = str(node.get("Op"))
            if op in _ASSIGNING:
                state = evaluate(walk, child(node, "Y"), state)
                return _assign(walk, child(node, "X"), state, reads=op != "=")
            state = evaluate(walk, child(node, "X"), state)
            after = evaluate(walk, child(node, "Y"), state)
            return (join(state, after) or after) if op in _MAYBE else after
        case "UnaryArithm" if node.get("Op") in ("++", "--"):
            return _assign(walk, child(node, "X"), state, reads=True)
        case "UnaryArithm" | "ParenArithm":
            return evaluate(walk, child(node, "X"), state)
        case _:
            return operand(walk, node, state)


def operand(walk: Walk, word: Node, state: State) -> State:
    """Go through a word that is evaluated as arithmetic, such as beside `-eq` in `[[`."""
    after = walk.word(word, state)
    if not numeric(walk, word, state, names=True):
        walk.refuse("it does arithmetic with something that may be more than a number, which bash would run")
    return after


def subscript(walk: Walk, name: str, index: Node, state: State) -> State:
    """Go through the subscript of a variable."""
    if whole(index):
        return state
    if state.values.get(name) == KEYED:
        return walk.word(index, state)
    return evaluate(walk, index, state)


def whole(index: Node) -> bool:
    """Whether a subscript means all elements."""
    return _literal(index) in ("@", "*")


def numeric(walk: Walk, word: Node, state: State, names: bool = False) -> bool:
    """Whether a word comes to a number, or to nothing; with `names` it may also be the name of one."""
    parts = children(word, "Parts")
    if names and len(parts) == 1 and parts[0].get("Type") == "Lit":
        text = str(parts[0].get("Value", ""))
        if name := _NAME.fullmatch(text):
            return walk.counts(name[1], state)
        return bool(_CONSTANT.fullmatch(text) or _DIGITS.fullmatch(text))
    return all(_number(walk, part, state) for part in parts)


def _number(walk: Walk, part: Node, state: State) -> bool:
    match part.get("Type"):
        case "Lit" | "SglQuoted":
            return bool(_DIGITS.fullmatch(str(part.get("Value", ""))))
        case "DblQuoted":
            return numeric(walk, part, state)
        case "ArithmExp":
            return True
        case "CmdSubst":
            return _counting(walk, children(part, "Stmts"))
        case "ParamExp" if part.get("Length"):
            return True
        case "ParamExp" if not set(part) & {"Excl", "Slice", "Repl", "Names", "Exp"}:
            return walk.counts(name_of(part, "Param"), state)
        case _:
            return False


def _assign(walk: Walk, target: Node, state: State, reads: bool) -> State:
    parts = children(target, "Parts")
    part = parts[0] if len(parts) == 1 else {}
    name, index = "", child(part, "Index")
    if part.get("Type") == "Lit" and (match := _NAME.fullmatch(str(part.get("Value", "")))):
        name = match[1]
    elif part.get("Type") == "ParamExp" and index and "Dollar" not in part:
        name = name_of(part, "Param")
        state = subscript(walk, name, index, state)
    if not name:
        walk.refuse("it assigns by arithmetic to a variable whose name is known only when it runs")
        return walk.word(target, state)
    if reads and not walk.counts(name, state):
        walk.refuse("it does arithmetic with something that may be more than a number, which bash would run")
    kept = state.values.get(name) if index else NUMBER
    return walk.assign(state, name, kept if kept in (NUMBER, KEYED) else None)


def _counting(walk: Walk, statements: list[Node]) -> bool:
    """Whether a command substitution prints only numbers: `wc -l <f`, `… | wc -l`, `grep -c x f`, `date +%s` …"""
    if len(statements) != 1:
        return False
    command = child(statements[0], "Cmd")
    if command.get("Type") == "BinaryCmd":
        first, last = ([child(command, side)] for side in ("X", "Y"))
        if command.get("Op") == "||":
            return _counting(walk, first) and _counting(walk, last)
        return command.get("Op") == "|" and _counting(walk, last)
    found = [value(word, _nothing) for word in children(command, "Args")]
    if command.get("Type") != "CallExpr" or command.get("Assigns") or not found or found[0] in walk.functions:
        return False
    match found:
        case ["wc", "-l" | "-c" | "-w" | "-m"] | ["nproc"] | ["true"]:
            return True
        case ["date", str(form)]:
            return bool(_DATE.fullmatch(form))
        case ["echo", str(number)]:
            return number.isdecimal()
        case ["grep", str(option), str(first), *rest] if len(rest) < 2:
            names = [first, *rest]
            return bool(_COUNT.fullmatch(option)) and not any(name is None or name.startswith("-") for name in names)
        case _:
            return False


def _nothing(name: str, quoted: bool) -> None:
    return None


def _literal(word: Node) -> str | None:
    parts = children(word, "Parts")
    if len(parts) != 1 or parts[0].get("Type") != "Lit":
        return None
    return str(parts[0].get("Value", ""))
