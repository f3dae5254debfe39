"""A real conversation (real tools, files, processes, store) over a scripted model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agenyx.agent.ports import Emitter, Ports
from agenyx.app.extensions import Extensions
from agenyx.app.models import Model
from agenyx.app.opening import Opened
from agenyx.app.policies import Chosen
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_root
from agenyx.config.profiles import Profile
from agenyx.core.events import AgentEvent
from agenyx.core.ids import RandomIds
from agenyx.core.tools import ToolSet
from agenyx.core.verdict import Mode
from agenyx.ext.hooks.callback import Callback
from agenyx.llm.request import Options, Provider
from agenyx.proc.spawn import Processes
from agenyx.session import load
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore, Store
from support.parts import Answers
from support.scripted import Scripted, Turn

NOON = 1_800_000_000.0


def open_scripted(
    script: Sequence[Turn] | Provider,
    home: Path,
    workspace: Path,
    make_store: Callable[[str], Store] = FileStore,
    *,
    events: list[AgentEvent] | None = None,
    approver: Any = None,
    mode: Mode = "bypassPermissions",
    session_type: type[Session] = Session,
    settings: Settings | None = None,
    profile: Profile | None = None,
    size: ToolSet = "full",
    windows: dict[str, int] | None = None,
    ahead: bool = False,
    chosen: Chosen | None = None,
    extensions: Extensions | None = None,
    callbacks: Sequence[Callback] = (),
) -> tuple[Conversation, Session]:
    """Opens the one session of the workspace, going on with it if it is there."""
    directory = os.path.join(load.sessions_of(str(home), str(workspace)), "only")
    store = make_store(directory)
    state = load.load(directory) if os.path.getsize(os.path.join(directory, TRANSCRIPT)) else State()
    session = session_type("only", store, state, directory, RandomIds(), lambda: NOON)
    provider = script if not isinstance(script, Sequence) else Scripted(script)

    async def close() -> None:
        pass

    profile = profile or Profile("test", "openai", "http://127.0.0.1")
    model = Model(profile, "scripted-model", provider, Options(), close, size=size, windows=windows or {})
    collected = events if events is not None else []
    settings = settings or Settings(str(workspace), mode=mode, unsafe=mode == "bypassPermissions")
    root = open_root(os.path.realpath(workspace), os.path.realpath(home), os.path.realpath(home))
    ports = Ports(approver or Answers(), collected.append, ahead=ahead)
    emitter = Emitter("only", collected.append)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    opened = Opened(session, True, "")
    return Conversation(
        settings, env, root, opened, model, Processes(), ports, emitter, None, chosen, extensions, callbacks
    ), session
