"""What a session is called, told and changed under its lock; by a command from outside or by its own conversation."""

from __future__ import annotations

from agenyx.core.errors import StoreError, UsageError
from agenyx.core.json import scrub
from agenyx.core.messages import User
from agenyx.session import titles
from agenyx.session.records import Title
from agenyx.session.session import Session
from agenyx.session.state import State


def called(state: State) -> str:
    """The title that a person gave, else one made from the first prompt; "" before that."""
    typed = (entry.said for entry in state.entries if isinstance(entry, User) and entry.origin == "typed")
    return state.title or titles.from_prompt(next(typed, ""))


def call(session: Session, text: str) -> str:
    """Put a title on record; returns it as it was stored.

    Raises UsageError where it is no title or nothing was said yet, StoreError where it cannot be written.
    """
    title = titles.given(session.masker.text(scrub(text)))
    if session.state.opened is None:
        raise UsageError("there is nothing to name yet", "Say something first.")
    session.append(Title(title), sync=True)
    try:
        titles.write_sidecar(session.directory, title)
    except OSError as error:
        raise StoreError(f"the title cannot be stored: {error.strerror}", "Free space, then try again.") from error
    return title
