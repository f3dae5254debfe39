"""Collects the simple commands of a syntax tree (shfmt's JSON), wherever they stand in it.

Every node is walked. A node of an unknown kind, or anything else not understood, gives a reason instead of a guess.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from agenyx.core.tools import Command, Redirect
from agenyx.shell.words import Node, children, static

MAX_DEPTH = 400  # levels of JSON; a level of shell takes four to eight

_NODES = (
    # commands
    "File CallExpr IfClause WhileClause ForClause CaseClause Block Subshell BinaryCmd FuncDecl ArithmCmd TestClause "
    "DeclClause LetClause TimeClause CoprocClause WordIter CStyleLoop "
    # words
    "Word Lit SglQuoted DblQuoted ParamExp CmdSubst ArithmExp ProcSubst ExtGlob "
    # arithmetic and tests
    "BinaryArithm UnaryArithm ParenArithm BinaryTest UnaryTest ParenTest"
)
_KNOWN = frozenset(_NODES.split())


class Collected(Struct, frozen=True):
    """The commands in the order of the text; `opaque` says why they may not be all, or is empty."""

    commands: tuple[Command, ...]
    opaque: str


def collect(tree: Node) -> Collected:
    """`tree` is the decoded JSON of a File node."""
    found: list[Command] = []
    opaque = ""
    stack: list[tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            return Collected(tuple(found), "it is nested too deeply")
        if isinstance(node, list):
            stack.extend((item, depth + 1) for item in reversed(cast("list[Any]", node)))
            continue
        if not isinstance(node, dict):
            continue
        mapping = cast("Node", node)
        kind = mapping.get("Type", "Word")
        if kind not in _KNOWN:
            opaque = opaque or f"it uses {kind}, which is not known here"
        elif kind == "FuncDecl":
            name = cast("Node", mapping.get("Name") or {}).get("Value", "")
            opaque = opaque or f"it defines the function {name}, which may stand for a program"
        if "Cmd" in mapping or "Redirs" in mapping:  # a statement
            command, reason = _statement(mapping)
            opaque = opaque or reason
            if command is not None:
                found.append(command)
        stack.extend((value, depth + 1) for value in reversed(mapping.values()))
    return Collected(tuple(found), opaque)


def _statement(node: Node) -> tuple[Command | None, str]:
    """The simple command of a statement, if it is one or has redirections, and what is not understood about it."""
    redirects: list[Redirect] = []
    for redirect in children(node, "Redirs"):
        op = redirect.get("Op")
        if not isinstance(op, str):
            return None, "this version of shfmt writes redirections in a way that is not known here"
        redirects.append(Redirect(op, static(redirect.get("Word") or {})))
    body = cast("Node", node.get("Cmd") or {})
    match body.get("Type"):
        case "CallExpr":
            argv = tuple(static(word) for word in children(body, "Args"))
            assigns = tuple(_assign(item) for item in children(body, "Assigns"))
            reason = "the name of a command is known only when it runs" if argv and argv[0] is None else ""
            return Command(argv, assigns, tuple(redirects)), reason
        case "DeclClause":
            name = str(cast("Node", body.get("Variant") or {}).get("Value", ""))
            argv = (name, *(_declared(item) for item in children(body, "Args")))
            return Command(argv, (), tuple(redirects)), ""
        case _ if redirects:
            return Command((), (), tuple(redirects)), ""
        case _:
            return None, ""


def _name(item: Node) -> str:
    return str(cast("Node", item.get("Name") or {}).get("Value", ""))


def _assign(item: Node) -> str:
    """`NAME=value`, `NAME+=value`, or only `NAME` where the value is not static or the target is an array."""
    value = _value(item)
    return _name(item) if value is None else f"{_name(item)}{'+' if item.get('Append') else ''}={value}"


def _declared(item: Node) -> str | None:
    """One argument of `declare`, `export` and the like."""
    if item.get("Naked"):
        return static(item["Value"]) if item.get("Value") else _name(item)
    return None if _value(item) is None else _assign(item)


def _value(item: Node) -> str | None:
    if item.get("Array") or item.get("Index"):
        return None
    word = item.get("Value")
    return static(cast("Node", word)) if word else ""
