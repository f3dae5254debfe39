"""Host names to addresses, without holding up the loop or the end of the program. Sends nothing itself."""

from __future__ import annotations

import _thread
import asyncio
import socket
from contextlib import suppress

SocketAddress = tuple[int, tuple[str | int, ...]]
"""Address family, and the address as `connect` takes it."""


async def look_up(host: str, port: int | None) -> list[SocketAddress]:
    """The addresses of a host by the system's resolver, in its order. Raises OSError."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[SocketAddress]] = loop.create_future()

    def settle(found: list[SocketAddress] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def ask() -> None:
        found: list[SocketAddress] | OSError
        try:
            info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found = [(int(entry[0]), tuple(part for part in entry[4] if not isinstance(part, bytes))) for entry in info]
        except OSError as error:
            found = error
        except UnicodeError as error:
            found = OSError(f"the name is not valid: {error}")
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, found)

    # Not the loop's executor: a name server that hangs would then hold up the end of the program.
    _thread.start_new_thread(ask, ())
    return await answer
