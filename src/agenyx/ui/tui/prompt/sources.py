"""What the input asks of the conversation and of the machine; whoever mounts it brings these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from agenyx.app.commands.spec import Command


class Waits(Protocol):
    """The conversation at the keyboard (`ui.chat.loop.Chat`), as far as the input knows it."""

    @property
    def running(self) -> bool: ...
    @property
    def queued(self) -> Collection[str]: ...
    def withdraw(self, index: int = -1) -> str | None:
        """Take an input that waits out of the queue, None when it is gone."""
        ...


class Earlier(Protocol):
    """The file of earlier inputs (`ui.chat.history.HistoryFile`). Both may take their time: they run on threads."""

    def load(self) -> list[str]: ...
    def store(self, text: str) -> None: ...


class Listed(Protocol):
    """The files of the workspace (`ui.chat.files.Files`)."""

    async def search(self, query: str, most: int, show: Callable[[list[str]], None]) -> None: ...


async def _none(command: Command, words: Sequence[str]) -> Sequence[tuple[str, str]]:
    return ()


def _unheard(message: str, fix: str) -> None:
    pass


class Sources(Struct, frozen=True):
    """`commands` gives those there are now, `values` what may be given to one, `resources` what servers have.

    `complain` tells what went wrong, and what to do. `env` is our own environment, which names the editor; `workspace`
    is where paths of images begin. `vim`: its keys.
    """

    driver: Waits
    history: Earlier | None = None
    commands: Callable[[], Iterable[Command]] = tuple
    files: Listed | None = None
    values: Callable[[Command, Sequence[str]], Awaitable[Sequence[tuple[str, str]]]] = _none
    resources: Callable[[], Sequence[tuple[str, str]]] = tuple
    complain: Callable[[str, str], None] = _unheard
    env: Mapping[str, str] = {}
    workspace: str = ""
    vim: bool = False
