"""Opens the conversation of a session as the agent wants it: with its tools, hooks and servers, behind its approver."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from agenyx.api.approving import ProgramApprover
from agenyx.api.own import Own
from agenyx.api.setup import Setup, from_home, split_servers
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.config.home import home_path
from agenyx.core.errors import AgenyxError
from agenyx.core.events import AgentEvent

if TYPE_CHECKING:
    from agenyx.app.mcp_inside import Inside, Opener


class Opened:
    """A conversation with the servers that live in this process. Close it."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation, self.inside = conversation, cast("Inside | None", None)

    async def close(self) -> None:
        try:
            if self.inside is not None:
                await self.inside.close()
        finally:
            await self.conversation.close()


async def opened(
    setup: Setup,
    settings: Settings,
    approver: ProgramApprover,
    emit: Callable[[AgentEvent], None],
    barrier: Callable[[], Awaitable[None]],
) -> Opened:
    """Raises AgenyxError; nothing is left open then."""
    config, inside = split_servers(setup.servers)
    settings = from_home(settings, setup.env, home_path(setup.env))
    settings = replace(settings, mcp_config=config, retool=bool(setup.tools or inside), defer=approver.how == "defer")
    given = None if isinstance(setup.provider, str) else setup.provider
    conversation = await open_conversation(
        settings, setup.env, emit, approver, barrier, setup.hooks, given=given, secrets=setup.secrets
    )
    made = Opened(conversation)
    try:
        session = conversation.session_id
        conversation.parts.registry.add(*cast("list[Any]", [Own(one, setup.deps, session) for one in setup.tools]))
        if inside:
            await _serve(made, {name: opener(server) for name, server in inside.items()}, setup)
    except BaseException:
        await made.close()
        raise
    return made


async def _serve(made: Opened, openers: dict[str, Opener], setup: Setup) -> None:
    from agenyx.app.mcp_inside import Inside  # few agents have any

    problems: list[str] = []
    made.inside = Inside(openers, made.conversation, setup.env)
    await made.inside.connect(problems.append)
    if problems:
        raise AgenyxError("; ".join(problems), "It is a server of this program: see what it raises.")


def opener(server: object) -> Opener:
    """How a server of the program is connected to: an object of the official SDK, or a function that answers messages.

    Raises UsageError for anything else.
    """
    from agenyx.api.threads import is_async
    from agenyx.app.mcp_inside import HandlerLine

    if callable(server) and is_async(server):
        return partial(HandlerLine, cast("Any", server))
    from agenyx.app.mcp_sdk import SdkLine, lowlevel

    return partial(SdkLine, lowlevel(server))
