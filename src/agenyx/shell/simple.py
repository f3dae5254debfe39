"""The simple commands of a script: their words, assignments and redirections, and what they do to the shell."""

from __future__ import annotations

import re

from msgspec.structs import replace

from agenyx.core.tools import Command, Redirect
from agenyx.shell import arithmetic, builtins, values, words
from agenyx.shell.effect import Effect, Setting, Word
from agenyx.shell.syntax import Node, child, children, name_of
from agenyx.shell.values import KEYED, NUMBER, State, Value, join
from agenyx.shell.walk import Flow, TooMuch, Walk

MAX_COMMANDS = 2_000

NOT_PLAIN = "it is not plain sh, and is read differently by different shells"
# In sh: an assignment of bash, a keyword of bash, an alias, which sh expands.
_ODD_IN_SH = re.compile(r"\w+(\[.*\])?\+?=|(\[\[|function|select|coproc)(?!\S)|alias .*=", re.DOTALL)
_REDIRECTS = frozenset(("<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"))


class Simple(Walk):
    """A walk that knows simple commands."""

    def simple(self, node: Node, redirects: list[Node], state: State, checked: bool) -> Flow:
        mark = len(self.found)
        cwd = state.cwd
        argv: list[Word] = []
        globs: list[tuple[int, str]] = []
        if node.get("Type") == "DeclClause":
            argv.append(Word(name_of(node, "Variant")))
            for item in children(node, "Args"):
                before = state
                state, value = self.assigned(item, state)
                argv += self._declared(item, before, value)
        else:
            for item in children(node, "Args"):
                before = state
                state = self.word(item, state)
                expanded = words.expand(item, before.lookup, self.dialect)
                if expanded == words.UNKNOWN and (glob := before.glob(words.quoted_variable(item))) is not None:
                    expanded = words.Expanded((None,), ((0, glob),))
                globs += [(len(argv) + place, pattern) for place, pattern in expanded.globs if before.globs]
                argv += self._words(item, before, expanded.texts)
        texts = tuple(word.text for word in argv)
        if texts and texts[0] is None:
            self.refuse("the name of a command is known only when it runs")
        elif self.dialect == "posix" and texts and _ODD_IN_SH.match(" ".join(filter(None, texts[:2]))):
            self.refuse(NOT_PLAIN)
        assigns: list[str] = []
        inner = state
        for item in children(node, "Assigns"):
            name = name_of(item)
            before = inner
            inner, value = self.assigned(item, inner)
            text = self._value_text(item, before)
            assigns.append(name if text is None else f"{name}{'+' if item.get('Append') else ''}={text}")
            inner = self.set(inner, name, value)
        if not argv:
            targets, inner = self.redirects(redirects, inner)
            self.found.insert(mark, Command((), tuple(assigns), targets, cwd))
            return inner, inner
        prefixed = [name_of(item) for item in children(node, "Assigns")]
        targets, state = self.redirects(redirects, state.without(*prefixed))
        flow, sets = self._run(tuple(argv), inner, state, prefixed, checked)
        self.found.insert(mark, Command(texts, (*assigns, *sets), targets, cwd, globs=tuple(globs)))
        if len(self.found) > MAX_COMMANDS:
            raise TooMuch
        # What a redirection keeps from running has changed nothing.
        return (flow[0], join(flow[1], state)) if redirects and flow[1] is None else flow

    def _run(
        self, argv: tuple[Word, ...], inner: State, state: State, prefixed: list[str], checked: bool
    ) -> tuple[Flow, list[str]]:
        """The states after a command, and the variables that it sets by its words."""
        setting = Setting(bool(self.loops), self.function, checked)
        given = {name: inner.values[name] for name in prefixed if name in inner.values}
        during = replace(state, values={**state.without(*prefixed).values, **given})
        effect = builtins.effect(argv, during, setting, self.functions)
        if effect is None:
            state = self.called(state.without(*prefixed))
            return (state, None if checked and state.errexit else state), []
        if effect.refusal:
            self.refuse(effect.refusal)
        if effect.leaves:
            for loop in self.loops:
                loop.append(state)
        self.record(effect)
        for name, letters in effect.attributes:
            self.attributes.setdefault(name, set()).update(letters)
        dropped = prefixed if self.dialect == "posix" else []
        after: list[State | None] = []
        for result in (effect.yes, effect.no):
            if result is not None:
                known = {name: value for name, value in result.values.items() if name not in prefixed}
                kept = {name: state.values[name] for name in prefixed if name in state.values and result.values}
                result = replace(result, values={**known, **kept}).without(*dropped)
                result = result.without(*effect.forgets)
                for name, value in effect.sets:
                    result = self.set(result, name, value)
                for name, letters in effect.attributes:
                    result = result.without(name) if set(letters) & set("ailunc") and not effect.sets else result
            after.append(result)
        yes, no = after
        ends = checked and no is not None and no.errexit and (yes is None or yes.errexit)
        return (yes, None if ends else no), [_shown(name, argv) for name, _ in effect.sets]

    def record(self, effect: Effect) -> None:
        for recorder in self.recorders:
            recorder.moves = recorder.moves or effect.moves or effect.loses
            recorder.anything = recorder.anything or effect.loses
            recorder.options = recorder.options or effect.options
            recorder.globs = recorder.globs or effect.globs

    def called(self, state: State) -> State:
        """After a call of a function of this script, any of them."""
        return self.survey.in_functions.apply(state) if self.survey else values.lost(state.haunted)

    def redirects(self, nodes: list[Node], state: State) -> tuple[tuple[Redirect, ...], State]:
        found: list[Redirect] = []
        for node in nodes:
            op = node.get("Op")
            if not isinstance(op, str) or op not in _REDIRECTS:
                self.refuse("it redirects in a way that is not known here")
                continue
            word = child(node, "Word")
            if op in ("<<", "<<-"):
                body = child(node, "Hdoc")
                found.append(Redirect(op, words.here_text(body, word, op == "<<-")))
                state = self.word(body, state)
                continue
            if op == "<<<":
                target = words.value(word, state.lookup)
            else:
                texts = words.expand(word, state.lookup, self.dialect).texts
                target = texts[0] if len(texts) == 1 else None
            state = self.word(word, state)
            found.append(Redirect(op, target))
            variable = name_of(node, "N")
            if variable.startswith("{"):
                state = self.assign(state, variable.strip("{}"), NUMBER)
        return tuple(found), state

    def _words(self, item: Node, state: State, texts: tuple[str | None, ...]) -> list[Word]:
        if texts != (None,):
            return [Word(text, single=text is not None) for text in texts]
        if arithmetic.numeric(self, item, state):
            return [Word(None, value=NUMBER)]
        return [Word(None, words.head(item, state.lookup), words.single(item))]

    def _declared(self, item: Node, state: State, value: Value | None) -> list[Word]:
        """An argument of `declare`, `export` and the like."""
        name = name_of(item)
        if item.get("Naked"):
            if not item.get("Value"):
                return [Word(name)]
            word = child(item, "Value")
            return self._words(word, state, words.expand(word, state.lookup, self.dialect).texts)
        text = self._value_text(item, state)
        if text is not None and "{" in text:
            text = None
        sign = "+=" if item.get("Append") else "="
        shown = None if text is None else f"{name}{sign}{text}"
        return [Word(shown, f"{name}{'[0]' if item.get('Index') else ''}{sign}", value=value, safe=True)]

    def _value_text(self, item: Node, state: State) -> str | None:
        if item.get("Array") or item.get("Index"):
            return None
        return words.value(child(item, "Value"), state.lookup) if item.get("Value") else ""

    def assigned(self, item: Node, state: State) -> tuple[State, Value | None]:
        """Go through an assignment. Gives the state before it takes effect, and the value."""
        name = name_of(item)
        old = state.values.get(name)
        if item.get("Index"):
            state = arithmetic.subscript(self, name, child(item, "Index"), state)
        numbers = True
        for element in children(child(item, "Array"), "Elems"):
            if element.get("Index"):
                state = arithmetic.subscript(self, name, child(element, "Index"), state)
            numbers = numbers and arithmetic.numeric(self, child(element, "Value"), state)
            state = self.word(child(element, "Value"), state)
        if item.get("Array"):
            if old == KEYED:
                return state, KEYED
            return state, NUMBER if numbers and (not item.get("Append") or values.is_number(old)) else None
        word = child(item, "Value")
        text = words.value(word, state.lookup)
        number = arithmetic.numeric(self, word, state)
        state = self.word(word, state)
        if item.get("Index"):
            return state, KEYED if old == KEYED else NUMBER if number and values.is_number(old) else None
        if not item.get("Append"):
            return state, text if text is not None else NUMBER if number else None
        if isinstance(old, str) and text is not None:
            return state, old + text
        return state, NUMBER if number and values.is_number(old) else None


def _shown(name: str, argv: tuple[Word, ...]) -> str:
    """`NAME=value` where the command has it as a word, else only the name."""
    texts = (word.text or "" for word in argv)
    return next((text for text in texts if text.startswith((f"{name}=", f"{name}+="))), name)
