"""Opens the session of a conversation: new, or an earlier one read back; on disk, or in memory when it must be."""

from __future__ import annotations

import os
from collections.abc import Callable

from agenyx.app.settings import Settings
from agenyx.core.errors import ConfigError
from agenyx.core.events import Body, Notice
from agenyx.core.ids import Clock, Ids, RandomIds, session_id, wall_clock
from agenyx.session import load
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import FileStore, MemoryStore, Store


class Opened:
    """A session and what has to be undone when it closes."""

    def __init__(self, session: Session, persistent: bool, temporary: str) -> None:
        self.session, self.persistent, self._temporary = session, persistent, temporary

    def close(self) -> None:
        self.session.close()
        if self._temporary:
            import shutil

            shutil.rmtree(self._temporary, ignore_errors=True)


def open_session(
    settings: Settings,
    home: str,
    workspace: str,
    tell: Callable[[Body], None],
    ids: Ids | None = None,
    clock: Clock = wall_clock,
) -> Opened:
    """Raises UsageError when there is no such session, AgenyxError when it is in use or cannot be read."""
    directory, state = "", State()
    if settings.resume:
        directory = load.find(home, settings.resume)
    elif settings.continue_:
        directory = load.latest(home, workspace)
    identity = os.path.basename(directory) or session_id()
    directory = directory or os.path.join(load.sessions_of(home, workspace), identity)
    store: Store | None = None
    if settings.persist:
        store = _file_store(directory, home, tell)
    if settings.resume or settings.continue_:
        state = load.load(directory)  # after the lock, so that nobody writes meanwhile
        _check(state, workspace, tell)
    if store is not None:
        return Opened(Session(identity, store, state, directory, ids or RandomIds(), clock), True, "")
    import tempfile

    temporary = tempfile.mkdtemp(prefix="agenyx-")
    return Opened(Session(identity, MemoryStore(), state, temporary, ids or RandomIds(), clock), False, temporary)


def _file_store(directory: str, home: str, tell: Callable[[Body], None]) -> Store | None:
    try:
        return FileStore(directory)
    except OSError as error:
        tell(
            Notice(
                "warning",
                f"This session is kept in memory only: {home} cannot be written ({error.strerror}).",
                "Free space, make it writable, or set AGENYX_HOME to another directory.",
            )
        )
        return None


def _check(state: State, workspace: str, tell: Callable[[Body], None]) -> None:
    if state.opened is not None and os.path.realpath(state.opened.workspace) != workspace:
        raise ConfigError(
            f"this session belongs to {state.opened.workspace}",
            f"Change to that directory, or name it: --cwd {state.opened.workspace}",
        )
    if state.problems:
        shown = "; ".join(state.problems[:3])
        more = f" and {len(state.problems) - 3} more" if len(state.problems) > 3 else ""
        tell(Notice("warning", f"The transcript has damaged places, which were passed over: {shown}{more}."))
