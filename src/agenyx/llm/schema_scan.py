"""Reads one JSON object while it arrives: the members of its top level, strings decoded, other values as written.

Knows JSON and the three member names of the protocol, nothing of streams. Text that begins no object is prose.
"""

from __future__ import annotations

import re
from typing import Literal

from agenyx.core import json

TOOL, ARGUMENTS, FINAL = "tool", "arguments", "final_answer"

_SPACE = re.compile(r"[ \t\r\n]*")
# Whole characters and whole escapes; a piece of an escape at the end waits for its rest.
_STRING = re.compile(r'(?:[^\\"]+|\\u[0-9a-fA-F]{4}|\\[^u])*')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OUTSIDE = re.compile(r'[^"\[\]{},]*')  # of a value that is no string: what needs no look

_State = Literal[
    "start", "prose", "member", "key", "colon", "value", "text", "raw", "quoted", "after", "whole", "broken"
]


class Scanner:
    """`feed` text; `whole` is true once the object was closed."""

    def __init__(self) -> None:
        self._state: _State = "start"
        self._all: list[str] = []
        self._rest, self._at = "", 0  # what was read and not understood yet
        self._key = ""
        self._values: dict[str, list[str]] = {}
        self._depth = 0

    @property
    def whole(self) -> bool:
        return self._state == "whole"

    @property
    def raw(self) -> str:
        """Everything that came."""
        return "".join(self._all)

    def has(self, name: str) -> bool:
        """Whether the member came, or at least the beginning of its value."""
        return name in self._values

    def value(self, name: str) -> str:
        """What is known of a member: the text of a string, the JSON of any other value; "" before it comes."""
        return "".join(self._values.get(name, ()))

    def feed(self, text: str) -> tuple[str, str]:
        """What is new of the final answer (or of prose), and of the arguments."""
        self._all.append(text)
        self._rest, self._at = self._rest[self._at :] + text, 0
        answer: list[str] = []
        draft: list[str] = []
        while self._at < len(self._rest) and (new := self._step()) is not None:
            if self._state == "prose" or self._key == FINAL:
                answer.append(new)
            elif self._key == ARGUMENTS:
                draft.append(new)
        return "".join(answer), "".join(draft)

    def end(self) -> str:
        """The text is over: what was held back of the final answer."""
        held = self._rest[self._at :]
        self._rest, self._at = "", 0
        if self._state == "text" and self._key == FINAL and (found := _STRING.match(held)):
            return self._add(json.scrub(_unescape(found[0])))
        return ""

    # --- one step: what it adds to the value of the member, None when more has to come -------------------------------

    def _step(self) -> str | None:
        match self._state:
            case "key" | "text":
                return self._string()
            case "raw":
                return self._outside()
            case "quoted":
                return self._quoted()
            case "prose":
                return self._take(len(self._rest))
            case "whole" | "broken":
                self._at = len(self._rest)
                return ""
            case _:
                return self._between()

    def _between(self) -> str | None:
        """Between keys and values: white space and one mark."""
        found = _SPACE.match(self._rest, self._at)
        place = found.end() if found else self._at
        if place == len(self._rest):
            return None  # in front of prose, white space belongs to it
        mark = self._rest[place]
        match self._state, mark:
            case "start", "{":
                state: _State = "member"
            case "start", _:
                self._state = "prose"
                return ""
            case "member", '"':
                state, self._key = "key", ""
            case (("member" | "after"), "}"):
                state = "whole"
            case "after", ",":
                state = "member"
            case "colon", ":":
                state = "value"
            case "value", '"':
                state, self._values[self._key] = "text", []
            case "value", _:
                self._state, self._values[self._key], self._at, self._depth = "raw", [], place, 0
                return ""
            case _:
                state = "broken"
        self._state, self._at = state, place + 1
        return ""

    def _string(self) -> str | None:
        """A part of a key or of a text, as far as it is sure."""
        found = _STRING.match(self._rest, self._at)
        end = found.end() if found else self._at
        closed = self._rest[end : end + 1] == '"'
        text = _unescape(self._rest[self._at : end])
        if not closed and len(self._rest) - end >= 6:
            text, end = text + "\ufffd", end + 2  # no escape that exists
        elif not closed and text and "\ud800" <= text[-1] <= "\udbff":
            text, end = text[:-1], end - 6  # its other half may come
        if end == self._at and not closed:
            return None
        self._at = end + closed
        text = json.scrub(text)
        if self._state == "key":
            self._key += text
            self._state = "colon" if closed else "key"
            return ""
        if closed:
            self._state = "after"
        return self._add(text)

    def _outside(self) -> str | None:
        """A part of a value that is no string, outside the strings in it."""
        found = _OUTSIDE.match(self._rest, self._at)
        end = found.end() if found else self._at
        mark = self._rest[end : end + 1]
        if mark and mark in "{[":
            self._depth += 1
        elif mark == '"':
            self._state = "quoted"
        elif mark and (self._depth == 0 or (mark in "}]" and self._depth == 1)):
            closes = self._depth == 1
            self._state, self._depth = "after", 0
            return self._take(end + closes)
        elif mark and mark in "}]":
            self._depth -= 1
        return self._take(end + len(mark))

    def _quoted(self) -> str | None:
        """A part of a string inside such a value, as it is written."""
        found = _STRING.match(self._rest, self._at)
        end = found.end() if found else self._at
        if self._rest[end : end + 1] == '"':
            self._state = "raw"
            return self._take(end + 1)
        if len(self._rest) - end >= 6:
            end += 2
        return self._take(end) if end > self._at else None

    def _take(self, end: int) -> str:
        text, self._at = self._rest[self._at : end], end
        return text if self._state == "prose" else self._add(text)

    def _add(self, text: str) -> str:
        if text:
            self._values[self._key].append(text)
        return text


def _unescape(text: str) -> str:
    """The text of a JSON string; a half of a surrogate pair stays one, for its other half may follow."""
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _CONTROL.get(found[2], found[2])

    return _ESCAPE.sub(plain, text)
