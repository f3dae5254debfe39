"""The arguments of a call while they stream: members of the JSON object that are strings, read before it is whole.

Pure and lenient: what cannot be read is passed over. Only the beginning and the end of a long text are kept.
"""

from __future__ import annotations

import re

_HEAD, _TAIL = 400, 2_000  # characters of a value that are kept
_PLAIN = re.compile(r'[^"\\]+')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"'}


class Member:
    """A string, as far as it came: `lines` counts its line feeds, `size` its characters."""

    def __init__(self) -> None:
        self.head = self.tail = ""
        self.lines = self.size = 0

    def add(self, text: str) -> None:
        if len(self.head) < _HEAD:
            self.head += text[: _HEAD - len(self.head)]
        self.tail = (self.tail + text)[-_TAIL:]
        self.lines += text.count("\n")
        self.size += len(text)


class Draft:
    """`members` by name, in their order; only those of the outermost object. `feed` takes the next piece."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self._rest = ""
        self._depth = 0
        self._name: str | None = None  # the member whose value comes
        self._key: list[str] | None = None  # of a name that is being read
        self._value: Member | None = None  # of a string that is being read
        self._skipping = False  # a string of an inner object
        self._named = False  # a name is expected, not a value

    def feed(self, text: str) -> None:
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if self._key is not None or self._value is not None or self._skipping:
                step = self._string(text, at)
                if step < 0:
                    self._rest = text[at:]
                    return
                at = step
            else:
                self._sign(text[at])
                at += 1

    def _sign(self, char: str) -> None:
        match char:
            case "{" | "[":
                self._depth += 1
                self._named = char == "{" and self._depth == 1
            case "}" | "]":
                self._depth -= 1
            case "," if self._depth == 1:
                self._named, self._name = True, None
            case ":" if self._depth == 1:
                self._named = False
            case '"' if self._depth == 1 and self._named:
                self._key = []
            case '"' if self._depth == 1 and self._name is not None:
                self._value = self.members.setdefault(self._name, Member())
            case '"':
                self._skipping = True
            case _:
                pass

    def _string(self, text: str, at: int) -> int:
        """Read on inside a string; returns where it goes on, -1 when an escape is not whole yet."""
        if plain := _PLAIN.match(text, at):
            self._take(plain[0])
            return plain.end()
        if text[at] == '"':
            if self._key is not None:
                self._name, self._key, self._named = "".join(self._key), None, False
            self._value, self._skipping = None, False
            return at + 1
        if at + 1 >= len(text):
            return -1
        if text[at + 1] != "u":
            self._take(_ESCAPES.get(text[at + 1], text[at + 1]))
            return at + 2
        if at + 6 > len(text):
            return -1
        digits = _HEX.match(text, at + 2)
        code = int(digits[0], 16) if digits else 0xFFFD
        if 0xD800 <= code < 0xDC00 and len(text) < at + 12:
            return -1 if len(text) < at + 8 or text[at + 6 : at + 8] == "\\u" else self._lone(at)
        low = _HEX.match(text, at + 8) if text[at + 6 : at + 8] == "\\u" else None
        if 0xD800 <= code < 0xDC00 and low is not None and 0xDC00 <= int(low[0], 16) < 0xE000:
            self._take(chr(0x10000 + ((code - 0xD800) << 10) + int(low[0], 16) - 0xDC00))
            return at + 12
        self._take("\ufffd" if 0xD800 <= code < 0xE000 else chr(code))
        return at + 6

    def _lone(self, at: int) -> int:
        self._take("\ufffd")
        return at + 6

    def _take(self, text: str) -> None:
        if self._key is not None:
            self._key.append(text)
        elif self._value is not None:
            self._value.add(text)
