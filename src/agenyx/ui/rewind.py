"""`agenyx sessions rewind`: the points of a session, what going back to one would do to the files, and doing it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from agenyx.app import rewind
from agenyx.app.rewind import Plan
from agenyx.app.start import open_root
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.ids import RandomIds, wall_clock
from agenyx.core.tty import safe
from agenyx.session import load, resolve
from agenyx.session.checkpoints import History, Point, history, stored
from agenyx.session.records import Head
from agenyx.session.session import Session
from agenyx.session.store import FileStore
from agenyx.session.tree import tree_of
from agenyx.ui.activity import clip
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import OK
from agenyx.ui.standard import show
from agenyx.workspace.root import Root

HELP = """\
Usage: agenyx sessions rewind [ID] [--to POINT] [--what files|conversation|both] [--yes] [--cwd DIR] [--json]

Puts the files that the calls of a session changed back to what they were just before one of its turns, or before an
earlier rewind. Without ID: the latest session of this directory.

  (nothing)      list the points that files can go back to
  --to POINT     list what going back would do to each file, with a diff; nothing is changed
  --yes          do it
  --what WHAT    go back with the files (the default), with the conversation, or with both; what was said since stays as
                 a branch of its own
  --cwd DIR      the directory whose latest session is meant
  --json         one JSON object, for programs

What changed since and not by the session is left as it is and named; so is what lies outside the workspace or holds
secrets. Nothing is removed that the session did not make. A rewind is a point itself, so it can be undone.

Examples:
  agenyx sessions rewind
  agenyx sessions rewind --to 2
  agenyx sessions rewind --to 2 --yes
"""
_SWITCHES = ("--yes", "--json")
_VALUES = ("--to", "--what", "--cwd")
_WHAT = ("files", "conversation", "both")
_TEXT = 60


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. `argv` is what follows the word rewind. Raises UsageError, AgenyxError."""
    given = arguments("sessions rewind", argv, switches=_SWITCHES, values=_VALUES, words=(0, 1))
    if given.help:
        show(HELP)
        return OK
    home = home_path(env)
    directory = _directory(given, home)
    found = history(stored(directory))
    name = os.path.basename(directory)
    if not given.value("--to"):
        text = _points_json(name, found) if given.on("--json") else points(found, f"agenyx sessions rewind {name} --to")
    else:
        what, applied = given.value("--what") or "files", given.on("--yes")
        point = rewind.point_of(found, given.value("--to"))
        _check(what, point)
        chosen = Plan(point, ())
        if what != "conversation":
            chosen = rewind.plan(_root(found, home, env), directory, found, point)
        if applied:
            chosen = _done(directory, name, chosen, what, home, env)
        flags = f"--to {point.name}" + (f" --what {what}" if what != "files" else "")
        how = f"Nothing was changed. To do it: agenyx sessions rewind {name} {flags} --yes"
        text = _plan_json(name, chosen, applied) if given.on("--json") else _told(chosen, what, "" if applied else how)
    show(masker(env).text(text if given.on("--json") else safe(text)))
    return OK


def _check(what: str, point: Point) -> None:
    if what not in _WHAT:
        raise UsageError(f"--what cannot be {what!r}", f"Choose one of: {', '.join(_WHAT)}.")
    if what != "files" and point.kind == "rewind":
        raise UsageError(f"{point.name} is a point of the files only", "Leave --what out, or name a turn.")


def _told(chosen: Plan, what: str, how: str) -> str:
    """The plan, or what was done, in words."""
    if what == "files":
        return listing(chosen, how)
    said = "would go" if how else "goes"
    conversation = f"The conversation {said} on before turn {chosen.point.name}: {clip(chosen.point.text, _TEXT)}\n"
    return conversation + (listing(chosen, how) if what == "both" else f"{how}\n" if how else "")


