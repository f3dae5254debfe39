"""`--fallback-model`: another model of the same server goes on where the chosen one is overloaded or out of order.

It answers for the rest of the turn; with the next prompt the chosen one is tried again. Each change goes on record as
a Binding and is told. Never another server, and never after a failure that the request or the key brought about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.app.facts import check_price, price_of
from agenyx.app.head import renewed
from agenyx.app.models import Model
from agenyx.app.settings import Settings
from agenyx.app.sight import binding_of
from agenyx.core.errors import UsageError
from agenyx.core.events import Failure, Notice, PrefixBroke
from agenyx.core.messages import Step
from agenyx.session import records

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation

KINDS = ("busy", "server")
_REFUSAL = re.compile(r"polic(?:y|ies)|safety|moderation|content.?filter|flagged", re.IGNORECASE)
"""A server that will not answer what is asked, in whatever way it says so: no other model is to be asked instead."""


def check(settings: Settings, model: Model, home: str) -> None:
    """Raises UsageError where the models of --fallback-model cannot stand in for this one."""
    if model.reopen is None:
        raise UsageError(f"--fallback-model: {model.profile.id} has one model only", "Leave it out.")
    if model.name in settings.fallback:
        raise UsageError(f"--fallback-model names {model.name}, which is the model itself", "Name another one.")
    for name in settings.fallback:
        check_price(settings, price_of(model.profile, name, home), name)


class Fallback:
    """The models that stand in for the one of a conversation, in their order."""

    def __init__(self, conversation: Conversation, names: tuple[str, ...]) -> None:
        self._conversation, self._names = conversation, names
        self._left = list(names)
        self._chosen = ""  # the model that another one stands in for now, "" where none does

    def take_over(self, failure: Failure) -> bool:
        """Go on with the next model after a failure of the one before, where that may help. Raises StoreError."""
        if failure.kind not in KINDS or not self._left or _REFUSAL.search(failure.message):
            return False
        session = self._conversation.parts.source.session
        last = session.state.entries[-1] if session.state.entries else None
        if isinstance(last, Step) and last.assistant.stop == "cut":
            return False  # it had begun to answer: what there is of it stays
        before, name = self._conversation.model, self._left.pop(0)
        self._chosen = self._chosen or before
        self._conversation.switch(name)
        self._record()
        what = f"{before} does not answer ({failure.message}), so {name} goes on with this turn."
        self._conversation.parts.emit(Notice("warning", what, f"The next prompt goes to {self._chosen} again."))
        return True

    def back(self) -> None:
        """A prompt: the model that was chosen is tried again."""
        self._left = list(self._names)
        if self._chosen:
            chosen, self._chosen = self._chosen, ""
            self._conversation.switch(chosen)

    def forget(self, chosen: str) -> None:
        """The person has chosen a model, which stays."""
        self._chosen = ""
        self._left = [name for name in self._names if name != chosen]

    def _record(self) -> None:
        source = self._conversation.parts.source
        state, model = source.session.state, source.model
        bodies: list[records.Body] = [replace(binding_of(source, model), instead=self._chosen)]
        was = state.binding.model if state.binding else self._chosen
        emit = self._conversation.parts.emit
        emit(PrefixBroke(f"the model changed from {was} to {model.name}"))
        head = renewed(state.prefix, model.options, None, moved=True) if state.prefix is not None else None
        if head is not None:
            emit(PrefixBroke(head.cause))
            bodies.append(head)
        source.session.append(*bodies, sync=True)
