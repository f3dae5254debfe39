"""One conversation: its records, its state, and the store they go to. Identities and time are injected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.ids import Clock, Ids
from agenyx.core.limits import RECORD_BYTES, TRANSCRIPT_RECORDS
from agenyx.core.messages import Ability, Media
from agenyx.core.redact import Masker
from agenyx.llm.request import Request
from agenyx.session.load import decode_lines
from agenyx.session.records import VERSION, Body, Head, Record, encode
from agenyx.session.state import NeedModel, Next, State, next_action, request_of
from agenyx.session.store import Store
from agenyx.session.tree import fold

if TYPE_CHECKING:
    from agenyx.session.media import MediaStore


class Session:
    """`directory` holds what belongs to the session besides the transcript: shell state and oversized results.

    `agent` is the path of the subagent whose session it is, "" for the main one; `earlier` the folder of a session that
    this one goes on from without writing to it.
    """

    def __init__(self, id: str, store: Store, state: State, directory: str, ids: Ids, clock: Clock) -> None:
        self.id = id
        self.state = state
        self.directory = directory
        self.ids = ids
        self.clock = clock
        self.agent = self.earlier = ""
        self._media: MediaStore | None = None
        self._store = store
        self.masker = Masker()  # what no record may hold; set as soon as the secrets are known

    def append(self, *bodies: Body, turn: str | None = None, sync: bool = False) -> None:
        """Write the bodies as records, with one write, then take them into the state. Raises StoreError.

        `sync` brings them to the disk before this returns; without it a power cut may lose them, a crash may not.
        """
        state, lines, records = self.state, list[bytes](), list[Record]()
        seq, parent = state.seq, state.head
        if seq + len(bodies) > TRANSCRIPT_RECORDS:  # or nothing could read it any more
            raise StoreError(f"the session is full: it has {seq:,} records", "Begin a new session.")
        for body in bodies:
            seq += 1
            turn_of = state.turn if turn is None else turn
            record = Record(VERSION, self.ids.new("rec"), seq, parent, self.clock(), turn_of, body, self.agent)
            parent = record.id
            record, line = self._sealed(record)
            records.append(record)
            lines.append(line)
        self._store.append(lines, sync=sync)
        for record in records:
            state.apply(record)

    def _sealed(self, record: Record) -> tuple[Record, bytes]:
        """The record and its line, without secrets: intake masks them, this is the last look. Raises StoreError."""
        line = encode(record)
        if self.masker.found(line):
            record = self.masker.value(record)
            line = encode(record)
            if self.masker.found(line):
                raise StoreError("a record would spell a configured key", "Nothing more was done. Start a new session.")
        if len(line) > RECORD_BYTES:  # or a reader would pass over it
            raise StoreError(f"a record would exceed {RECORD_BYTES >> 20} MiB", "Ask for it in smaller parts.")
        return record, line

    def move(self, head: Head) -> None:
        """Go on from another record. Raises AgenyxError, and moves nothing, where a step would be torn or `to` is none.

        The state is another object afterwards.
        """
        head = replace(head, restored=tuple(self.state.restored)) if self.state.restored else head
        state = fold(self.records, head.to)
        if state.pending:
            raise AgenyxError("a call has no result there yet", "Choose the end of a turn: /tree lists them.")
        self.append(head, sync=True)
        state.apply(Record(VERSION, "", self.state.seq, "", self.clock(), "", head))
        self.state = state

    def records(self) -> Iterator[Record]:
        """All records of the session, those of other branches as well, in the order of the file. Raises StoreError."""
        return decode_lines(self._store.read(), [])

    def sync(self) -> None:
        """Bring everything written so far to the disk."""
        self._store.sync()

    def next(self) -> Next:
        action = next_action(self.state)
        return NeedModel(self._able(action.request)) if isinstance(action, NeedModel) else action

    def request(self) -> Request:
        """The next request, as it stands."""
        return self._able(request_of(self.state))

    def keep(self, data: bytes, name: str = "", sees: tuple[Ability, ...] | None = None) -> Media | str | None:
        """Keep an image or a document for the model: what a message can hold; a sentence where it cannot be shown; None
        for other content. `sees` is what the model can be shown, where that is not on record yet. May block."""
        if sees is None:
            sees = self.state.binding.sees if self.state.binding else ()
        return self._store_of_media().keep(data, name, sees)

    def _able(self, request: Request) -> Request:
        return replace(request, media=self._bytes_of) if request.sees else request

    def _bytes_of(self, media: Media) -> bytes | None:
        return self._store_of_media().get(media)

    def _store_of_media(self) -> MediaStore:
        from agenyx.session.media import MediaStore  # few sessions hold images

        if self._media is None:
            self._media = MediaStore(self.directory, lambda data: self.masker.found(data), self.earlier)
        return self._media

    def close(self) -> None:
        self._store.close()
