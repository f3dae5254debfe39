"""Opens the session of a conversation: new, or an earlier one read back; on disk, or in memory when it must be."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from agenyx.app.settings import Settings
from agenyx.core.errors import ConfigError, UsageError
from agenyx.core.events import Body, Notice
from agenyx.core.ids import Clock, Ids, RandomIds, session_id, wall_clock
from agenyx.core.limits import TRANSCRIPT_RECORDS
from agenyx.proc.spawn import Processes
from agenyx.session import load
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore, MemoryStore, Store


class Opened:
    """A session and what has to be undone when it closes. `workspace` is where it goes on, a real path."""

    def __init__(self, session: Session, persistent: bool, temporary: str, workspace: str = "") -> None:
        self.session, self.persistent, self._temporary = session, persistent, temporary
        self.workspace = workspace

    def close(self) -> None:
        self.session.close()
        if self._temporary:
            import shutil

            shutil.rmtree(self._temporary, ignore_errors=True)

    def abandoning(self, processes: Processes) -> Callable[[], None]:
        """What kills the processes of the session and releases it without a loop: the turn stays as it stands on
        record, as after a crash. It does not raise."""
        end = processes.abandoning()

        def abandon() -> None:
            end()
            with suppress(OSError):
                self.close()

        return abandon


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
        from agenyx.session.resolve import resolve  # which reads other sessions

        directory = resolve(home, workspace, settings.resume)
    elif settings.continue_:
        directory = _latest(home, workspace)
    if directory and settings.fork:
        directory = _forked(directory)
    identity = os.path.basename(directory) or settings.session_id or session_id()
    directory = directory or os.path.join(load.sessions_of(home, workspace), identity)
    if settings.session_id and _holds(directory):
        raise UsageError(f"there is a session {identity} already", "Go on with it: --resume, or choose another id.")
    store: Store | None = None
    if settings.persist:
        store = _file_store(directory, home, tell)
    behind = ""
    if settings.resume or settings.continue_:
        try:
            state = load.load(directory)  # after the lock, so that nobody writes meanwhile
            workspace = _workspace(state, workspace, settings.placed, tell)
            _tell_damage(state, tell)
        except BaseException:
            if store is not None:
                store.close()
            raise
        behind = os.path.join(directory, TRANSCRIPT)
    if store is not None:
        return Opened(Session(identity, store, state, directory, ids or RandomIds(), clock), True, "", workspace)
    import tempfile

    temporary = tempfile.mkdtemp(prefix="agenyx-")
    session = Session(identity, MemoryStore(behind), state, temporary, ids or RandomIds(), clock)
    session.earlier = directory if behind else ""
    return Opened(session, False, temporary, workspace)


def _holds(directory: str) -> bool:
    """Whether a session was begun there."""
    try:
        return os.path.getsize(os.path.join(directory, TRANSCRIPT)) > 0
    except OSError:
        return False


def _latest(home: str, workspace: str) -> str:
    from agenyx.session.resolve import latest

    try:
        return latest(home, workspace)
    except UsageError:
        from agenyx.app.place import moved_here

        if found := moved_here(home, workspace):
            return found
        raise


def _forked(directory: str) -> str:
    from agenyx.session.fork import fork

    target = os.path.join(os.path.dirname(directory), session_id())
    fork(directory, target)
    return target


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


def _workspace(state: State, here: str, placed: bool, tell: Callable[[Body], None]) -> str:
    """Where the session goes on. `here` is where the program was started, `placed` says that --cwd named it."""
    opened = state.opened
    if opened is None or os.path.realpath(opened.workspace) == here:
        return here
    if os.path.isdir(opened.workspace):
        if placed:
            raise ConfigError(
                f"this session belongs to {opened.workspace}",
                f"Leave out --cwd, or name that directory: --cwd {opened.workspace}",
            )
        tell(Notice("warning", f"This session goes on in its own directory, {opened.workspace}."))
        return os.path.realpath(opened.workspace)
    from agenyx.app.place import is_same

    if placed or is_same(opened.place, here):
        tell(Notice("warning", f"{opened.workspace} is gone, so this session goes on in {here}."))
        return here
    raise ConfigError(
        f"this session belongs to {opened.workspace}, which no longer exists",
        "If it was moved, name the directory where it is now: --cwd DIRECTORY",
    )


def _tell_damage(state: State, tell: Callable[[Body], None]) -> None:
    if state.problems:
        shown = "; ".join(state.problems[:3])
        more = f" and {len(state.problems) - 3} more" if len(state.problems) > 3 else ""
        tell(Notice("warning", f"The transcript has damaged places, which were passed over: {shown}{more}."))
    if state.seq > TRANSCRIPT_RECORDS * 0.9:
        full = f"This session is nearly full: {state.seq:,} of {TRANSCRIPT_RECORDS:,} records."
        tell(Notice("warning", full, "Begin a new one soon."))
