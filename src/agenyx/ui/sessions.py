"""`agenyx sessions`: stored sessions for people, and the same as JSON. Words only; `app/sessions` does the work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

from agenyx.app import sessions as app
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import json_safe, safe
from agenyx.session.inventory import sessions
from agenyx.session.records import Reader
from agenyx.session.resolve import resolve
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx sessions [list] [--all] [--cwd DIR] [--limit N] [--json]
       agenyx sessions show ID [--json]
       agenyx sessions search TEXT [--all] [--limit N] [--json]
       agenyx sessions rename ID TITLE
       agenyx sessions delete ID [--revision REV] [--yes] [--json]
       agenyx sessions prune [--older-than AGE] [--keep N] [--max-size SIZE] [--all] [--yes] [--json]
       agenyx sessions rewind ...    (agenyx sessions rewind --help)
       agenyx sessions export ID [-o FILE|DIR] ...    (agenyx sessions export --help)
       agenyx sessions import FILE|DIR ...            (agenyx sessions import --help)

ID is the id of a session in whatever directory, the beginning of one, or a title. A title is the first line of the
first prompt, until you give another one.

  list            the sessions of this directory, the latest first; --all: of every directory
  show            one session: model, figures, and what is damaged in its transcript
  search          where TEXT stands in titles, prompts, answers and calls
  rename          give it a title
  delete          remove it for good, with its files; asks first. If it breaks off, give the same again
  prune           say what exceeds the limits, and delete it with --yes; also finishes deletions that broke off, and
                  removes copies that did and sessions in which nothing was said
  export, import  a session as a transcript that other programs read, and one of theirs as a session
  --older-than    last used longer ago: 12h, 30d, 8w
  --keep          more than so many, the latest stay
  --max-size      more than so many bytes in all: 500M, 2G
  --limit         so many lines at most (50)
  --cwd DIR       instead of this directory
  --json          for programs
"""
_SWITCHES = ("--all", "--json", "--yes")
_VALUES = ("--cwd", "--limit", "--revision", "--older-than", "--keep", "--max-size")
_OF = {
    "list": ("--all", "--cwd", "--limit", "--json"),
    "show": ("--cwd", "--json"),
    "search": ("--all", "--cwd", "--limit", "--json"),
    "rename": ("--cwd", "--json"),
    "delete": ("--cwd", "--revision", "--yes", "--json"),
    "prune": ("--all", "--cwd", "--older-than", "--keep", "--max-size", "--yes", "--json"),
}
_LIMIT = 50


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, AgenyxError."""
    if argv and argv[0] == "rewind":
        from agenyx.ui.rewind import main as rewind

        return rewind(argv[1:], env)
    if argv and argv[0] in ("export", "import"):
        from agenyx.ui.transcripts import main as transcripts

        return transcripts(argv[0], argv[1:], env)
    given = arguments("sessions", argv, switches=_SWITCHES, values=_VALUES, words=(0, 99))
    if given.help:
        show(HELP)
        return OK
    name, *words = given.words or ["list"]
    if name not in _OF:
        raise UsageError(f"agenyx sessions has no command {name}", "See: agenyx sessions --help")
    for flag in (*_SWITCHES, *_VALUES):
        if given.on(flag) and flag not in _OF[name]:
            raise UsageError(f"agenyx sessions {name} has no flag {flag}", "See: agenyx sessions --help")
    return _Run(name, words, given, env).go()


class _Run:
    """One command."""

    def __init__(self, name: str, words: list[str], given: Arguments, env: Mapping[str, str]) -> None:
        self.name, self.words, self.given, self.env = name, words, given, env
        self.home, self.json = home_path(env), given.on("--json")
        cwd = given.value("--cwd")
        if cwd and not os.path.isdir(cwd):
            raise UsageError(f"--cwd {cwd} is not a directory", "Name the workspace of the sessions.")
        self.workspace = os.path.realpath(cwd or os.curdir)
        self.limit = _number(given.value("--limit"))

    def go(self) -> int:
        match self.name, self.words:
            case "list", []:
                return self._list()
            case "show", [one]:
                return self._show(self._directory(one))
            case "search", [_, *_]:
                return self._search(" ".join(self.words))
            case "rename", [one, _, *_]:
                title = app.rename(self._directory(one), " ".join(self.words[1:]), self.env)
                return self._say({"title": title}, f"the session is now called: {title}\n")
            case "delete", [one]:
                return self._delete(one)
            case "prune", []:
                return self._prune()
            case _:
                raise UsageError(f"agenyx sessions {self.name}: wrong words behind it", "See: agenyx sessions --help")

    def _directory(self, text: str) -> str:
        return resolve(self.home, self.workspace, text)

    def _say(self, value: object, text: str) -> int:
        hidden = masker(self.env)
        if self.json:
            show(hidden.text(json_safe(json.encode(value)).decode() + "\n"))
        else:
            show(hidden.text(safe(text)))
        return OK

    def _list(self) -> int:
        found = sessions(self.home, None if self.given.on("--all") else self.workspace)
        reader = Reader()
        rows = [app.row_of(one, reader) for one in found[: self.limit]]
        lines = [_line(row, self.given.on("--all")) for row in rows] or ["there is no session\n"]
        if len(found) > len(rows):
            lines.append(f"and {len(found) - len(rows)} older ones: --limit {len(found)} shows all\n")
        value = {"version": 1, "total": len(found), "sessions": [app.as_json(row) for row in rows]}
        return self._say(value, "".join(lines))

    def _show(self, directory: str) -> int:
        one = app.details(directory)
        usage = one.usage
        facts: dict[str, object] = {
            "id": one.row.session_id,
            "title": one.row.title,
            "workspace": one.row.workspace,
            "began": _when(one.row.created_at),
            "updated": _when(one.row.updated_at),
            "model": f"{one.model} ({one.profile})" if one.model else "",
            "prompts": one.prompts,
            "steps": f"{one.steps}, {one.calls} calls",
            "tokens": f"{usage.fresh + usage.cache_read + usage.cache_write:,} in, {usage.out:,} out" if usage else "",
            "transcript": f"{one.records:,} records, {one.row.size:,} bytes in {directory}",
            "last turn": "unfinished" if one.unfinished else one.outcome.kind if one.outcome else "",
        }
        lines = [f"{name:<11} {fact}\n" for name, fact in facts.items() if fact not in ("", None)]
        lines += [f"damaged     {problem['message']} ({problem['code']})\n" for problem in one.problems]
        value = {
            "version": 1,
            **app.as_json(one.row),
            "directory": directory,
            "revision": one.revision or None,
            "profile": one.profile,
            "model": one.model,
            "records": one.records,
            "prompts": one.prompts,
            "steps": one.steps,
            "calls": one.calls,
            "unfinished": one.unfinished,
            "outcome": one.outcome.kind if one.outcome else None,
            "usage": usage,
            "problems": one.problems,
        }
        return self._say(value, "".join(lines))

    def _search(self, wanted: str) -> int:
        from agenyx.app.session_search import search

        if not wanted.strip():
            raise UsageError("there is nothing to search for", "For example: agenyx sessions search parser")
        reader, rows, lines = Reader(), list[dict[str, object]](), list[str]()
        for found in sessions(self.home, None if self.given.on("--all") else self.workspace):
            hits = search(found, wanted, 3, reader)
            if hits:
                row = app.row_of(found, reader)
                rows.append({**app.as_json(row), "hits": hits})
                lines += [_line(row, self.given.on("--all")), *(f"    {hit.where}: {hit.text}\n" for hit in hits)]
            if len(rows) == self.limit:
                break
        self._say({"version": 1, "sessions": rows}, "".join(lines) or f"no session holds {wanted!r}\n")
        return OK if rows else FAILED

    def _delete(self, text: str) -> int:
        try:
            directory = self._directory(text)
        except UsageError:
            if not (done := app.finish(self.home, text)):
                raise
            return self._deleted(*done[0])
        name = os.path.basename(directory)
        seen = self.given.value("--revision") or app.revision(directory)
        if not self.given.on("--yes"):
            if not os.isatty(0):
                raise UsageError("agenyx sessions delete asks on a terminal", "Add --yes to delete without a question.")
            row = app.row_at(directory)
            show(masker(self.env).text(safe(f"{_line(row, True)}Delete this session for good? [y/N] ")))
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                show("nothing was deleted\n")
                return FAILED
        return self._deleted(name, app.remove(directory, seen))

    def _deleted(self, name: str, status: str) -> int:
        said = {
            "deleted": f"deleted {name}",
            "not_found": f"there is no session {name}",
            "stale": f"{name} changed since that revision, so it was not deleted",
            "session_locked": f"{name} is in use, so it was not deleted: end what uses it first",
            "delete_incomplete": f"{name} is not wholly removed: make its folder writable, then give the same again",
            "store_unsafe": f"{name} was not deleted: the folder of the sessions is not yours alone, or is damaged",
        }
        self._say({"version": 1, "status": status, "session_id": name}, said[status] + "\n")
        return OK if status == "deleted" else FAILED

    def _prune(self) -> int:
        from agenyx.app.session_prune import choose, limits

        given, yes = self.given, self.given.on("--yes")
        limit = limits(given.value("--older-than"), given.value("--keep"), given.value("--max-size"))
        found = sessions(self.home, None if given.on("--all") else self.workspace)
        limited = any(one is not None for one in (limit.age, limit.keep, limit.size))
        chosen = choose(found, limit, time.time()) if limited else []
        rows, lines, failed = list[dict[str, object]](), list[str](), False
        for name, status in app.finish(self.home) if yes else ():
            rows.append({"session_id": name, "reason": "unfinished", "status": status})
            lines.append(f"{name}  finished an earlier deletion: {status}\n")
            failed = failed or status != "deleted"
        for name, why in app.leftover(self.home, remove=yes):
            status = "deleted" if yes else "would_delete"
            what = "a copy that broke off" if why == "incomplete" else "nothing was said in it"
            rows.append({"session_id": name, "reason": why, "status": status})
            lines.append(f"{status.replace('_', ' ')}  {name}  {what}\n")
        for one in chosen:
            row = app.row_of(one.found)
            status = "would_delete"
            if yes:
                try:
                    status = app.remove(one.found.directory, app.revision(one.found.directory))
                except AgenyxError:
                    status = "session_locked"
                failed = failed or status != "deleted"
            rows.append({**app.as_json(row), "reason": one.why, "bytes": one.size, "status": status})
            lines.append(f"{status.replace('_', ' ')}  {one.why:<5}  {one.size:>12,} bytes  {_line(row, False)}")
        if not rows:
            lines.append("there is nothing to delete\n" if limited or yes else "no limit was given: see --help\n")
        elif not yes:
            total = sum(one.size for one in chosen)
            lines.append(f"{len(rows)} in all, {total:,} bytes; nothing was deleted, --yes does it\n")
        self._say({"version": 1, "applied": yes, "sessions": rows}, "".join(lines))
        return FAILED if failed else OK


def _number(text: str) -> int:
    if not text:
        return _LIMIT
    if not (text.isascii() and text.isdigit() and len(text) < 8 and int(text)):
        raise UsageError(f"--limit {text!r} is no number above 0", "For example: --limit 200")
    return int(text)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""


def _line(row: app.Row, everywhere: bool) -> str:
    where = f"  ({row.workspace})" if everywhere and row.workspace else ""
    return f"{row.session_id}  {_when(row.updated_at)}  {row.title}".rstrip() + f"{where}\n"
