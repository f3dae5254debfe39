"""Stands under everything by which Agenyx changes the world: opening a new file, write, fsync, rename, link, unlink,
mkdir, truncate and the start of a process. It counts them, and at one of them it ends its own process by SIGKILL.

Installed in a process that lives for one run only. What writes through a Python file object comes by here as well.
"""

from __future__ import annotations

import builtins
import io
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

_WRITES = os.O_CREAT | os.O_TRUNC
_ID = re.compile(r"\b(?:call|rec|turn|apr|prompt)_[0-9a-zA-Z]+|[0-9a-f]{8,}")
_SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")


class Point(msgspec.Struct, frozen=True, order=True):
    """The `number`-th time (from 1) that a run does `kind` at `place`, the path without what differs between runs."""

    kind: str
    place: str
    number: int


class Kill(msgspec.Struct, frozen=True):
    """When a process ends itself: before, in the middle of (half) or after a point; or before its `nth` point."""

    point: Point | None = None
    when: str = "before"
    nth: int = 0


class Shim:
    """`top` is the folder that holds all of a run; what happens elsewhere, but for pipes, is no point."""

    def __init__(self, top: str, kill: Kill) -> None:
        self.trace: list[Point] = []
        self._top, self._kill = os.path.realpath(top) + "/", kill
        self._counts: dict[tuple[str, str], int] = {}
        self._sessions: dict[str, str] = {}
        self._guard = threading.Lock()

    def install(self) -> None:
        """For the rest of this process."""
        for name, place in (
            ("fsync", self._of_descriptor),
            ("fdatasync", self._of_descriptor),
            ("ftruncate", self._of_descriptor),
            ("unlink", self._of_path),
            ("mkdir", self._of_path),
            ("rmdir", self._of_path),
        ):
            setattr(os, name, self._plain(name, getattr(os, name), place))
        for name in ("rename", "replace", "link", "symlink"):
            setattr(os, name, self._plain(name, getattr(os, name), self._of_target))
        os.write = self._writing(os.write)
        os.pwrite = self._writing(os.pwrite)
        os.open = self._opening(os.open)
        builtins.open = self._files(builtins.open)
        subprocess.Popen = self._spawning(subprocess.Popen)  # type: ignore[misc]

    def meet(self, kind: str, place: str) -> str:
        """Count one point. Says when to end there, "" for not at all; it does not return where that is before it."""
        if not place:
            return ""
        with self._guard:
            number = self._counts[kind, place] = self._counts.get((kind, place), 0) + 1
            point = Point(kind, place, number)
            self.trace.append(point)
            mine = point == self._kill.point or len(self.trace) == self._kill.nth
        when = self._kill.when if mine else ""
        if when == "before":
            die()
        return when

    # --- the calls of the system -----------------------------------------------------------------------------------

    def _plain(self, kind: str, real: Callable[..., Any], place: Callable[..., str]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            when = self.meet(kind, place(*args, **kwargs))
            done = real(*args, **kwargs)
            if when:
                die()
            return done

        return call

    def _writing(self, real: Callable[..., int]) -> Callable[..., int]:
        def write(descriptor: int, data: Any, *at: int) -> int:
            when = self.meet("write", self._of_descriptor(descriptor))
            if when == "half":
                real(descriptor, bytes(data)[: len(data) // 2], *at)
                die()
            done = real(descriptor, data, *at)
            if when:
                die()
            return done

        return write

    def _opening(self, real: Callable[..., int]) -> Callable[..., int]:
        def opened(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            when = ""
            if flags & _WRITES:
                when = self.meet("open", self._of_path(path, dir_fd=kwargs.get("dir_fd")))
            descriptor = real(path, flags, *args, **kwargs)
            if when:
                die()
            return descriptor

        return opened

    def _files(self, real: Callable[..., Any]) -> Callable[..., Any]:
        shim = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                when = shim.meet("write", shim._of_descriptor(self.fileno()))
                if when == "half":
                    super().write(bytes(data)[: len(data) // 2])
                    die()
                done = super().write(data)
                if when:
                    die()
                return done

        def opened(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            if not set(mode) & set("wax+"):
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            if not isinstance(file, int) and shim.meet("open", shim._of_path(file)):
                real(file, mode, opener=opener).close()
                die()
            raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

        return opened

    def _spawning(self, real: type[Any]) -> type[Any]:
        shim = self

        class Popen(real):  # type: ignore[misc]
            def __init__(self, argv: Any, *args: Any, **kwargs: Any) -> None:
                when = shim.meet("spawn", os.path.basename(os.fsdecode(argv[0])))
                super().__init__(argv, *args, **kwargs)
                if when:
                    die()

        return Popen

    # --- where -----------------------------------------------------------------------------------------------------

    def _of_target(self, _source: Any, target: Any, *, dst_dir_fd: int | None = None, **_: Any) -> str:
        return self._of_path(target, dir_fd=dst_dir_fd)

    def _of_path(self, path: Any, *_: Any, dir_fd: int | None = None, **__: Any) -> str:
        name = os.fsdecode(path)
        if not os.path.isabs(name):
            name = os.path.join(os.getcwd() if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}"), name)
        return self._named(name)

    def _of_descriptor(self, descriptor: int, *_: Any) -> str:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        return "pipe" if path.startswith("pipe:") else self._named(path)

    def _named(self, path: str) -> str:
        if not path.startswith(self._top):
            return ""
        for found in _SESSION.findall(path):
            self._sessions.setdefault(found, f"S{len(self._sessions) + 1}")
        path = _SESSION.sub(lambda found: self._sessions[found[0]], path.removeprefix(self._top))
        return _ID.sub("*", path)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    while True:  # of several threads another one may get the signal
        time.sleep(1)
