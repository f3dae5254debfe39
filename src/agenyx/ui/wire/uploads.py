"""Files that an AgentX host sends for a prompt to come: begun, sent in pieces, committed (reference: AgentX §7.7, §10).

Each upload that was begun ends with exactly one notice that is terminal. Bytes wait in memory until they are committed;
what was committed waits for the prompt of its uuid. Knows no stream; what keeps bytes is told by a callable.
"""

from __future__ import annotations

import binascii
import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct

from agenyx.core.messages import Media
from agenyx.core.pictures import Broken, picture
from agenyx.ui.wire.outbound import ImportRejected, ImportResult, JsonObject

VERSION = 1
MOST_ITEMS = 8  # of one prompt
MOST_BYTES = 40 << 20  # of one prompt
MOST_ITEM = 20 << 20
MOST_OPEN = 8
MOST_UPLOADS = 100_000  # of one stream
SECONDS = 120.0
NAME_BYTES = 255
PIECE = 262_144  # bytes of one piece
TYPES = ("image/png", "image/jpeg", "application/pdf")
_COMMON = {"type", "version", "operation", "upload_id"}
_NAMED = {"prompt_uuid", "attachment_id"}
_FIELDS: dict[str, set[str]] = {
    "begin": _COMMON | _NAMED | {"name", "size_bytes", "mime_type", "sha256"},
    "chunk": _COMMON | {"sequence", "data"},
    "commit": _COMMON,
    "abort": _COMMON,
}
_ID = "[A-Za-z0-9][A-Za-z0-9_-]{0,62}"
_UPLOAD, _ATTACHMENT = re.compile(f"upl_{_ID}"), re.compile(f"att_{_ID}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_SHA = re.compile(r"[0-9a-f]{64}")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Upload(Struct):
    upload: str
    attachment: str
    prompt: str
    name: str
    size: int
    mime: str
    sha256: str
    data: bytearray
    pieces: int = 0


class Attachment(Struct, frozen=True):
    """A committed file: what the host was told of it, and what a message holds."""

    prompt: str
    manifest: JsonObject
    media: Media


class Uploads:
    """`put` writes a record; `keep` keeps bytes under a name, or says why not; `taken` tells whether a prompt of this
    uuid was accepted already; `usable` whether the model can be shown anything."""

    def __init__(
        self,
        put: Callable[[ImportResult | ImportRejected], None],
        keep: Callable[[bytes, str], Media | str | None],
        taken: Callable[[str], bool],
        usable: Callable[[], bool],
    ) -> None:
        self._put, self._keep, self._taken, self._usable = put, keep, taken, usable
        self._open: dict[str, Upload] = {}
        self._over: set[str] = set()  # uploads that had their terminal notice
        self._known: set[str] = set()  # attachments that were begun
        self._waiting: dict[str, Attachment] = {}  # committed, for prompts that have not come

    def take(self, record: JsonObject) -> str:
        """Do what one record asks; the id of an upload that it began, "" for none. Never raises."""
        operation, upload = record.get("operation"), record.get("upload_id")
        fields = _FIELDS.get(operation) if isinstance(operation, str) else None
        if fields is None or record.get("version") != VERSION or not _text(_UPLOAD, upload):
            return self._reject(upload, "unsupported_operation")
        # The three that follow a beginning may name its prompt and attachment again.
        if set(record) - (fields | _NAMED) or fields - set(record):
            return self._reject(upload, "unsupported_operation")
        assert isinstance(upload, str)
        if operation == "begin":
            return self._begin(upload, record)
        if upload in self._over:
            return self._reject(upload, "upload_already_terminal")
        if (one := self._open.get(upload)) is None:
            return self._reject(upload, "unsupported_operation")
        own = (("prompt_uuid", one.prompt), ("attachment_id", one.attachment))
        if any(record.get(name, value) != value for name, value in own):
            return self._reject(upload, "unsupported_operation")
        match operation:
            case "chunk":
                self._chunk(one, record["sequence"], record["data"])
            case "commit":
                self._commit(one)
            case _:
                self._end(one, "aborted", "caller_abort")
        return ""

    def expire(self, upload: str) -> None:
        """The time of an upload is over."""
        if (one := self._open.get(upload)) is not None:
            self._end(one, "expired", "timeout")

    def close(self, reason: str) -> None:
        """No more will come: what is open is given up."""
        for one in tuple(self._open.values()):
            self._end(one, "aborted", reason)

    def claim(self, prompt: str, named: tuple[JsonObject, ...]) -> tuple[Media, ...]:
        """What a prompt shows: it names all that was committed for it, and nothing else. Raises ValueError."""
        if any(one.prompt == prompt for one in self._open.values()):
            raise ValueError("an attachment of the prompt is still uploading")
        mine = {ident: one for ident, one in self._waiting.items() if one.prompt == prompt} if prompt else {}
        found = list[Media]()
        for manifest in named:
            one = mine.get(str(manifest.get("attachment_id")))
            if one is None or manifest != {"type": "attachment_ref", **one.manifest}:
                raise ValueError("the prompt names an attachment that was not committed for it as it is named")
            found.append(one.media)
        if len(named) != len({str(manifest["attachment_id"]) for manifest in named}):
            raise ValueError("the prompt names an attachment twice")
        if len(found) < len(mine):
            raise ValueError("the prompt does not name every attachment that was committed for it")
        return tuple(found)

    def accepted(self, prompt: str) -> None:
        """A prompt was taken up with its attachments."""
        self._waiting = {ident: one for ident, one in self._waiting.items() if one.prompt != prompt}

    # --- one upload -------------------------------------------------------------------------------------------------

    def _begin(self, upload: str, record: JsonObject) -> str:
        attachment, prompt, name = record["attachment_id"], record["prompt_uuid"], record["name"]
        size, mime, sha256 = record["size_bytes"], record["mime_type"], record["sha256"]
        well = _text(_ATTACHMENT, attachment) and _text(_UUID, prompt) and _text(_SHA, sha256) and _named(name)
        if not well or not isinstance(size, int) or isinstance(size, bool) or size < 1 or not isinstance(mime, str):
            return self._reject(upload, "unsupported_operation")
        if upload in self._open or upload in self._over:
            return self._reject(upload, "duplicate_upload")
        if attachment in self._known:
            return self._reject(upload, "duplicate")
        if self._taken(prompt):
            return self._reject(upload, "prompt_already_accepted")
        if not self._usable():
            return self._reject(upload, "attachments_unavailable")
        if mime not in TYPES:
            return self._reject(upload, "unsupported_media")
        sizes = [one.size for one in self._open.values() if one.prompt == prompt]
        sizes += [one.media.size for one in self._waiting.values() if one.prompt == prompt]
        full = len(self._open) >= MOST_OPEN or len(self._over) + len(self._open) >= MOST_UPLOADS
        if full or size > MOST_ITEM or len(sizes) >= MOST_ITEMS or sum(sizes) + size > MOST_BYTES:
            return self._reject(upload, "resource_limit")
        self._known.add(attachment)
        self._open[upload] = Upload(upload, attachment, prompt, name, size, mime, sha256, bytearray())
        self._tell(self._open[upload], "accepted")
        return upload

    def _chunk(self, one: Upload, sequence: object, data: object) -> None:
        if sequence != one.pieces or isinstance(sequence, bool):
            return self._end(one, "failed", "invalid_sequence")
        if (piece := decoded(data)) is None:
            return self._end(one, "failed", "invalid_base64")
        if len(one.data) + len(piece) > one.size:
            return self._end(one, "failed", "size_mismatch")
        one.data += piece
        one.pieces += 1
        return self._tell(one, "accepted")

    def _commit(self, one: Upload) -> None:
        data = bytes(one.data)
        if len(data) != one.size:
            return self._end(one, "failed", "size_mismatch")
        if hashlib.sha256(data).hexdigest() != one.sha256:
            return self._end(one, "failed", "digest_mismatch")
        try:
            found = picture(data)
        except Broken:
            return self._end(one, "failed", "malformed_media")
        if found is None or found.mime != one.mime:
            return self._end(one, "failed", "mime_mismatch")
        kept = self._keep(data, one.name)
        if not isinstance(kept, Media):
            return self._end(one, "failed", "media_rejected" if kept else "malformed_media")
        manifest: JsonObject = {
            "attachment_id": one.attachment,
            "kind": kept.kind,
            "name": one.name,
            "mime_type": one.mime,
            "size_bytes": one.size,
            "sha256": one.sha256,
            "storage_id": f"blob_sha256_{one.sha256}",
        }
        self._waiting[one.attachment] = Attachment(one.prompt, manifest, kept)
        return self._end(one, "committed", "", manifest)

    def _end(self, one: Upload, status: Any, reason: str, manifest: JsonObject | None = None) -> None:
        del self._open[one.upload]
        self._over.add(one.upload)
        self._tell(one, status, reason, manifest, terminal=True)

    def _tell(
        self, one: Upload, status: Any, reason: str = "", manifest: JsonObject | None = None, *, terminal: bool = False
    ) -> None:
        self._put(
            ImportResult(
                VERSION,
                one.upload,
                one.attachment,
                status,
                terminal,
                one.prompt,
                attachment=manifest or UNSET,
                reason=reason or UNSET,
            )
        )

    def _reject(self, upload: object, reason: str) -> str:
        self._put(ImportRejected(VERSION, upload[:100] if isinstance(upload, str) else "", reason))
        return ""


def _text(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _named(value: object) -> bool:
    """Whether it is the plain name of a file."""
    if not isinstance(value, str) or not value or value in (".", "..") or len(value.encode()) > NAME_BYTES:
        return False
    return not any(char in "/\\" or char in _BIDI or unicodedata.category(char) in ("Cc", "Cs") for char in value)


def decoded(data: object) -> bytes | None:
    """The bytes of one piece in strict base64, None where it is none."""
    if not isinstance(data, str) or not data or len(data) > (PIECE + 2) // 3 * 4:
        return None
    try:
        found = binascii.a2b_base64(data.encode("ascii"), strict_mode=True)
    except (ValueError, UnicodeEncodeError):
        return None
    return found if len(found) <= PIECE else None


def capabilities() -> JsonObject:
    """What a host is told of attachments."""
    limits = {
        "max_message_items": MOST_ITEMS,
        "max_item_bytes": MOST_ITEM,
        "max_message_bytes": MOST_BYTES,
        "max_concurrent_uploads": MOST_OPEN,
        "max_name_bytes": NAME_BYTES,
        "upload_timeout_ms": round(SECONDS * 1000),
    }
    sources = [
        {"source": "file_path", "scope": "initial_cli"},
        {"source": "stream_json_v1", "scope": "per_turn"},
    ]
    known = {"protocol_version": VERSION, "sources": sources, "media_types": list(TYPES), "limits": limits}
    return {"attachments": known}