def _directory(given: Arguments, home: str) -> str:
    here = os.path.realpath(given.value("--cwd") or os.curdir)
    if given.words:
        return resolve.resolve(home, here, given.words[0])
    return resolve.latest(home, here)


def _root(found: History, home: str, env: Mapping[str, str]) -> Root:
    if not os.path.isdir(found.workspace):
        raise AgenyxError(
            f"the workspace of this session is not there: {found.workspace or 'unknown'}",
            "Put it back where it was first.",
        )
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    root = open_root(os.path.realpath(found.workspace), home, person)
    if found.folders:
        from agenyx.app.folders import take  # few sessions have any

        take(root, (), found.folders, env, home, root.path, lambda _: None)  # what is gone is left as it is
    return root


def _done(directory: str, name: str, chosen: Plan, what: str, home: str, env: Mapping[str, str]) -> Plan:
    try:
        store = FileStore(directory)
    except OSError as error:
        raise AgenyxError(f"the session cannot be written: {error.strerror}", "Make the home writable.") from error
    try:
        session = Session(name, store, load.load(directory), directory, RandomIds(), wall_clock)
        session.masker = masker(env)
        # Under the lock the plan is made anew: what was looked at before may have changed.
        found = history(session.records())
        if what != "conversation":
            root = _root(found, home, env)
            chosen = rewind.apply(rewind.plan(root, directory, found, chosen.point), session, root)
        if what != "files":
            turn = tree_of(session.records()).turn(int(chosen.point.name))
            if turn is None:
                raise AgenyxError(f"there is no turn {chosen.point.name}", "See /tree.")
            session.move(Head(turn.before, "rewind"))
        return chosen
    finally:
        store.close()


def points(found: History, command: str) -> str:
    """The points as a list, newest last; `command` shows what going back to one would do."""
    if not found.points:
        return "This session has no prompt yet.\n"
    changed = rewind.counts(found)
    rows: list[str] = []
    for point in found.points:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(point.at))
        many = changed[point.name]
        what = clip(point.text, _TEXT) if point.kind == "prompt" else "(a rewind of files)"
        files = f"{many} file{'s' * (many != 1)}" if many else "no files"
        rows.append(f"{point.name:>4}  {when}  {files:<9} {what}".rstrip())
    rows.append(f"What going back to just before one of them would do: {command} POINT")
    return "\n".join(rows) + "\n"


def paths(chosen: Plan) -> str:
    """What happens to each path, and why where nothing does."""
    if not chosen.steps:
        return "All files are as they were at that point.\n"
    wide = max(len(step.action) for step in chosen.steps)
    rows = [f"  {step.action.ljust(wide)}  {step.shown}  {step.why}".rstrip() for step in chosen.steps]
    return "\n".join(rows) + "\n"


def listing(chosen: Plan, how: str) -> str:
    """What would happen, with diffs, and `how` to do it; or with "" what was done."""
    rows, done = [paths(chosen).rstrip("\n")], len(chosen.acting)
    if how:
        rows += [diff for step in chosen.acting if (diff := step.diff)]
        rows.append(how)
    elif chosen.steps:
        left = len(chosen.steps) - done
        rows.append(f"{done} put back" + (f", {left} left" if left else "") + ".")
    return "\n".join(rows) + "\n"


def _points_json(name: str, found: History) -> str:
    changed = rewind.counts(found)
    rows = [
        {
            "point": one.name,
            "id": one.id,
            "kind": one.kind,
            "at": one.at,
            "text": one.text,
            "files": changed[one.name],
        }
        for one in found.points
    ]
    return json.encode({"session": name, "workspace": found.workspace, "points": rows}).decode() + "\n"


def _plan_json(name: str, chosen: Plan, applied: bool) -> str:
    rows = [
        {"path": step.shown, "action": step.action, "why": step.why, "diff": "" if applied else step.diff}
        for step in chosen.steps
    ]
    said = {"session": name, "point": chosen.point.name, "applied": applied, "steps": rows}
    return json.encode(said).decode() + "\n"
