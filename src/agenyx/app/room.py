"""Wires what keeps a conversation within the window of its model. Looks nothing up before that is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from agenyx.agent.budget import Meter
from agenyx.agent.context import Choice
from agenyx.agent.ports import Emitter, Ports
from agenyx.agent.room import Room
from agenyx.app.facts import window_of
from agenyx.app.models import Model
from agenyx.config.home import home_path
from agenyx.session.session import Session

SMALL = 16_000  # tokens: any hosted model takes them, so the catalogue need not be read before the first response


def make_room(
    session: Session,
    model: Model,
    env: Mapping[str, str],
    ports: Ports,
    emit: Emitter,
    meter: Meter,
    pages: bool,
    choice: Choice,
) -> Room:
    """`pages` says that the model has a tool to read a result that was put aside."""
    found: dict[str, int | None] = {}

    def window(used: int) -> int | None:
        name = model.name
        if told := model.windows.get(name):
            return told
        if name not in found:
            if used < SMALL and session.state.last_usage is None:
                return None
            found[name] = window_of(model.profile, name, home_path(env))
        return found[name]

    def keep(call: str, text: str) -> str | None:
        from agenyx.agent.prune import kept

        return kept(os.path.join(session.directory, "output"), call, text)

    if not choice.history:
        choice = replace(choice, history="final" if model.size == "small" else "full")
    return Room(session, ports, emit, meter, window, lambda: model.options.max_output, keep, pages, choice)
