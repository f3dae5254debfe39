"""A look into a stored session, for who chooses among several: how it began and ended. Asks no model, takes no lock."""

from __future__ import annotations

import os

from msgspec import Struct

from agenyx.session import load
from agenyx.session.records import Binding, Prompt, Response
from agenyx.session.store import TRANSCRIPT

_CHARS = 2_000  # of one prompt


class Peek(Struct, frozen=True):
    """`first` and `last` are typed prompts, cut; `said` is the text of the last answer. What cannot be read is ""."""

    first: str = ""
    last: str = ""
    said: str = ""
    prompts: int = 0
    steps: int = 0
    model: str = ""


def peek(directory: str) -> Peek:
    """Reads the whole transcript: for a thread. Raises OSError."""
    first = last = said = model = ""
    prompts = steps = 0
    with open(os.path.join(directory, TRANSCRIPT), "rb") as file:
        for record in load.decode_lines(file, []):
            match record.body:
                case Prompt(user) if user.origin == "typed":
                    prompts += 1
                    last = user.said[:_CHARS]
                    first = first or last
                case Response(assistant):
                    steps += 1
                    said = assistant.text[:_CHARS] or said
                case Binding():
                    model = record.body.model
                case _:
                    pass
    return Peek(first, last, said, prompts, steps, model)
