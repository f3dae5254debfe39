"""Cassettes: every exchange with a model server in one file, so that it can be played again without network.

A file of JSON lines: a Head, then an Exchange for each request. It is created for one recording with mode 0600 and only
ever appended to. Credentials are masked by value before anything is written; request headers, host names that are not
commonly known and the values of query parameters are not written at all. `llm/record.py` listens in on the
client, `llm/replay.py` plays a cassette.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from agenyx._version import VERSION
from agenyx.config.profiles import LOOPBACK, Profile, ProviderType, Wire
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.llm.cassette_mask import ByteMasker
from agenyx.llm.dialects import HOSTS
from agenyx.llm.request import Options

FORMAT = 1
HIDDEN_HOST = "server.invalid"  # a name that never resolves (RFC 6761)
PUBLIC = frozenset({*HOSTS, "api.anthropic.com"})
PARAMETERS = ("api-version",)  # query parameters whose value is no secret

End = Literal["whole", "left", "fault"]


class Head(Struct, frozen=True):
    """The first line: the format, who wrote it, and the profile without its secrets. `secured`: there was a key.

    `model` and `options` are those that the session began with.
    """

    cassette: int
    agenyx: str
    type: ProviderType
    wire: Wire
    base_url: str
    model: str
    deployment: str = ""
    api_version: str = ""
    secured: bool = False
    options: Options = Options()


class Sent(Struct, frozen=True, omit_defaults=True):
    """A request. Its body is the first `keep` characters of the exchange before this one, then `body`.

    `sha256` is that of the whole masked body, in hex.
    """

    method: str
    path: str
    sha256: str
    body: str = ""
    keep: int = 0


class Piece(Struct, frozen=True, omit_defaults=True):
    """Bytes that arrived in one read, `at` seconds after the request was sent; as Base64 where they are no text."""

    at: float
    text: str = ""
    base64: str = ""


class Fault(Struct, frozen=True, omit_defaults=True):
    """An error below HTTP: the name of its class in `http_errors`, and what it said."""

    kind: str
    message: str
    hint: str = ""
    refused: bool = False


class Received(Struct, frozen=True, omit_defaults=True):
    """A response as far as it came. `status` is 0 where none came.

    `end`: `whole`, or `left` where the reader went away before the end, or `fault`. `withheld` says that the response
    spelled a credential in fragments that no mask can cover, so that its pieces are missing.
    """

    status: int
    headers: dict[str, str]
    pieces: tuple[Piece, ...]
    end: End
    fault: Fault | None = None
    withheld: bool = False


class Exchange(Struct, frozen=True):
    """One line: the request number `n` (from 1, in the order of sending) and its response."""

    n: int
    request: Sent
    response: Received


class Recorder:
    """Writes one cassette. A write that fails ends the recording, not the session: `tell` gets a sentence about it."""

    def __init__(
        self,
        path: str,
        profile: Profile,
        model: str,
        secrets: tuple[str, ...],
        tell: Callable[[str], None],
        *,
        options: Options | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates the file. Raises UsageError where it cannot, or where it exists already.

        Without a model the file stays empty until `begin` says which one was chosen, or until it is closed.
        """
        self.clock = clock
        self._profile = profile
        self._waiting: list[Exchange] | None = []
        self.masker = ByteMasker((*secrets, profile.api_key))
        self._path, self._tell = path, tell
        self._count = 0
        self._before = ""
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise UsageError(
                f"{path} exists already", "Name a new file with --record: nothing is overwritten."
            ) from None
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}", "Name another file with --record."
            ) from None
        self._open = True
        if model:
            self.begin(model, options or Options())

    def begin(self, model: str, options: Options) -> None:
        """The head can be written, and what was carried before: how the models were listed."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._write(_head(self._profile, model, options, self.masker))
            for exchange in waiting:
                self._write(exchange)

    def number(self) -> int:
        """The number of the request that is about to be sent."""
        self._count += 1
        return self._count

    def write(self, n: int, method: str, url: str, body: bytes, received: Received) -> None:
        """Append one exchange. `body` as it was sent, `received` masked already."""
        if not self._open:
            return
        text = self.masker.text(body.decode("utf-8", "replace"))
        # A request repeats the one before it but for two closing brackets: written whole, a long session would grow
        # with the square of its steps.
        common = self._before[:-2]
        keep = len(common) if text.startswith(common) else 0
        self._before = text
        sent = Sent(method, path_of(url, self.masker), digest(text), text[keep:], keep)
        exchange = Exchange(n, sent, received)
        if self._waiting is not None:
            self._waiting.append(exchange)
        else:
            self._write(exchange)

    def close(self) -> None:
        """Idempotent."""
        self.begin("", Options())
        if self._open:
            self._open = False
            os.close(self._file)

    def _write(self, line: Head | Exchange) -> None:
        if not self._open:
            return
        data = json.encode(line) + b"\n"
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.close()
            self._tell(f"The recording ends here: {self._path} cannot be written ({error.strerror}).")


def digest(body: str) -> str:
    """What a request is recognised by."""
    return hashlib.sha256(body.encode()).hexdigest()


def path_of(url: str, masker: ByteMasker) -> str:
    """The path of an address; of its query only names, and the values that are known to be harmless."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = "&".join(f"{name}={value}" if name in PARAMETERS else name for name, value in pairs)
    return masker.text(parts.path + ("?" + query if query else ""))


def _head(profile: Profile, model: str, options: Options, masker: ByteMasker) -> Head:
    parts = urlsplit(profile.base_url)
    host = f"{parts.scheme}://{parts.netloc}"
    if profile.host not in LOOPBACK and profile.host not in PUBLIC:
        host = f"https://{HIDDEN_HOST}"
    mask = masker.text
    return Head(
        FORMAT,
        VERSION,
        profile.type,
        profile.wire,
        mask(host + parts.path),
        mask(model),
        mask(profile.deployment),
        mask(profile.api_version),
        bool(profile.api_key),
        options,
    )
