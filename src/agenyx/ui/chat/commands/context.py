"""What a command may use: the conversation, the transcript to write to, and the means to replace or leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

from agenyx.app.commands.spec import Desk
from agenyx.app.settings import Settings
from agenyx.core.errors import AgenyxError
from agenyx.proc.spawn import Processes
from agenyx.ui.chat.surface import Board
from agenyx.ui.chat.talk import Talk

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation


class Host(Protocol):
    """The loop, as far as commands reach it."""

    board: Board
    talk: Talk | None

    def steer(self, text: str) -> bool: ...
    def leave(self) -> None: ...
    def take_back(self, text: str) -> None:
        """Put text back into the input, for editing."""
        ...

    def paint(self, theme: str) -> bool:
        """Use the colours of a theme from now on. False where there are none."""
        ...

    def moved(self) -> None:
        """The conversation goes on elsewhere."""
        ...

    async def replace(self, talk: Talk, *, close: bool) -> None: ...
    async def reopen(self, session: str) -> None: ...


class Context:
    """`settings` are those that the conversation was opened with, `env` is our own environment, `home` the
    application home; `processes` starts what a command needs."""

    def __init__(
        self, host: Host, settings: Settings, env: Mapping[str, str], home: str, workspace: str, processes: Processes
    ) -> None:
        self.host, self.settings, self.env = host, settings, env
        self.home, self._workspace, self.processes = home, workspace, processes

    @property
    def workspace(self) -> str:
        """Where the conversation works; before it is open, where the program was started."""
        return self._workspace if self.host.talk is None else self.host.talk.status().workspace

    @property
    def talk(self) -> Talk:
        """The conversation. Raises AgenyxError before it is open."""
        if self.host.talk is None:
            raise AgenyxError("the conversation is not open yet", "Try again in a moment.")
        return self.host.talk

    @property
    def desk(self) -> Desk:
        """What the commands of the app get. Raises AgenyxError before the conversation is open."""
        return Desk(cast("Conversation", self.talk), self.home, self.env)  # a Talk is a Conversation, but in tests

    @property
    def out(self) -> Board:
        return self.host.board
