"""`--list-sessions` and `--delete-session`: sessions for programs, with revisions (reference: AgentX §1.7, §8.7).

Standard output gets the object also where nothing succeeded; the exit code is 1 then. A wrong command line gets none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agenyx.app.sessions import Page, page, remove, stamp
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.session.inventory import ID
from agenyx.session.load import sessions_of
from agenyx.session.revision import REVISION
from agenyx.ui.exits import FAILED, OK, complaint, write_error
from agenyx.ui.standard import show

_LIST, _DELETE = "--list-sessions", "--delete-session"
_SIZE, _TOKEN, _REVISION = "--session-page-size", "--session-page-token", "--session-revision"
_FORMAT, _CWD = "--output-format", "--cwd"
_ALLOWED = {_LIST: (_CWD, _SIZE, _TOKEN, _FORMAT), _DELETE: (_CWD, _REVISION, _FORMAT)}


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError for anything else on the command line."""
    what, given = _grammar(list(argv))
    workspace = given[_CWD]
    if not os.path.isdir(workspace):
        raise UsageError(f"--cwd {workspace} is not a directory", "Name the workspace of the sessions.")
    home, as_json = home_path(env), given.get(_FORMAT) == "json"
    if what == _LIST:
        found = page(home, workspace, int(given.get(_SIZE, "100")), given.get(_TOKEN, ""))
        text, good = (_list_json if as_json else _list_text)(found), found.status == "ok"
        if found.why:
            write_error(masker(env).text(complaint(found.why, "List from the first page again.")))
    else:
        status = remove(os.path.join(sessions_of(home, workspace), given[_DELETE]), given[_REVISION])
        answer = {"version": 1, "status": status, "session_id": given[_DELETE]}
        text = json.encode(answer).decode() + "\n" if as_json else f"{status}\t{given[_DELETE]}\n"
        good = status == "deleted"
    show(masker(env).text(text))
    return OK if good else FAILED


def _list_json(found: Page) -> str:
    rows = [
        {"session_id": one.id, "updated_at": stamp(one.updated_at), "revision": revision}
        for one, revision in found.sessions
    ]
    answer: dict[str, object] = {"version": 1, "status": found.status, "sessions": rows}
    if found.token:
        answer["next_page_token"] = found.token
    return json.encode(answer).decode() + "\n"


def _list_text(found: Page) -> str:
    rows = [f"{one.id}\t{stamp(one.updated_at)}\t{revision}\n" for one, revision in found.sessions]
    if found.status != "ok":
        rows.append(f"status\t{found.status}\n")
    elif not rows:
        rows.append("no sessions\n")
    if found.token:
        rows.append(f"next_page_token\t{found.token}\n")
    return "".join(rows)


def _grammar(words: list[str]) -> tuple[str, dict[str, str]]:
    """What is asked for, and the values by flag; each once, nothing else but a closing --."""
    if words and words[-1] == "--":
        words.pop()
    given: dict[str, str] = {}
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name == _LIST and not equals:
            value = "yes"
        elif not equals:
            value = words.pop(0) if words else ""
        if name in given:
            raise UsageError(f"{name} is given twice", "Give it once.")
        given[name] = value
    what = _LIST if _LIST in given else _DELETE
    allowed = _ALLOWED[what]
    other = next((name for name in given if name != what and name not in allowed), "")
    if other:
        raise UsageError(f"{what} does not go with {other}", f"It takes {', '.join(allowed)}.")
    if not given.get(_CWD):
        raise UsageError(f"{what} needs --cwd DIR", "Name the workspace of the sessions.")
    if what == _DELETE and not ID.fullmatch(given[_DELETE]):
        raise UsageError(f"{given[_DELETE]!r} is not a session id", "Take it from --list-sessions.")
    if what == _DELETE and not REVISION.fullmatch(given.get(_REVISION, "")):
        raise UsageError("--delete-session needs --session-revision REV", "Take it from --list-sessions.")
    return what, given
