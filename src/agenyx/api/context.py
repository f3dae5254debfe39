"""What a tool of a program gets beside its arguments."""

from __future__ import annotations

import os
from typing import Generic, TypeVar

from agenyx.core.tools import Effects
from agenyx.tools.spec import Context

D = TypeVar("D")


class ToolError(Exception):
    """Raised by a tool: the call came to nothing, and the model reads exactly this text."""


class ToolContext(Generic[D]):
    """The first parameter of a tool may be one. `deps` is what the agent was made with.

    `workspace` is the real path of the workspace of the call, `session_id` and `call_id` name where it stands in the
    records.
    """

    def __init__(self, deps: D, session_id: str, inner: Context) -> None:
        self.deps, self.session_id, self.call_id = deps, session_id, inner.id
        self.workspace: str = inner.root.path
        self._inner = inner

    @property
    def effects(self) -> Effects:
        """What was judged before the call ran."""
        return self._inner.effects

    def show(self, text: str) -> None:
        """Show people a line of live output, as an `events.Output`. The model does not see it."""
        line = text if text.endswith("\n") else f"{text}\n"
        self._inner.output(line.encode("utf-8", "replace"))

    def path(self, text: str) -> str:
        """The absolute path that was judged for this one, a relative one counting from the workspace.

        Raises ToolError for a path that the tool did not declare.
        """
        real, effects = self._inner.root.word(text).real, self._inner.effects
        if all(ref.real != real for ref in (*effects.reads, *effects.writes, *effects.removes)):
            raise ToolError(f"{text} was not declared among what this call touches, so it was not judged.")
        return os.fsdecode(real)
