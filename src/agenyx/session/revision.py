"""What a session is at one moment, as a short text, by which whoever deletes it says which content they saw.

Reference: AgentX §8.7. Programs only compare the texts. Reads, and writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress

from agenyx.core.errors import AgenyxError
from agenyx.session.inventory import Found
from agenyx.session.store import TRANSCRIPT

REVISION = re.compile(r"r1_[A-Za-z0-9_-]{43}")
PASS_BYTES = 2 << 30  # read for one page of a list
_TOKEN = re.compile(r"p1_[A-Za-z0-9_-]{50}")
_VERSION = b"\x01"


class Moved(Exception):
    """The transcript changed while it was read."""


class Budget:
    """How many bytes one operation may still read. Exceeding it fails: a revision of a part would prove nothing."""

    def __init__(self, left: int = PASS_BYTES) -> None:
        self.left = left

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise AgenyxError(
                "the transcripts are too large to be read for this", "Ask for fewer: --session-page-size 1"
            )


def revision_of(folder: int, budget: Budget | None = None) -> str:
    """Of the session in an opened folder: its identity, and that and the content of its transcript.

    Raises OSError, AgenyxError when the budget is spent, Moved.
    """
    place = os.fstat(folder)
    descriptor = os.open(TRANSCRIPT, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with open(descriptor, "rb", buffering=0) as file:
        before = os.fstat(descriptor)
        if budget is not None:
            budget.take(before.st_size)
        digest = hashlib.file_digest(file, "sha256").digest()
        after = os.fstat(descriptor)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise Moved
    facts = (place.st_dev, place.st_ino, after.st_dev, after.st_ino, after.st_size)
    text = " ".join(map(str, facts)).encode() + b"\n" + digest
    return "r1_" + _short(hashlib.sha256(text).digest())


def generation(found: Sequence[Found]) -> bytes:
    """32 bytes that differ once a session came, went or was written."""
    rows = (f"{one.id} {one.inode} {one.size} {one.updated_ns}\n" for one in found)
    return hashlib.sha256("".join(rows).encode()).digest()


def page_token(offset: int, now: bytes) -> str:
    """Where the next page begins, valid for this generation only."""
    return "p1_" + _short(_VERSION + offset.to_bytes(4, "big") + now)


def offset_of(token: str, now: bytes, total: int) -> int | None:
    """Where the page of a token begins; None when it is none of ours, or the sessions are no longer the same."""
    if not _TOKEN.fullmatch(token):
        return None
    data = b""
    with suppress(ValueError):
        data = urlsafe_b64decode(token[3:] + "==")
    offset = int.from_bytes(data[1:5], "big")
    valid = len(data) == 37 and data[:1] == _VERSION and data[5:] == now and page_token(offset, now) == token
    return offset if valid and 0 < offset < total else None


def _short(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
