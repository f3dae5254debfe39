"""The HTTP client that writes down what it carries. Changes nothing of an exchange, knows nothing of models."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from agenyx.llm import http
from agenyx.llm.cassette import End, Fault, Piece, Received, Recorder
from agenyx.llm.http_errors import ConnectFailed, HttpError, ProxyRefused, TlsFailed
from agenyx.llm.request import Options

# What the model layer reads, and what a provider's support asks for.
HEADERS = (
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "location",
    "x-request-id",
    "request-id",
    "apim-request-id",
)


class RecordingClient(http.Client):
    """The HTTP client, which also writes down what it carries. Closing it closes the recording."""

    def __init__(self, env: Mapping[str, str], recorder: Recorder, *, idle: float = http.IDLE_SECONDS) -> None:
        super().__init__(env, idle=idle)
        self._recorder = recorder

    def stream(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, *, idle: float | None = None
    ) -> http.Exchange:
        """See http.Client."""
        return _Heard(super().stream(method, url, headers, body, idle=idle), self._recorder, method, url, body or b"")

    def begin(self, model: str, options: Options) -> None:
        """See cassette.Recorder."""
        self._recorder.begin(model, options)

    async def close(self) -> None:
        await super().close()
        self._recorder.close()


class _Heard(http.Exchange):
    """Passes an exchange on and writes it down when it is over, however it ends."""

    def __init__(self, inner: http.Exchange, recorder: Recorder, method: str, url: str, body: bytes) -> None:
        self._inner, self._recorder = inner, recorder
        self._asked = (method, url, body)
        self._number = 0
        self._heard: _HeardResponse | None = None

    async def __aenter__(self) -> http.Response:
        self._number = self._recorder.number()
        started = self._recorder.clock()
        try:
            response = await self._inner.__aenter__()
        except HttpError as error:
            self._write(Received(0, {}, (), "fault", self._fault(error)))
            raise
        except BaseException:
            self._write(Received(0, {}, (), "left"))
            raise
        self._heard = _HeardResponse(response, self._recorder.clock, started)
        return self._heard

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            await self._inner.__aexit__(kind, error, trace)
        finally:
            if self._heard is not None:
                self._write(self._received(self._heard))

    def _received(self, heard: _HeardResponse) -> Received:
        mask = self._recorder.masker
        headers = {name: mask.text(heard.headers[name]) for name in HEADERS if name in heard.headers}
        whole = heard.ended or heard.lingering
        end: End = "fault" if heard.fault else "whole" if whole else "left"
        fault = self._fault(heard.fault) if heard.fault else None
        pieces = mask.pieces([data for _, data in heard.pieces])
        if mask.spelled(b"".join(pieces)):
            return Received(heard.status, headers, (), end, fault, withheld=True)
        kept = tuple(_piece(at, data) for (at, _), data in zip(heard.pieces, pieces, strict=True) if data)
        return Received(heard.status, headers, kept, end, fault)

    def _fault(self, error: HttpError) -> Fault:
        hint = error.hint if isinstance(error, TlsFailed | ProxyRefused) else ""
        refused = isinstance(error, ConnectFailed) and error.refused
        mask = self._recorder.masker.text
        return Fault(type(error).__name__, mask(error.message), mask(hint), refused)

    def _write(self, received: Received) -> None:
        self._recorder.write(self._number, *self._asked, received)


class _HeardResponse(http.Response):
    """Passes a response on and keeps what was read of it, with the time since `started`."""

    def __init__(self, inner: http.Response, clock: Callable[[], float], started: float) -> None:
        self._inner, self._clock, self._started = inner, clock, started
        self.status, self.headers, self.lingering = inner.status, inner.headers, False
        self.pieces: list[tuple[float, bytes]] = []
        self.ended = False
        self.fault: HttpError | None = None

    async def read(self) -> bytes:
        """See http.Response."""
        try:
            data = await self._inner.read()
        except HttpError as error:
            self.fault = error
            raise
        if data:
            self.pieces.append((self._clock() - self._started, data))
        else:
            self.ended = True
        return data

    def linger(self) -> None:
        self.lingering = True
        self._inner.linger()


def _piece(at: float, data: bytes) -> Piece:
    try:
        return Piece(round(at, 3), data.decode())
    except UnicodeDecodeError:
        return Piece(round(at, 3), base64=base64.b64encode(data).decode())
