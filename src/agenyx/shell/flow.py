"""Lists, branches and loops: the order in which a script runs, and what is known where ways part and meet."""

from __future__ import annotations

from collections.abc import Callable

from agenyx.core.tools import Command
from agenyx.shell import arithmetic, syntax, values, words
from agenyx.shell.simple import NOT_PLAIN, Simple
from agenyx.shell.syntax import Node, child, children, name_of
from agenyx.shell.values import NUMBER, Match, State, Value, join
from agenyx.shell.walk import Flow

MAX_CHOICES = 16  # values of a loop variable that are followed one by one
MAX_UNROLLED = 128  # statements that come of a loop by that


class Walker(Simple):
    """A walk through all that shell syntax has."""

    def statements(self, nodes: list[Node], state: State | None, checked: bool) -> Flow:
        """`checked`: `set -e` would count here."""
        flow: Flow = (state, None)
        for node in nodes:
            before = join(*flow)
            after = self.statement(node, before or values.lost(), checked)
            flow = (None, None) if before is None else after
        return flow

    def statement(self, node: Node, state: State, checked: bool) -> Flow:
        self.step()
        if node.get("Background"):
            self.apart(lambda: self._plain(node, state, False))
            return state, None
        if node.get("Negated"):
            yes, no = self._plain(node, state, False)
            return no, yes
        return self._plain(node, state, checked)

    def _plain(self, node: Node, state: State, checked: bool) -> Flow:
        command = child(node, "Cmd")
        redirects = children(node, "Redirs")
        kind = command.get("Type")
        if kind in ("CallExpr", "DeclClause"):
            return self.simple(command, redirects, state, checked)
        if redirects:
            place = len(self.found)
            targets, state = self.redirects(redirects, state)
            self.found.insert(place, Command((), (), targets, state.cwd))
        flow = self._compound(kind, command, state, checked)
        # A redirection that fails keeps the command from running.
        return (flow[0], join(flow[1], state)) if redirects else flow

    def _compound(self, kind: object, node: Node, state: State, checked: bool) -> Flow:
        match kind:
            case "BinaryCmd":
                return self._binary(node, state, checked)
            case "Block":
                return self.statements(children(node, "Stmts"), state, checked)
            case "Subshell":
                inner = children(node, "Stmts")
                if self.dialect == "posix" and inner and child(inner[0], "Cmd").get("Type") == "Subshell":
                    self.refuse(NOT_PLAIN)
                self.apart(lambda: self.statements(inner, state, checked))
                return state, state
            case "IfClause":
                return self._if(node, state, checked)
            case "WhileClause":
                return self._while(node, state, checked)
            case "ForClause":
                return self._for(node, state, checked)
            case "CaseClause":
                return self._case(node, state, checked)
            case "FuncDecl":
                self._define(node)
                return state, None
            case "TimeClause":
                inner_statement = child(node, "Stmt")
                first = children(child(inner_statement, "Cmd"), "Args")[:1]
                if first and (words.value(first[0], state.lookup) or "").startswith("-"):
                    self.refuse("an option of time is not known here")
                return self.statement(inner_statement, state, checked) if inner_statement else (state, None)
            case "CoprocClause":
                self.apart(lambda: self.statement(child(node, "Stmt"), state, False))
                name = words.value(child(node, "Name"), state.lookup) if node.get("Name") else "COPROC"
                if name is None:
                    self.refuse("it sets a variable whose name is known only when it runs")
                    return state, state
                after = self.assign(self.assign(state, name, None), f"{name}_PID", None)
                return after, after
            case "ArithmCmd":
                after = arithmetic.evaluate(self, child(node, "X"), state)
                return after, after
            case "LetClause":
                for expression in children(node, "Exprs"):
                    state = arithmetic.evaluate(self, expression, state)
                return state, state
            case "TestClause":
                outside, self.testing = self.testing, True
                after = self.test(child(node, "X"), state)
                self.testing = outside
                return after, after
            case None:
                return state, None
            case _:
                self.refuse(f"it uses {kind}, which is not known here")
                return state, state

    def _binary(self, node: Node, state: State, checked: bool) -> Flow:
        left, right, op = child(node, "X"), child(node, "Y"), node.get("Op")
        if op in ("|", "|&"):
            for side in (left, right):
                self.apart(lambda side=side: self.statement(side, state, checked))
            return state, state
        yes, no = self.statement(left, state, False)
        if op == "&&":
            after = self.statement(right, yes or values.lost(), checked)
            return (
                after if yes is None and no is None else ((None, no) if yes is None else (after[0], join(no, after[1])))
            )
        if op == "||":
            after = self.statement(right, no or values.lost(), checked)
            return (yes, None) if no is None else (join(yes, after[0]), after[1])
        self.refuse(f"it joins commands by {op}, which is not known here")
        return values.lost(), values.lost()

    def _if(self, node: Node, state: State, checked: bool) -> Flow:
        if not node.get("Cond"):  # a bare else
            return self.statements(children(node, "Then"), state, checked)
        yes, no = self.statements(children(node, "Cond"), state, False)
        then = self._branch(children(node, "Then"), yes, checked)
        branch = child(node, "Else")
        if not branch:
            return join(then[0], no), then[1]
        other = self._if(branch, no or values.lost(), checked)
        return then if no is None else (join(then[0], other[0]), join(then[1], other[1]))

    def _branch(self, nodes: list[Node], state: State | None, checked: bool) -> Flow:
        flow = self.statements(nodes, state or values.lost(), checked)
        return (None, None) if state is None else flow

    def _while(self, node: Node, state: State, checked: bool) -> Flow:
        def once(entry: State) -> tuple[State | None, State | None]:
            yes, no = self.statements(children(node, "Cond"), entry, False)
            stay, leave = (no, yes) if node.get("Until") else (yes, no)
            body = self._branch(children(node, "Do"), stay, checked)
            return leave, join(*body)

        return self._loop(once, state)

    def _for(self, node: Node, state: State, checked: bool) -> Flow:
        loop = child(node, "Loop")
        body = children(node, "Do")
        if loop.get("Type") == "CStyleLoop":
            if loop.get("Init"):
                state = arithmetic.evaluate(self, child(loop, "Init"), state)

            def step(entry: State) -> tuple[State | None, State | None]:
                if loop.get("Cond"):
                    entry = arithmetic.evaluate(self, child(loop, "Cond"), entry)
                after = join(*self.statements(body, entry, checked))
                if loop.get("Post"):
                    # It also follows a `continue`, so what it does is looked at from the start as well.
                    follows = join(after, *self.loops[-1][:1]) if self.loops[-1] else after
                    for left in self.loops[-1][1:]:
                        follows = join(follows, left)
                    done = arithmetic.evaluate(self, child(loop, "Post"), follows or entry)
                    after = None if follows is None else done
                return entry, after

            return self._loop(step, state)
        name = name_of(loop)
        place = len(self.found)
        choices: list[Value | None] = []
        numbers = bool(children(loop, "Items"))
        for item in children(loop, "Items"):
            before = state
            state = self.word(item, state)
            expanded = words.expand(item, before.lookup, self.dialect)
            choices += _choices(expanded, before)
            numbers = numbers and (
                all(text is not None and values.is_number(text) for text in expanded.texts)
                or arithmetic.numeric(self, item, before)
                or _sequence(self, item, before)
            )
        self.found.insert(place, Command((), (name,), cwd=state.cwd))
        if node.get("Select") or not choices or None in choices or not self._few(len(choices), body):
            choices = [NUMBER if numbers and not node.get("Select") else None]

        def once(entry: State) -> tuple[State | None, State | None]:
            """Every value may come in every round, so each starts from what holds at the start of all."""
            mark, rounds = len(self.found), self.rounds
            self.rounds *= len(choices)
            after: State | None = None
            for choice in choices:
                known, start = frozenset(self.found[mark:]), len(self.found)
                entered = self.set(entry, name, choice)
                if node.get("Select"):
                    entered = self.set(entered, "REPLY", None)
                after = join(after, join(*self.statements(body, entered, checked)))
                self.found[start:] = [command for command in self.found[start:] if command not in known]
            self.rounds = rounds
            return entry, after

        return self._loop(once, state)

    def _few(self, count: int, body: list[Node]) -> bool:
        """Whether a body may be walked once for each of so many values."""
        if count < 2:
            return True
        return count <= MAX_CHOICES and count * self.rounds * syntax.statements_in(body) <= MAX_UNROLLED

    def _loop(self, once: Callable[[State], tuple[State | None, State | None]], state: State) -> Flow:
        """Walk a loop until what is known at its start holds for every round. `once` gives (left, next round)."""
        entry = state
        for attempt in range(100):
            mark, opaque = len(self.found), self.opaque
            self.loops.append([])
            left, again = once(entry)
            jumps = self.loops.pop()
            start: State | None = join(entry, again)
            for jump in jumps:
                start = join(start, jump)
            if start is None or start == entry:
                for jump in jumps:
                    left = join(left, jump)
                return left, left
            entry = start if attempt < 2 else values.widen(entry, start)
            del self.found[mark:]
            self.opaque = opaque
        self.refuse("it holds a loop that is too hard to follow")
        return values.lost(), values.lost()

    def _case(self, node: Node, state: State, checked: bool) -> Flow:
        state = self.word(child(node, "Word"), state)
        yes, no = state, None
        through: State | None = None
        for item in children(node, "Items"):
            for pattern in children(item, "Patterns"):
                state = self.word(pattern, state)
            after = self._branch(children(item, "Stmts"), join(state, through) or state, checked)
            through = join(*after) if item.get("Op") in (";&", ";;&") else None
            yes, no = join(yes, after[0]), join(no, after[1])
            if item.get("Op") == ";;&":
                state = join(state, through) or state
        return join(yes, state), no

    def _define(self, node: Node) -> None:
        """The body of a function, which may run anywhere in the script."""
        saved = self.function, self.recorders, self.loops
        self.function, self.recorders, self.loops = True, [self.everywhere, self.in_functions], []
        changes = (self.survey or self).everywhere
        state = changes.apply(self.first) if self.survey else values.lost()
        self.statement(child(node, "Body"), state, False)
        self.function, self.recorders, self.loops = saved


def _choices(expanded: words.Expanded, state: State) -> list[Value | None]:
    """What a loop variable may hold because of one item; None: only the run knows."""
    globs = dict(expanded.globs)
    found: list[Value | None] = []
    for at, text in enumerate(expanded.texts):
        glob = globs.get(at)
        if text is None and glob is not None and state.place is not None and state.globs:
            found.append(Match(glob, state.place))
        else:
            found.append(text)
    return found


def _sequence(walker: Walker, item: Node, state: State) -> bool:
    """`$(seq 1 5)`: numbers only."""
    parts = children(item, "Parts")
    statements = children(parts[0], "Stmts") if len(parts) == 1 and parts[0].get("Type") == "CmdSubst" else []
    command = child(statements[0], "Cmd") if len(statements) == 1 else {}
    names = children(command, "Args")
    return (
        command.get("Type") == "CallExpr"
        and not command.get("Assigns")
        and "seq" not in walker.functions
        and 2 <= len(names) <= 4
        and words.value(names[0], state.lookup) == "seq"
        and all(arithmetic.numeric(walker, name, state) for name in names[1:])
    )
