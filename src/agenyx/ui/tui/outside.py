"""A text in the person's own editor: the screen is given up meanwhile, and taken again when the editor ends."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from textual.app import App, SuspendNotSupported

from agenyx.core.errors import AgenyxError
from agenyx.proc.foreground import run
from agenyx.proc.programs import on_path

_USUAL = ("sensible-editor", "editor", "nano", "vi", "vim")


def editor(env: Mapping[str, str]) -> list[str]:
    """The command of $VISUAL or $EDITOR, as words; else an editor that is installed. Raises AgenyxError."""
    for name in ("VISUAL", "EDITOR"):
        if said := env.get(name, "").strip():
            try:
                return shlex.split(said)
            except ValueError as error:
                raise AgenyxError(f"${name} cannot be understood ({error})", f"Set {name} to a command.") from None
    for name in _USUAL:
        if path := on_path(name, env):
            return [path]
    raise AgenyxError("there is no editor", "Set EDITOR to the command of one, such as EDITOR=nano.")


async def edited(app: App[Any], text: str, env: Mapping[str, str], name: str = "text.md") -> str:
    """Open a text in the editor; returns it as it is when the editor ends. Raises AgenyxError."""
    words = editor(env)
    folder = await asyncio.to_thread(_folder, env)
    path = os.path.join(folder, name)
    try:
        await asyncio.to_thread(_write, path, text)
        ended = await _ended(app, [*words, path], env)
        if isinstance(ended, OSError):
            raise ended
        if ended != 0:
            raise AgenyxError(f"the editor {words[0]} ended with {ended}", "Set EDITOR to a command that works.")
        return await asyncio.to_thread(_read, path)
    except OSError as error:
        raise AgenyxError(f"the editor {words[0]} cannot be used: {error.strerror or error}", "Set EDITOR.") from None
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _ended(app: App[Any], argv: list[str], env: Mapping[str, str]) -> int | OSError:
    """Run it while it has the terminal; its exit code, or why it could not be started. Raises AgenyxError."""

    def run_() -> int | OSError:
        try:
            return run(argv, env)
        except OSError as error:
            return error

    cancelled: asyncio.CancelledError | None = None
    try:
        with app.suspend(), _deaf():  # nothing may be raised within: the toolkit would not take the terminal again
            running = asyncio.get_running_loop().run_in_executor(None, run_)
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError as error:
                cancelled = error
    except SuspendNotSupported:
        raise AgenyxError("this terminal cannot be given to an editor", "Copy the text instead.") from None
    if cancelled is not None:
        raise cancelled
    return running.result()


def _heard(number: int, frame: FrameType | None) -> None:
    pass


@contextmanager
def _deaf() -> Generator[None]:
    """Ctrl+C is the editor's: it goes to every process of the terminal's job, so to us as well."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _heard)  # not SIG_IGN, which the editor would inherit
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _folder(env: Mapping[str, str]) -> str:
    runtime = env.get("XDG_RUNTIME_DIR", "")
    return tempfile.mkdtemp(prefix="agenyx-", dir=runtime if os.path.isdir(runtime) else None)


def _write(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text.encode("utf-8", "replace").decode())


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
