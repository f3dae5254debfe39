"""Gives a conversation its subagents. Nothing of them is read or made before the first is wanted, but for the names of
those that are not ours: the model is told of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agenyx.agent.budget import Meter
from agenyx.agent.context import Choice
from agenyx.agent.subagent import Order, Task
from agenyx.app.compose import Parts
from agenyx.app.extensions import Extensions
from agenyx.core.messages import User
from agenyx.tools.spec import Outcome

if TYPE_CHECKING:
    from agenyx.agent.crew import Subagents
    from agenyx.ext.agents.catalogue import Catalogue
    from agenyx.ext.sources import Source

_LISTED = 4_000  # characters of what the model is told of them
_ONE = 120


class Crew:
    """`stop` ends the running turn. `catalogue` is read anew with each conversation."""

    def __init__(
        self,
        parts: Parts,
        meter: Meter,
        steps: int,
        choice: Choice,
        extensions: Extensions | None,
        stop: Callable[[], None],
    ) -> None:
        self._parts, self._extensions = parts, extensions
        self._of = (meter, steps, choice, stop)
        self._catalogue: Catalogue | None = None
        self._subagents: Subagents | None = None
        parts.registry.add(Task(self))
        parts.jobs.elsewhere = lambda id: self._made().find(id)

    def listed(self) -> str:
        if not (self._parts.source.settings.agents or self._sources()):
            return ""
        lines, left = list[str](), _LISTED
        for agent in self.catalogue().agents.values():
            if agent.origin != "built-in":
                text = agent.description if len(agent.description) <= _ONE else f"{agent.description[: _ONE - 1]}…"
                line = f"{agent.name}: {text}" if left > 0 else agent.name
                left -= len(line)
                lines.append(line)
        return "\n".join(lines)

    def catalogue(self) -> Catalogue:
        """All agents by name."""
        if self._catalogue is None:
            from agenyx.ext.agents.catalogue import catalogue

            self._catalogue = catalogue(self._sources(), self._parts.source.settings.agents)
        return self._catalogue

    def _sources(self) -> Sequence[Source]:
        return self._extensions.sources("agents") if self._extensions else ()

    async def run(self, order: Order) -> Outcome:
        return await self._made().run(order)

    async def send(self, order: Order) -> Outcome:
        return await self._made().send(order)

    def notices(self) -> list[User]:
        """What has to be told of subagents in the background."""
        return self._made().notices() if self._parts.source.session.state.sent else []

    def _made(self) -> Subagents:
        if self._subagents is None:
            from agenyx.agent.child import Limits
            from agenyx.agent.crew import Subagents
            from agenyx.app.children import Employer

            meter, steps, choice, stop = self._of
            employer = Employer(self._parts, meter, steps, choice, self._extensions)
            source = self._parts.source
            deadline, silence = source.chosen.agents if source.chosen else (0, 0)
            limits = Limits(deadline or Limits().deadline, silence or Limits().silence)
            self._subagents = Subagents(
                source.session, self._parts.jobs, self.catalogue, employer.hire, stop, self._parts.emit, limits
            )
        return self._subagents
