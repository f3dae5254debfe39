"""What can be done with stored sessions from outside of them: listed, looked at, named, deleted. Asks no model."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from agenyx.app import naming
from agenyx.config.secrets import masker
from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.events import Outcome, Usage
from agenyx.core.ids import RandomIds, wall_clock
from agenyx.session import diagnostics, load
from agenyx.session.deletion import Status, delete, unfinished
from agenyx.session.heads import head_of
from agenyx.session.inventory import Found, UnsafeStore, partitions, session_at, sessions
from agenyx.session.leftovers import leftovers
from agenyx.session.records import Prompt, Reader, Response
from agenyx.session.revision import Budget, Moved, generation, offset_of, page_token, revision_of
from agenyx.session.session import Session
from agenyx.session.store import TRANSCRIPT, FileStore, SessionLocked

_TRIES = 3  # at a transcript that is written while it is read


class Row(Struct, frozen=True):
    """One session of a list. Times in Unix seconds, `size` in bytes of its transcript; `workspace` "" when unknown."""

    session_id: str
    title: str
    workspace: str
    created_at: float
    updated_at: float
    size: int


class Page(Struct, frozen=True):
    """Sessions with their revisions, and where the next page begins, "" at the end."""

    status: Literal["ok", "stale", "store_unsafe"]
    sessions: tuple[tuple[Found, str], ...] = ()
    token: str = ""
    why: str = ""


class Details(Struct, frozen=True):
    """One session, read whole. `unfinished`: its last turn was left open; `problems` are those of `diagnostics`."""

    row: Row
    revision: str
    profile: str
    model: str
    records: int
    prompts: int
    steps: int
    calls: int
    unfinished: bool
    outcome: Outcome | None
    usage: Usage | None
    problems: list[dict[str, object]]


def row_at(directory: str) -> Row:
    """Raises AgenyxError where there is no session."""
    found = session_at(directory)
    if found is None:
        raise AgenyxError(f"there is no session in {directory}", "See: agenyx sessions list")
    return row_of(found)


def row_of(found: Found, reader: Reader | None = None) -> Row:
    head = head_of(found.directory, reader)
    return Row(found.id, head.title, head.workspace, head.created_at, found.updated_at, found.size)


def page(home: str, workspace: str, size: int, token: str = "") -> Page:
    """One page of the sessions of a workspace (reference: AgentX §1.7)."""
    try:
        found = sessions(home, workspace)
    except UnsafeStore as error:
        return Page("store_unsafe", why=error.message)
    now = generation(found)
    start = offset_of(token, now, len(found)) if token else 0
    if start is None:
        return Page("stale", why="the sessions changed since that page, or the token is none")
    rows, budget = list[tuple[Found, str]](), Budget()
    for one in found[start : start + size]:
        try:
            revision = _revision(one.directory, budget)
        except AgenyxError as error:
            return Page("store_unsafe", why=error.message)
        if not revision:
            return Page("stale", why=f"session {one.id} is being written")
        rows.append((one, revision))
    after = start + len(rows)
    return Page("ok", tuple(rows), page_token(after, now) if after < len(found) else "")


def revision(directory: str) -> str:
    """The revision of the session in a folder. Raises AgenyxError while it is being written."""
    text = _revision(directory, None)
    if not text:
        raise AgenyxError("the session is being written just now", "End what uses it, then try again.")
    return text


def _revision(directory: str, budget: Budget | None) -> str:
    for _ in range(_TRIES):
        try:
            folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return ""
        try:
            return revision_of(folder, budget)
        except (Moved, OSError):
            continue
        finally:
            os.close(folder)
    return ""


def details(directory: str) -> Details:
    """Read a session whole. Raises AgenyxError."""
    row = row_at(directory)
    state = load.load(directory)
    records = prompts = steps = calls = 0
    with open(os.path.join(directory, TRANSCRIPT), "rb") as file:
        for record in load.decode_lines(file, []):
            records += 1
            match record.body:
                case Prompt(user) if user.origin == "typed":
                    prompts += 1
                case Response(assistant):
                    steps += 1
                    calls += len(assistant.calls)
                case _:
                    pass
    return Details(
        row,
        _revision(directory, None),
        state.binding.profile if state.binding else "",
        state.model,
        records,
        prompts,
        steps,
        calls,
        state.outcome is None and bool(state.turn),
        state.outcome,
        state.usage,
        diagnostics.listed(state.problems),
    )


def rename(directory: str, title: str, env: Mapping[str, str]) -> str:
    """Give a session a title; returns it as it was stored. Raises UsageError, AgenyxError when it is in use."""
    try:
        store = FileStore(directory)
    except SessionLocked as error:
        raise SessionLocked(
            error.message, "In a conversation: type /rename TITLE there. Else: try again when that process has ended."
        ) from error
    except OSError as error:
        raise StoreError(f"the session cannot be written: {error.strerror}", "Make its folder writable.") from error
    try:
        session = Session(os.path.basename(directory), store, load.load(directory), directory, RandomIds(), wall_clock)
        session.masker = masker(env)
        return naming.call(session, title)
    finally:
        store.close()


def remove(directory: str, seen: str) -> Status:
    """Delete the session in a folder as it was at the revision `seen`."""
    return delete(os.path.dirname(directory), os.path.basename(directory), seen)


def finish(home: str, session: str = "") -> list[tuple[str, Status]]:
    """Finish deletions that were begun and broke off, of one session or of all; what came of each."""
    done: list[tuple[str, Status]] = []
    try:
        for partition in partitions(home):
            for name, seen in unfinished(partition):
                if session in ("", name):
                    done.append((name, delete(partition, name, seen)))
    except OSError as error:
        raise AgenyxError(f"the stored sessions cannot be looked at: {error}", "Make the home yours alone.") from error
    return done


def leftover(home: str, *, remove: bool) -> list[tuple[str, str]]:
    """Folders of sessions that never came to be, in all workspaces, and why; with `remove` they are removed."""
    try:
        return [one for partition in partitions(home) for one in leftovers(partition, remove=remove)]
    except OSError as error:
        raise AgenyxError(f"the stored sessions cannot be looked at: {error}", "Make the home yours alone.") from error


def stamp(seconds: float) -> str:
    """A time as programs read it, in UTC (RFC 3339)."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def as_json(row: Row) -> dict[str, Any]:
    """One session of a list for programs; what is not known is null."""
    return {
        "session_id": row.session_id,
        "title": row.title,
        "workspace": row.workspace or None,
        "created_at": stamp(row.created_at) if row.created_at else None,
        "updated_at": stamp(row.updated_at),
        "size": row.size,
    }
