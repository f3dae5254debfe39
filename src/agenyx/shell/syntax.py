"""What shfmt's JSON may hold. Knows the shape of every node and refuses what it does not know; judges no command."""

from __future__ import annotations

import re
from typing import Any, cast

Node = dict[str, Any]

MAX_DEPTH = 300  # levels of JSON; a level of shell takes four to eight

# Every kind of node with its members, but for positions and comments. A member that is not here may change what a
# script means, so it is not passed over.
_SHAPES = """
File: Name Stmts
CallExpr: Assigns Args
IfClause: Cond Then Else
WhileClause: Until Cond Do
ForClause: Select Braces Loop Do
WordIter: Name Items
CStyleLoop: Init Cond Post
CaseClause: Braces Word Items
Block: Stmts
Subshell: Stmts
BinaryCmd: Op X Y
FuncDecl: RsrvWord Parens Name Body
ArithmCmd: X
TestClause: X
DeclClause: Variant Args
LetClause: Exprs
TimeClause: PosixFormat Stmt
CoprocClause: Name Stmt
Word: Parts
Lit: Value
SglQuoted: Dollar Value
DblQuoted: Dollar Parts
ParamExp: Short Excl Length Param Index Slice Repl Names Exp
CmdSubst: Stmts Backquotes TempFile ReplyVar
ArithmExp: Bracket X
ProcSubst: Op Stmts
ExtGlob: Op Pattern
BinaryArithm: Op X Y
UnaryArithm: Op Post X
ParenArithm: X
BinaryTest: Op X Y
UnaryTest: Op X
ParenTest: X
"""
_MEMBERS = {
    kind: frozenset((*members.split(), "Type"))
    for kind, _, members in (line.partition(":") for line in _SHAPES.strip().splitlines())
}
# Nodes that carry no Type: statements, assignments, redirections, array elements, case items, else branches,
# slices, replacements, expansions, names.
_BARE = (
    "Cmd Negated Background Redirs Append Naked Name Index Value Array Op N Word Hdoc Parts Elems Patterns Stmts Cond "
    "Then Else Offset Length All Orig With"
)
_UNTYPED = frozenset(_BARE.split())
_HIDDEN = re.compile(r"(?:\\.|[^\\`$]|\$(?![({\[]))*+(?=.)", re.DOTALL)
_REMARKS = frozenset(("Comments", "Last", "CondLast", "ThenLast", "DoLast"))


def children(node: Node, key: str) -> list[Node]:
    """The nodes of a list member, empty when it is absent."""
    return cast("list[Node]", node.get(key) or [])


def child(node: Node, key: str) -> Node:
    """The node of a member, empty when it is absent."""
    return cast("Node", node.get(key) or {})


def name_of(node: Node, key: str = "Name") -> str:
    """The text of a member that is a plain name."""
    return str(child(node, key).get("Value", ""))


def statements_in(nodes: list[Node]) -> int:
    """How many statements there are, with those inside of them."""
    return sum("Cmd" in inner for node in nodes for inner, _ in _nodes(node))


def functions_of(tree: Node) -> frozenset[str]:
    """The names of all functions that the tree defines."""
    return frozenset(name_of(node) for node, _ in _nodes(tree) if node.get("Type") == "FuncDecl")


def problem(tree: Node) -> str:
    """Why the tree is not understood, or "" when every node of it is of a known kind and shape."""
    nodes = _nodes(tree)
    plain = {id(part) for node, _ in nodes for part in _quoted_text(node)}
    for node, depth in nodes:
        if depth > MAX_DEPTH:
            return "it is nested too deeply"
        kind = node.get("Type")
        known = _UNTYPED if kind is None else _MEMBERS.get(str(kind))
        if known is None:
            return f"it uses {kind}, which is not known here"
        for key, value in node.items():
            if key not in known and not _aside(key, value):
                return f"it uses {key} in {kind or 'a statement'}, which is not known here"
        if kind == "Lit" and id(node) not in plain and _HIDDEN.match(str(node.get("Value", ""))):
            return "it holds an expansion that the parser does not see"
    return ""


def _quoted_text(node: Node) -> list[Node]:
    """The parts of a here-document whose delimiter is quoted: nothing in it is expanded."""
    delimiter = children(child(node, "Word"), "Parts") if node.get("Hdoc") else []
    quoted = any(part.get("Type") != "Lit" or "\\" in str(part.get("Value", "")) for part in delimiter)
    return children(child(node, "Hdoc"), "Parts") if quoted else []


def _aside(key: str, value: object) -> bool:
    """Whether a member is a comment, a position, or a truth value that is off."""
    return key in _REMARKS or value is False or value is None or (isinstance(value, dict) and "Line" in value)


def _nodes(tree: Node) -> list[tuple[Node, int]]:
    """Every node with its depth; the list ends early below MAX_DEPTH."""
    found: list[tuple[Node, int]] = []
    stack: list[tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, list):
            stack.extend((item, depth + 1) for item in cast("list[Any]", node))
        elif isinstance(node, dict) and "Line" not in node:
            members = cast("Node", node)
            found.append((members, depth))
            if depth <= MAX_DEPTH:
                stack.extend((value, depth + 1) for key, value in members.items() if key not in _REMARKS)
    return found
