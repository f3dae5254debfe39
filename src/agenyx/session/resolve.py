"""Which session a person means by an id, the beginning of one, or a title. Looks in all workspaces for ids."""

from __future__ import annotations

import os
import time

from agenyx.core.errors import UsageError
from agenyx.session.heads import head_of
from agenyx.session.inventory import ID, Found, session_at, sessions
from agenyx.session.records import Reader

_LEAST = 4  # characters of the beginning of an id
_SHOWN = 5
_LIST = "agenyx sessions list shows them, --all those of every directory."


def resolve(home: str, workspace: str, text: str) -> str:
    """The folder of the session that `text` names. Raises UsageError where it names none, or several.

    In this order: a whole id; the beginning of one, in this workspace and then in all; a title of this workspace, to
    the letter and then by a part of it, whatever the letter case.
    """
    text = text.strip()
    whole = _by_id(home, text)
    if whole:
        return whole
    here = sessions(home, workspace)
    if ID.fullmatch(text) and len(text) >= _LEAST:
        for found in (here, sessions(home, None)):
            begun = [one for one in found if one.id.startswith(text)]
            if begun:
                return _only(begun, text, "begin with")
    reader = Reader()
    titles = [(one, head_of(one.directory, reader).title.casefold()) for one in here]
    wanted = " ".join(text.split()).casefold()
    same = [one for one, title in titles if title == wanted]
    matches = same or [one for one, title in titles if wanted in title]
    if wanted and matches:
        return _only(matches, text, "are called")
    raise UsageError(f"there is no session {text!r}", _LIST)


def latest(home: str, workspace: str) -> str:
    """The folder of the session of this workspace that was written last. Raises UsageError when there is none."""
    found = sessions(home, workspace)
    if not found:
        raise UsageError("there is no earlier session of this directory", "Leave out --continue to start one.")
    return found[0].directory


def _by_id(home: str, text: str) -> str:
    """The folder of the session with exactly this id, in whatever workspace; "" where there is none."""
    if not ID.fullmatch(text):
        return ""
    top = os.path.join(home, "sessions")
    try:
        keys = sorted(os.listdir(top))
    except OSError:
        return ""
    directories = (os.path.join(top, key, text) for key in keys)
    return next((one for one in directories if session_at(one) is not None), "")


def _only(found: list[Found], text: str, how: str) -> str:
    if len(found) == 1:
        return found[0].directory
    rows = [f"  {one.id}  {_when(one)}  {head_of(one.directory).title}" for one in found[:_SHOWN]]
    more = [f"  and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    raise UsageError(f"{len(found)} sessions {how} {text!r}", "\n".join(["Say which by its id:", *rows, *more]))


def _when(found: Found) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(found.updated_at))
