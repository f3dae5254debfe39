"""`agenyx sessions export` and `import`: sessions as transcripts that other programs read, and theirs as sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from agenyx.config.home import home_path
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import json_safe, safe
from agenyx.session.resolve import resolve
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx sessions export ID [--format jsonl|md|json] [-o FILE|DIR|-] [--force] [--cwd DIR] [--json]
       agenyx sessions import FILE|DIR [--cwd DIR] [--json]

  export          write a session as other programs read it: one JSON object a line, all branches, subagents, images
  -o FILE         into this file; without -o, or with -o -, on standard output
  -o DIR          into a folder that is there, or whose name ends with /, laid out as such programs look for it:
                  DIR/projects/KEY/ID.jsonl. For example: -o out/ and then CLAUDE_CONFIG_DIR=out ccusage session
  --format        jsonl (that), md (for people) or json (one object)
  --force         replace what is there

  import          make a session of a transcript in that layout, in this directory, to go on with; FILE, or a folder
                  that holds one transcript. It is text that was said: no rule, mode or hook comes with it
  --cwd DIR       the workspace, instead of this directory
  --json          for programs: what was done, on standard output (of export, where a file is written)
"""
FORMATS = ("jsonl", "md", "json")


def main(name: str, argv: Sequence[str], env: Mapping[str, str]) -> int:
    """`name` is export or import. Returns the exit code. Raises UsageError, AgenyxError."""
    switches, values = ("--json",), ("--cwd",)
    if name == "export":
        switches, values = ("--json", "--force"), ("--cwd", "--format", "-o", "--output")
    given = arguments(f"sessions {name}", argv, switches=switches, values=values, words=(1, 1))
    if given.help:
        show(HELP)
        return OK
    cwd = given.value("--cwd")
    if cwd and not os.path.isdir(cwd):
        raise UsageError(f"--cwd {cwd} is not a directory", "Name the workspace of the session.")
    workspace = os.path.realpath(cwd or os.curdir)
    done = _export if name == "export" else _import
    return done(given, workspace, env)


def _export(given: Arguments, workspace: str, env: Mapping[str, str]) -> int:
    kind, hidden = given.value("--format") or "jsonl", masker(env)
    if kind not in FORMATS:
        raise UsageError(f"--format {kind} is unknown", f"It is one of: {', '.join(FORMATS)}.")
    directory = resolve(home_path(env), workspace, given.words[0])
    where = given.value("-o") or given.value("--output") or "-"
    folder = where != "-" and (where.endswith(os.sep) or os.path.isdir(where))
    where = where if where == "-" else os.path.abspath(os.path.expanduser(where))
    from agenyx.app.interchange.outgoing import exported, put

    if kind == "jsonl":
        made = exported(directory, hidden)
        files = list(made.files()) if folder else [("", made.whole())]
    else:
        name = f"{os.path.basename(directory)}.{kind}" if folder else ""
        files = [(name, _text(directory, kind, env).encode("utf-8", "replace"))]
    if where == "-":
        data = files[0][1]
        sys.stdout.buffer.write(json_safe(data) if kind != "md" and os.isatty(1) else data)
        sys.stdout.buffer.flush()
        return OK
    if not given.on("--force") and (there := next((p for p in _paths(where, files) if os.path.lexists(p)), "")):
        raise AgenyxError(f"{there} is there already and stays as it is", "Name another place, or add --force.")
    for path, (_, data) in zip(_paths(where, files), files, strict=True):
        put(path, data, force=given.on("--force"))
    written, size = _paths(where, files), sum(len(data) for _, data in files)
    text = f"{size:,} bytes were written to {written[-1]}\n"
    if len(written) > 1:
        text += f"and to {len(written) - 1} other files beside it, for subagents\n"
    return _say(given, {"version": 1, "session_id": os.path.basename(directory), "files": written}, text, env)


def _paths(where: str, files: Sequence[tuple[str, bytes]]) -> list[str]:
    return [os.path.join(where, name) if name else where for name, _ in files]


def _text(directory: str, kind: str, env: Mapping[str, str]) -> str:
    from agenyx.app import export, naming
    from agenyx.session import load

    state = load.load(directory)
    cwd = state.opened.workspace if state.opened else ""
    facts = export.Facts(os.path.basename(directory), naming.called(state), cwd)
    make = export.as_json if kind == "json" else export.markdown
    return masker(env).text(make(facts, state.entries))


def _import(given: Arguments, workspace: str, env: Mapping[str, str]) -> int:
    from agenyx.app.interchange.taking import take, transcript

    path = transcript(os.path.abspath(os.path.expanduser(given.words[0])))
    made = take(path, home_path(env), workspace, env)
    value = {
        "version": 1,
        "session_id": made.session,
        "directory": made.directory,
        "workspace": workspace,
        "title": made.title,
        "prompts": made.prompts,
        "steps": made.steps,
        "interrupted_calls": made.lost,
        "subagents": made.agents,
        "problems": made.problems,
    }
    lines = [f"session {made.session}: {made.title}\n"]
    lines.append(f"prompts {made.prompts}, responses {made.steps}, subagents {made.agents}\n")
    if made.lost:
        lines.append(f"calls without a result, which are marked as interrupted: {made.lost}\n")
    lines += [f"passed over, {what}: {count}\n" for what, count in made.problems.items()]
    if made.cwd and os.path.realpath(made.cwd) != workspace:
        lines.append(f"it was held in {made.cwd}, and goes on in {workspace}\n")
    lines.append(f"What it says came from that file, so read it first. To go on: agenyx --resume {made.session}\n")
    return _say(given, value, "".join(lines), env)


def _say(given: Arguments, value: object, text: str, env: Mapping[str, str]) -> int:
    hidden = masker(env)
    if given.on("--json"):
        show(hidden.text(json_safe(json.encode(value)).decode() + "\n"))
    else:
        show(hidden.text(safe(text)))
    return OK
