"""Small tools and ports for tests of the agent: no files, no processes, everything recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec import Struct

from agenyx.agent.boundary import Boundary
from agenyx.agent.engine import Engine
from agenyx.agent.hooked import waiting
from agenyx.agent.judge import Judge
from agenyx.agent.normalise import Normaliser
from agenyx.agent.ports import Emitter, Hooks, NoHooks, Ports
from agenyx.agent.prompt import make_prefix
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent
from agenyx.core.messages import Text, User
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects, PathRef, ToolSpec
from agenyx.core.verdict import Rule
from agenyx.llm.request import Options, Provider
from agenyx.policy.decide import Policy
from agenyx.session import records
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import MemoryStore, Store
from agenyx.tools.registry import Registry
from agenyx.tools.spec import Context, Look, Outcome


class CountingIds:
    """call_1, rec_2, …"""

    def __init__(self, start: int = 0) -> None:
        self.count = start

    def new(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"


class SayArgs(Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    fail: bool = False


class Peek:
    """Only looks. Records when it ran, and how many ran at once."""

    name = "Peek"
    aliases = ("look_at",)
    sets = ("full", "small")
    args = SayArgs

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.running = self.most = 0

    async def project(self, args: SayArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: SayArgs, ctx: Context) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(3):
            await asyncio.sleep(0)
        self.running -= 1
        self.ran.append(args.text)
        if args.fail:
            raise ValueError(f"{args.text} went wrong")
        return Outcome.ok(f"saw {args.text}")


class Poke(Peek):
    """Acts on the world: asks in default mode."""

    name = "Poke"
    aliases = ()

    async def project(self, args: SayArgs, look: Look) -> Effects:
        if args.text == "boom":
            raise RuntimeError("cannot look")
        return Effects(writes=(PathRef(args.text, args.text.encode(), "/w"),), preview=f"poke {args.text}")


class Answers:
    """An approver that plays decisions, and remembers what it was asked."""

    def __init__(self, *choices: str, stop: bool = False) -> None:
        self.choices, self.stop = list(choices), stop
        self.asked: list[Approval] = []

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        choice = self.choices.pop(0) if self.choices else "deny"
        return Decision(approval.id, cast(Any, choice), message="because", stop=self.stop, by="test")


class Parts:
    """An engine over the given tools, with everything it did in `events` and `session`."""

    def __init__(
        self,
        provider: Provider,
        tools: Sequence[Any] = (),
        *,
        policy: Policy = Policy(),
        approver: Any = None,
        store: Store | None = None,
        state: State | None = None,
        max_steps: int = 100,
        limit: int = 50_000,
        spill: str = "/dev/null/none",
        secrets: tuple[str, ...] = (),
        inbox: Callable[[], Sequence[User]] = lambda: (),
        guard: Callable[[], str] = lambda: "",
        remember: Callable[[Sequence[Rule]], str] = lambda rules: "",
        ahead: bool = False,
        hooks: Hooks = NoHooks(),
    ) -> None:
        self.events: list[AgentEvent] = []
        self.approver = approver or Answers()
        self.session = Session(
            "s", store or MemoryStore(), state or State(), "/dev/null/none", CountingIds(), lambda: 1.0
        )
        registry = Registry.__new__(Registry)
        registry._tools = list(tools)
        registry._names = {n.casefold(): t for t in tools for n in (t.name, *t.aliases)}
        self.specs = tuple(ToolSpec(tool.name, tool.name, {}, tool.aliases) for tool in tools)
        said = lambda: (*waiting(self.session.state), *inbox())  # noqa: E731
        ports = Ports(self.approver, self.events.append, inbox=said, remember=remember, ahead=ahead, hooks=hooks)
        emit = Emitter("s", self.events.append)
        nothing = cast(Any, None)
        self.boundary = Boundary(
            self.session,
            Judge(registry, lambda: Look(nothing, self.session.state.seen, nothing), guard),
            policy,
            lambda output, call, effects: Context(nothing, self.session.state.seen, nothing, nothing, output),
            Normaliser(Masker(secrets), limit, spill),
            ports,
            emit,
        )
        self.engine = Engine(self.session, provider, self.boundary, ports, emit, max_steps)

    def prompt(self, text: str = "go") -> None:
        head: list[records.Body] = []
        if self.session.state.opened is None:
            head = [
                records.Opened("s", "/w", "test"),
                records.Binding("p", "scripted", "m"),
                make_prefix(Options(), ("system",), self.specs),
            ]
        turn = self.session.ids.new("turn")
        self.session.append(*head, records.Prompt(User((Text(text),), "typed", turn)), turn=turn, sync=True)

    def run(self, text: str = "go") -> Any:
        self.prompt(text)
        return asyncio.run(self.engine.run())

    def bodies(self, kind: type[Any]) -> list[Any]:
        return [event.body for event in self.events if isinstance(event.body, kind)]

    def results(self) -> list[tuple[str, str]]:
        """(status, text) of every result of the conversation, in order."""
        from agenyx.core.messages import Step

        steps = [entry for entry in self.session.state.entries if isinstance(entry, Step)]
        return [(result.status, result.text) for step in steps for result in step.results]
