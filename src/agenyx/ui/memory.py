"""`agenyx memory`: the notes that a project keeps from session to session, seen and changed without a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from agenyx.app.commands.memory import data, forgotten
from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ext.memory import FILE_BYTES, Memory, listed, open_memory
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx memory list [--json]
       agenyx memory show NAME [--json]
       agenyx memory remember NAME CONTENT
       agenyx memory forget NAME

Notes about a project that each new session is told: how to build and test, what was decided, what was hard to find
out. You write them here or with /memory; the model may too, when you say yes. They lie in the home, one file a note;
the linked worktrees of a repository share them. What looks like a password or key is refused.

  list        the notes of this project, the latest first
  show        one note
  remember    keep a note, or replace the one of that name; - for CONTENT reads standard input
  forget      remove a note

  --cwd DIR   for the project in this directory instead of the current one
  --json      one JSON object, for programs

Example: agenyx memory remember build "make dev, then make check; needs Node 22"
"""


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, AgenyxError."""
    given = arguments("memory", argv, switches=("--json",), values=("--cwd",), words=(0, 1000))
    if given.help:
        show(HELP)
        return OK
    folder = given.value("--cwd") or os.curdir
    if not os.path.isdir(folder):
        raise UsageError(f"--cwd {folder} is not a directory", "Name the directory of the project.")
    return _run(given, open_memory(home_path(env), os.path.realpath(folder)), env)


def _run(given: Arguments, memory: Memory, env: Mapping[str, str]) -> int:
    match given.words:
        case ["list"]:
            notes = memory.all()
            _answer(given, {"folder": memory.folder, "notes": data(notes)}, listed(notes) or "There are no notes yet.")
        case ["show", name]:
            note = memory.get(name)
            if note is None:
                raise UsageError(f"there is no note {name!r}", "See: agenyx memory list")
            _answer(given, {"name": note.name, "content": note.text, "stale": note.stale}, note.text)
        case ["remember", name, *words] if words:
            text = (
                sys.stdin.buffer.read(FILE_BYTES + 1).decode("utf-8", "replace") if words == ["-"] else " ".join(words)
            )
            memory.remember(name, text, masker(env))
            _answer(given, {"remembered": name}, f"Kept as {name}.")
        case ["forget", name]:
            _answer(given, {"forgotten": forgotten(memory, name)}, f"{name} is forgotten.")
        case []:
            raise UsageError("agenyx memory needs a command", "See: agenyx memory --help")
        case words:
            raise UsageError(f"agenyx memory does not understand: {' '.join(words)}", "See: agenyx memory --help")
    return OK


def _answer(given: Arguments, data: dict[str, object], text: str) -> None:
    show(json.encode(data).decode() + "\n" if given.on("--json") else text + "\n")
