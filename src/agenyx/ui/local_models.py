"""`agenyx local list`, `use`, `status` and `remove`: the models that are there. Words only; llm.local does the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tty import safe
from agenyx.llm.local import install as work
from agenyx.llm.local import paths
from agenyx.llm.local.server import window_of
from agenyx.ui.standard import show


def show_list(home: str, *, as_json: bool) -> int:
    """One line a model, the one in use marked, then what is unfinished."""
    models, used, halves = paths.all_installed(home), paths.installed(home), paths.unfinished(home)
    if as_json:
        record = {
            "in_use": used.name if used else None,
            "models": [_entry(model, home) for model in models],
            "unfinished": [{"name": name, "size": size} for name, size in halves],
        }
        show(json.pretty(record) + "\n")
        return 0
    lines: list[str] = []
    if models:
        width = max(len("NAME"), *(len(model.name) for model in models))
        lines.append(f"  {'NAME'.ljust(width)}  {'SIZE':>9}  {'WINDOW':>6}  LICENCE")
        for model in models:
            mark = "*" if used and model.name == used.name else " "
            licence = model.licence or "unknown"
            size, window = f"{model.size / 1e6:,.0f} MB", f"{window_of(home, model):,}"
            lines.append(f"{mark} {model.name.ljust(width)}  {size:>9}  {window:>6}  {licence}")
    else:
        lines.append("No local model is installed; run: agenyx local install")
    for name, size in halves:
        lines.append(f"Unfinished: {name}, {size / 1e6:,.0f} MB are here; install it again and it goes on from there")
    show(safe("\n".join(lines)) + "\n")
    return 0


def use(name: str, home: str, env: Mapping[str, str]) -> int:
    """A model that is installed, or a file that is installed now. Raises AgenyxError."""
    found = next((model for model in paths.all_installed(home) if model.name == name.lower()), None)
    if found is None and (name.lower().endswith(".gguf") or os.sep in name):
        return _use_file(name, home, env)
    if found is None:
        names = ", ".join(model.name for model in paths.all_installed(home))
        raise UsageError(
            f"no local model is called {safe(name)}",
            f"Installed: {names or 'none'}. A file of yours: agenyx local use PATH.gguf",
        )
    try:
        work.choose(home, found.name)
    except OSError as error:
        raise AgenyxError(
            f"{paths.models(home)} cannot be written: {error.strerror}", "Make it writable, or set AGENYX_HOME."
        ) from error
    _told(found, home)
    return 0


def _use_file(path: str, home: str, env: Mapping[str, str]) -> int:
    from agenyx.llm.local.sources import FromFile
    from agenyx.ui.local_install import INTERRUPTED, fetch

    installed = fetch(FromFile(os.path.abspath(path)), home, env)
    if installed is None:
        return INTERRUPTED
    _told(installed, home)
    return 0


def _told(model: paths.Installed, home: str) -> None:
    show(f"{safe(model.name)} is in use, with a window of {window_of(home, model):,} tokens.\n")
    if paths.runtime_missing():
        sys.stderr.write("Its runtime (xllamacpp) is not installed; run: pip install 'agenyx[local]'\n")


def show_status(home: str, *, as_json: bool) -> int:
    """The runtime, and every model with where it lies and where it came from."""
    models, used = paths.all_installed(home), paths.installed(home)
    if as_json:
        status = {
            "folder": paths.models(home),
            "runtime": not paths.runtime_missing(),
            "in_use": used.name if used else None,
            "models": [_entry(model, home) for model in models],
        }
        show(json.pretty(status) + "\n")
        return 0
    runtime = "missing; run: pip install 'agenyx[local]'" if paths.runtime_missing() else "installed (xllamacpp)"
    lines = [f"Runtime: {runtime}"]
    for model in models:
        lines += [
            f"Model:   {model.name}" + (" (in use)" if used and model.name == used.name else ""),
            f"  file    {model.file(home)}, {model.size / 1e6:,.0f} MB",
            f"  sha256  {model.sha256}",
            f"  window  {window_of(home, model):,} tokens",
            f"  from    {model.source}, licence {model.licence or 'unknown'}",
        ]
    if not models:
        lines.append("Model:   none; run: agenyx local install")
    show(safe("\n".join(lines)) + "\n")
    return 0


def _entry(model: paths.Installed, home: str) -> dict[str, object]:
    return {
        "name": model.name,
        "file": model.file(home),
        "size": model.size,
        "window": window_of(home, model),
        "sha256": model.sha256,
        "source": model.source,
        "licence": model.licence or None,
        "template": model.template,
    }


def remove(name: str, home: str, *, yes: bool) -> int:
    """The model of this name, installed or half installed; without a name the one in use. Raises AgenyxError."""
    from agenyx.ui.local_install import confirm

    models = paths.all_installed(home)
    wanted = name.lower()
    model = next((model for model in models if model.name == wanted), None) if name else paths.installed(home)
    if model is None:
        half = wanted or paths.DEFAULT.name  # what an unfinished installation left
        if work.model_name(half) != half or not work.leftovers(home, half):
            if not name:
                raise AgenyxError("no local model is installed", "See: agenyx local --help")
            names = ", ".join(model.name for model in models)
            raise UsageError(f"no local model is called {safe(name)}", f"Installed: {names or 'none'}.")
        work.remove(home, half)
        show("Removed an unfinished installation.\n")
        return 0
    sys.stderr.write(safe(f"{model.file(home)}: {model.size / 1e6:,.0f} MB\n"))
    confirm(yes, "Remove it?")
    work.remove(home, model.name)
    show(f"Removed {safe(model.name)}.\n")
    left = paths.installed(home)
    if left is not None:
        show(f"{safe(left.name)} is in use.\n")
    return 0
