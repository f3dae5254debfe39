"""Reads one HTTP/1.x response from bytes, without I/O. Knows no socket, no time and no event loop.

Strict where laxness is dangerous (framing, header names) and lenient where it is harmless (bare LF line ends in the
head). Body bytes are handed over as they come; nothing waits for a chunk to be whole.
"""

from __future__ import annotations

import re

from agenyx.llm.http_errors import ProtocolError, Truncated

HEAD_BYTES = 256 * 1024
LINE_BYTES = 4096  # a chunk-size line with its extensions
TRAILER_BYTES = 8192
INTERIM = 16  # 1xx responses before the real one

_STATUS = re.compile(rb"HTTP/1\.([0-9]) ([1-9][0-9]{2})(?: [^\x00-\x08\x0a-\x1f\x7f]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_END = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(r"[0-9]{1,18}")

_HEAD, _FIXED, _CLOSE, _CHUNKED, _TRAILER, _OVER = range(6)


class Reader:
    """One response: feed it bytes, look at `status` (0 until the head is there), take the body, see `ended`.

    `reusable` says whether the connection may carry another request once `ended`; `pending` counts body bytes that
    were not taken yet. Raises ProtocolError and Truncated without `sent` and `received`: the connection knows those.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.reusable = False
        self.pending = 0
        self._body: list[bytes] = []
        self._head = bytearray()
        self._tail: bytes = b""
        self._mode = _HEAD
        self._left = 0
        self._crlf = False  # the line end behind a chunk is due
        self._interim = 0
        self._trailer = 0
        self._sizes: dict[bytes, int] = {}  # chunk-size lines repeat: checked once each

    @property
    def ended(self) -> bool:
        return self._mode == _OVER

    def take(self) -> bytes:
        """All body bytes that are there, joined; empty when there are none."""
        body = self._body
        if not body:
            return b""
        joined = body[0] if len(body) == 1 else b"".join(body)
        body.clear()
        self.pending = 0
        return joined

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the connection."""
        if self._mode == _HEAD:
            rest = self._read_head(data)
            if rest is None:
                return
            data = rest
        match self._mode:
            case 3:  # _CHUNKED
                self._read_chunks(data)
            case 1:  # _FIXED
                part = data[: self._left]
                self._add(part)
                self._left -= len(part)
                if not self._left:
                    self._finish(data[len(part) :])
            case 2:  # _CLOSE
                self._add(data)
            case 4:  # _TRAILER
                self._read_trailer(data)
            case _:
                self._finish(data)

    def eof(self) -> None:
        """The peer closed. Raises Truncated unless the response was complete."""
        self.reusable = False
        if self._mode == _CLOSE:
            self._mode = _OVER
        elif self._mode != _OVER:
            where = "before it answered" if self._mode == _HEAD else "in the middle of its answer"
            raise Truncated(f"the server closed the connection {where}")

    def _add(self, part: bytes) -> None:
        if part:
            self._body.append(part)
            self.pending += len(part)

    def _finish(self, rest: bytes) -> None:
        self._mode = _OVER
        if rest:  # bytes that no request asked for
            self.reusable = False

    # --- head --------------------------------------------------------------------------------------------------------

    def _read_head(self, data: bytes) -> bytes | None:
        """The bytes behind the head, or None while it is not whole."""
        head = self._head
        searched = max(0, len(head) - 3)
        head += data
        while True:
            if not b"HTTP/1.".startswith(head[:7]):
                raise ProtocolError(f"the server does not speak HTTP/1.1: its answer begins with {bytes(head[:40])!r}")
            found = _END.search(head, searched)
            if (found.start() if found else len(head)) > HEAD_BYTES:
                raise ProtocolError(f"the head of the answer is larger than {HEAD_BYTES} bytes")
            if not found:
                return None
            rest = bytes(head[found.end() :])
            self._parse_head(bytes(head[: found.start()]))
            head.clear()
            if self.status:
                return rest
            self._interim += 1
            if self._interim > INTERIM:
                raise ProtocolError("the server sends interim answers without end")
            if not rest:
                return None
            head += rest
            searched = 0

    def _parse_head(self, head: bytes) -> None:
        first, *lines = (line.removesuffix(b"\r") for line in head.split(b"\n"))
        status = _STATUS.fullmatch(first)
        if not status:
            raise ProtocolError(f"the status line is not HTTP: {first[:80]!r}")
        code = int(status[2])
        if code == 101:
            raise ProtocolError("the server switches to a protocol that was not asked for")
        if code < 200:
            return
        headers: dict[str, str] = {}
        for line in lines:
            found = _HEADER.fullmatch(line)
            if not found:
                raise ProtocolError(f"a header line is not HTTP: {line[:80]!r}")
            name, value = found[1].decode("ascii").lower(), found[2].decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        connection = headers.get("connection", "").lower()
        old = status[1] == b"0"
        self.reusable = "close" not in connection and (not old or "keep-alive" in connection)
        self._frame(code, headers)
        self.headers = headers
        self.status = code

    def _frame(self, code: int, headers: dict[str, str]) -> None:
        coding = headers.get("transfer-encoding", "").strip().lower()
        lengths = {part.strip() for part in headers.get("content-length", "").split(",")}
        if code in (204, 304):
            self._mode = _OVER
        elif coding == "chunked":
            self._mode = _CHUNKED
        elif coding:
            raise ProtocolError(f"the answer has a transfer encoding that was not asked for: {coding[:40]!r}")
        elif lengths != {""}:
            (length, *others) = lengths
            if others or not _LENGTH.fullmatch(length):
                raise ProtocolError(f"the content length is not one number: {headers['content-length'][:40]!r}")
            self._left = int(length)
            self._mode = _FIXED if self._left else _OVER
        else:
            self._mode = _CLOSE
            self.reusable = False

    # --- chunks ------------------------------------------------------------------------------------------------------

    def _read_chunks(self, data: bytes) -> None:
        if self._tail:
            data = self._tail + data
            self._tail = b""
        sizes, body, end = self._sizes, self._body, len(data)
        left, position = self._left, 0
        while True:
            if left:
                stop = position + left
                if stop > end:
                    if position < end:
                        self._add(data[position:])
                    self._left = stop - end
                    return
                body.append(data[position:stop])
                self.pending += left
                position = stop
                left = self._left = 0
                self._crlf = True
            if self._crlf:
                mark = data[position : position + 2]
                if mark != b"\r\n":
                    if mark not in (b"", b"\r"):
                        raise ProtocolError(f"a chunk of the answer is longer than it says: {mark!r}")
                    self._tail = mark
                    return
                position += 2
                self._crlf = False
            stop = data.find(b"\r\n", position)
            if stop < 0 or stop - position > LINE_BYTES:
                if max(stop, end) - position > LINE_BYTES:
                    raise ProtocolError("a chunk-size line of the answer is too long")
                self._tail = data[position:]
                return
            line = data[position:stop]
            position = stop + 2
            size = sizes.get(line)
            if size is None:
                found = _SIZE.fullmatch(line)
                if not found:
                    raise ProtocolError(f"a chunk size of the answer is not a number: {line[:40]!r}")
                size = int(found[1], 16)
                if len(sizes) < 1024:
                    sizes[line] = size
            if not size:
                self._mode = _TRAILER
                self._read_trailer(data[position:])
                return
            left = size

    def _read_trailer(self, data: bytes) -> None:
        data = self._tail + data
        self._tail = b""
        while (stop := data.find(b"\n")) >= 0:
            line = data[:stop].removesuffix(b"\r")
            data = data[stop + 1 :]
            if not line:
                self._finish(data)
                return
            self._trailer += len(line)
            if not _HEADER.fullmatch(line):
                raise ProtocolError(f"a trailer line is not HTTP: {line[:80]!r}")
        if self._trailer + len(data) > TRAILER_BYTES:
            raise ProtocolError("the trailer of the answer is too long")
        self._tail = data
