"""What a person and a trusted workspace add to one conversation, by kind. The one place where both are put together.

Trust was settled before (`app.trust`); files are read when something first asks for their kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from agenyx.app.trust import Gate
from agenyx.core.events import Body, Notice
from agenyx.workspace.acting import Kind

if TYPE_CHECKING:
    from agenyx.ext.sources import Source


class Extensions:
    """`home` and `person` as for `ext.sources.of_person`. With `bare` there is nothing, not even what is the person's;
    without `own` nothing of the person's.

    What cannot be used is told once.
    """

    def __init__(
        self,
        gate: Gate,
        home: str,
        person: str,
        tell: Callable[[Body], None],
        *,
        bare: bool = False,
        own: bool = True,
    ) -> None:
        self._gate, self._home, self._person, self._tell, self._bare = gate, home, person, tell, bare
        self._own = own
        self._sources: dict[Kind, tuple[Source, ...]] = {}

    def sources(self, kind: Kind) -> tuple[Source, ...]:
        """The files of one kind: the person's own, then the workspace's; of two with one name the later counts."""
        if self._bare:
            return ()
        if kind not in self._sources:
            from agenyx.ext.sources import of_person, of_workspace

            own, problems = of_person(kind, self._home, self._person) if self._own else ((), ())
            for problem in problems:
                self._tell(Notice("warning", f"{problem}."))
            self._sources[kind] = (*own, *(of_workspace(item, data) for item, data in self._gate.texts(kind)))
        return self._sources[kind]

    def any_hooks(self) -> bool:
        """Whether there may be hooks, without reading any: one look into the home, none twice into the workspace."""
        own = self._own and os.path.isfile(os.path.join(self._home, "hooks.json"))
        return not self._bare and (own or self._gate.has("hooks"))

    def any_servers(self, given: str) -> bool:
        """Whether there may be MCP servers, without reading anything. `given` is what the command line names."""
        own = self._own and os.path.isfile(os.path.join(self._home, "mcp.json"))
        here = not self._bare and (own or self._gate.has("mcp"))
        return bool(given) or here

    def tell(self, level: Literal["info", "warning"], text: str, fix: str = "") -> None:
        """Say something to the person about what is used."""
        self._tell(Notice(level, text, fix))

    @property
    def gate(self) -> Gate | None:
        """What decides about the workspace's part, None with `bare`."""
        return None if self._bare else self._gate

    def trusted(self) -> bool:
        return self._gate.trusted()

    def forget(self) -> None:
        """Read again at the next question: the person changed something."""
        self._sources.clear()
