"""One walk through a script: what was found, what is not seen, and the expansions inside words.

`simple` and `flow` build the rest of the walk upon it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agenyx.core.tools import Command
from agenyx.shell import arithmetic, values, words
from agenyx.shell.syntax import Node, child, children, name_of
from agenyx.shell.values import State, Value, join
from agenyx.shell.words import Dialect

MAX_STEPS = 20_000  # statements and words gone through, loops counted as often as they are walked

# The states after success and after failure; None: that never happens.
Flow = tuple[State | None, State | None]
_COMPARES = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_PLAIN_FORMS = ("Q", "E", "A", "a", "U", "u", "L", "K", "k")  # of ${x@…}; P runs the commands in a text


class TooMuch(Exception):
    """The script is too long to be followed."""


class Changes:
    """What is changed somewhere in a part of a script."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.moves = False
        self.anything = False
        self.options = False
        self.globs = False

    def apply(self, state: State) -> State:
        if self.anything:
            return values.lost(state.haunted)
        after = replace(state.without(*self.names), errexit=state.errexit and not self.options)
        after = replace(after, globs=state.globs and not self.globs)
        return replace(after, place=None, stack=None) if self.moves else after


class Walk:
    """A first walk, the `survey`, tells the second what functions, and what all of the script, change."""

    def __init__(self, dialect: Dialect, functions: frozenset[str], first: State, survey: Walk | None = None) -> None:
        self.functions = functions
        self.found: list[Command] = []
        self.opaque = ""
        self.dialect: Dialect = dialect
        self.first = first
        self.survey = survey
        self.attributes: dict[str, set[str]] = survey.attributes if survey else {}
        self.everywhere = Changes()
        self.in_functions = Changes()
        self.recorders = [self.everywhere]
        self.loops: list[list[State]] = []
        self.function = False
        self.testing = False
        self.rounds = 1  # how often the loops around walk what stands here
        self._steps = 0

    def statements(self, nodes: list[Node], state: State | None, checked: bool) -> Flow:
        """Go through statements; `checked`: `set -e` would count here."""
        raise TypeError("a walk without statements")

    def refuse(self, reason: str) -> None:
        self.opaque = self.opaque or reason

    def assign(self, state: State, name: str, value: Value | None) -> State:
        self.found.append(Command((), (name,), cwd=state.cwd))
        return self.set(state, name, value)

    def counts(self, name: str, state: State) -> bool:
        if name in ("?", "#", "$", "!"):
            return True
        if values.own_number(name):
            changes = (self.survey or self).everywhere
            return not changes.anything and name not in changes.names
        return values.is_number(state.values.get(name))

    def word(self, word: Node, state: State) -> State:
        self.step()
        for part in children(word, "Parts"):
            state = self.part(part, state)
        return state

    def apart(self, run: Callable[[], object]) -> None:
        """Run what changes nothing outside itself: a subshell."""
        recorders, loops = self.recorders, self.loops
        self.recorders = [self.everywhere]
        self.loops = [[] for _ in loops]
        run()
        self.recorders, self.loops = recorders, loops

    def set(self, state: State, name: str, value: Value | None) -> State:
        for recorder in self.recorders:
            recorder.names[name] = recorder.names.get(name, 0) + 1
        if name in ("POSIXLY_CORRECT", "BASH_COMPAT"):
            self.refuse(f"{name} changes how commands are read")
        letters = self.attributes.get(name, set())
        if "i" in letters and not values.is_number(value):
            self.refuse(f"what {name} is set to is evaluated as arithmetic")
        often = self.survey is None or self.survey.everywhere.names.get(name, 0) > 1
        if letters & set("luc") or ("r" in letters and often):
            value = None
        return state.assigned(name, value)

    def part(self, part: Node, state: State) -> State:
        match part.get("Type"):
            case "Lit" | "SglQuoted":
                return state
            case "DblQuoted":
                return self.word(part, state)
            case "CmdSubst" | "ProcSubst":
                if part.get("TempFile") or part.get("ReplyVar"):
                    self.refuse("it uses ${ …; }, which depends on the version of bash")
                inner = replace(state, errexit=False)
                self.apart(lambda: self.statements(children(part, "Stmts"), inner, False))
                return state
            case "ArithmExp":
                return arithmetic.evaluate(self, child(part, "X"), state)
            case "ParamExp":
                return self._parameter(part, state)
            case "ExtGlob":
                text = name_of(part, "Pattern")
                if not self.testing:
                    self.refuse("it uses a pattern that bash reads only with extglob")
                elif "$" in text or "`" in text:
                    self.refuse("it holds an expansion that the parser does not see")
                return state
            case kind:
                self.refuse(f"it uses {kind}, which is not known here")
                return state

    def _parameter(self, part: Node, state: State) -> State:
        """`${…}`"""
        name = name_of(part, "Param")
        index = child(part, "Index")
        if index:
            state = arithmetic.subscript(self, name, index, state)
        if part.get("Excl") and not part.get("Names") and not arithmetic.whole(index):
            target = None if index else state.lookup(name, True)
            if (index or not self.counts(name, state)) and (target is None or not target.isidentifier()):
                self.refuse(f"the variable that ${{!{name}}} stands for is known only when it runs")
        for bound in ("Offset", "Length"):
            if node := child(child(part, "Slice"), bound):
                state = arithmetic.evaluate(self, node, state)
        for text in ("Orig", "With"):
            state = self.word(child(child(part, "Repl"), text), state)
        expansion = child(part, "Exp")
        word = child(expansion, "Word")
        op = expansion.get("Op")
        if op == "@" and words.value(word, state.lookup) not in _PLAIN_FORMS:
            self.refuse("it expands what a variable holds as a prompt, which runs the commands in it")
        state = self.word(word, state)
        return self.assign(state, name, None) if op in ("=", ":=") else state

    def test(self, node: Node, state: State) -> State:
        """`[[ … ]]`"""
        op = node.get("Op")
        match node.get("Type"):
            case "BinaryTest":
                if op in _COMPARES:
                    state = arithmetic.operand(self, child(node, "X"), state)
                    return arithmetic.operand(self, child(node, "Y"), state)
                state = self.test(child(node, "X"), state)
                after = self.test(child(node, "Y"), state)
                return (join(state, after) or after) if op in ("&&", "||") else after
            case "UnaryTest" if op in ("-v", "-R"):
                text = words.value(child(node, "X"), state.lookup)
                if text is None or ("[" in text and not text.endswith(("[@]", "[*]"))):
                    self.refuse("the variable that [[ -v looks for is known only when it runs")
                return self.word(child(node, "X"), state)
            case "UnaryTest" | "ParenTest":
                return self.test(child(node, "X"), state)
            case _:
                return self.word(node, state)

    def step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooMuch
