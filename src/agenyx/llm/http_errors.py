"""What can go wrong below HTTP, as one tree. Says nothing about models, retries or people's settings."""

from __future__ import annotations

from typing import Literal

Phase = Literal["head", "body"]


class HttpError(Exception):
    """`sent`: request bytes were handed to the system; `received`: how many bytes of the response had arrived."""

    def __init__(self, message: str, *, sent: bool = False, received: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.sent = sent
        self.received = received


class ConnectFailed(HttpError):
    """No connection. `refused`: the host answered, and nothing listens there. `proxy`: it was the proxy's address."""

    def __init__(self, message: str, *, refused: bool = False, proxy: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        self.proxy = proxy


class TlsFailed(HttpError):
    """The server is not who it should be, or speaks no TLS. `hint` says what to do next."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class IdleTimeout(HttpError):
    """No byte moved for the whole idle limit, in seconds, while `phase` was awaited."""

    def __init__(self, phase: Phase, limit: float, *, sent: bool, received: int) -> None:
        super().__init__(f"nothing arrived for {limit:g} s", sent=sent, received=received)
        self.phase: Phase = phase


class Truncated(HttpError):
    """The connection ended before the response did."""


class ProtocolError(HttpError):
    """The peer does not speak HTTP/1.1 as it should, or the request cannot be written in it."""


class ProxyRefused(HttpError):
    """The proxy of the environment cannot be used; `hint` says what to do next."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint
