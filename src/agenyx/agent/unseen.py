"""Images and documents that a server refused: which ones it was, so that the session can go on without them. Pure.

Without this, one picture that a server does not like would stand in every later request and end every turn.
"""

from __future__ import annotations

import re

from agenyx.core.events import Failure
from agenyx.core.messages import Step
from agenyx.session.state import State
from agenyx.session.view import shown

KINDS = ("invalid", "overflow", "not_found", "server", "protocol")
_ABOUT = re.compile(
    r"answered 41[35]\b|\bimages?\b|image_url|input_(image|file)|file_data|\bmedia\b|\bpdf\b|\bdocuments?\b"
    r"|multi.?modal|\bvision\b|mmproj",
    re.I,
)


def refused(state: State, failure: Failure) -> tuple[str, ...]:
    """The SHA-256 of what `failure` is about; () where it is about something else.

    What an earlier response has answered was taken: then it is what came after that. Else it is all of it.
    """
    if failure.kind not in KINDS or not _ABOUT.search(failure.message):
        return ()
    entries = state.view.entries
    last = next((at for at in range(len(entries) - 1, -1, -1) if isinstance(entries[at], Step)), 0)
    new = [one.sha256 for entry in entries[last:] for one in shown(entry)]
    found = new or [one.sha256 for entry in entries for one in shown(entry)]
    return tuple(dict.fromkeys(found))
