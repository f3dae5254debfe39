"""The head of a Markdown file: the part of YAML that such heads are written in, read leniently.

Scalars, quoted ones, lists, block scalars. Maps inside are passed over and told. What is not understood never raises
and never hides the rest: it is a problem in words. Knows no key and no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

Value = str | bool | list[str]

_HEAD_CHARS = 64 << 10
_MOST_KEYS, _MOST_ITEMS, _MOST_PROBLEMS = 256, 1000, 20
_KEY = re.compile(r"""(?P<key>[A-Za-z0-9_][\w.-]*|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]+(?P<rest>.*)|)$""")
_BLOCK = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])[ \t]*(?:#.*)?$")
_ITEM = re.compile(r"-(?:[ \t]+(?P<rest>.*)|)$")
_DOUBLE, _SINGLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL), re.compile(r"'(?:[^']|'')*'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\n[ \t]*|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_PLAIN_MAPS = frozenset({"metadata"})  # of the skills standard; it means nothing to an agent
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


class Front(Struct, frozen=True):
    """`values` by key as written; only true and false are booleans, numbers stay text, nothing is "".

    `body` is what follows the head, the whole text where there is none. `problems` are phrases without a full stop.
    """

    values: dict[str, Value] = {}
    body: str = ""
    problems: tuple[str, ...] = ()

    def text(self, key: str, default: str = "") -> str:
        """One text, whatever was written; a list is joined by ", "."""
        match self.values.get(key, default):
            case bool() as value:
                return "true" if value else "false"
            case list() as value:
                return ", ".join(value)
            case value:
                return value

    def items(self, key: str) -> list[str]:
        """A list as it stands; a text divided at commas that are in no brackets."""
        value = self.values.get(key, "")
        if isinstance(value, list):
            return value
        return [part for piece in _divided(self.text(key)) if (part := piece.strip())]

    def flag(self, key: str, default: bool) -> bool:
        """A yes or no; `default` where it is missing or neither."""
        word = self.text(key).strip().lower()
        return True if word in _TRUE else False if word in _FALSE else default


def read(text: str) -> Front:
    """Head and body of a Markdown file. A head stands between a first line `---` and the next line `---` or `...`."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---" or not newline:
        return Front({}, text)
    lines: list[str] = []
    start = len(first) + 1
    for line in rest.split("\n"):
        start += len(line) + 1
        if line.rstrip() in ("---", "..."):
            head = _Head(lines)
            return Front(head.values, text[start:], tuple(head.problems[:_MOST_PROBLEMS]))
        lines.append(line)
        if start > _HEAD_CHARS:
            return Front({}, text, (f"the head between the --- lines is longer than {_HEAD_CHARS:,} characters",))
    return Front({}, text, ("the head has no line --- at its end",))


class _Head:
    """One pass over the lines of a head."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.values: dict[str, Value] = {}
        self.problems: list[str] = []
        self._lines, self._at = [line.expandtabs(2) for line in lines], 0
        while self._at < len(self._lines):
            self._entry()

    def _entry(self) -> None:
        number, line = self._at + 2, self._lines[self._at]
        self._at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            return
        found = _KEY.match(line)
        if found is None:
            self.problems.append(f"line {number} is not a key with a value")
            return
        key = found["key"].strip("\"'")
        value = self._value(key, found["rest"] or "")
        if value is None:
            if key not in _PLAIN_MAPS:
                self.problems.append(f"{key} holds values inside values, which are passed over")
            return
        if key in self.values:
            self.problems.append(f"{key} stands there twice, and the later one counts")
        if len(self.values) < _MOST_KEYS:
            self.values[key] = value
        else:
            self.problems.append(f"{key} is one key too many")

    def _value(self, key: str, rest: str) -> Value | None:
        """The value that begins behind a key; None for a map."""
        rest = rest.strip()
        if _BLOCK.match(rest):
            return self._block(rest)
        if rest[:1] in ("'", '"') and (quoted := self._quoted(rest)) is not None:
            return quoted
        if rest.startswith("["):
            return self._flow(key, rest)
        if rest.startswith("{"):
            list(self._deeper())
            return None
        plain = _COMMENT.sub("", rest).strip()
        if plain:
            words = [plain, *(_COMMENT.sub("", line).strip() for line in self._deeper())]
            return _scalar(" ".join(word for word in words if word))
        return self._below(key)

    def _below(self, key: str) -> Value | None:
        """What stands on the lines below a key that has nothing beside it."""
        self._skip()
        line = self._lines[self._at] if self._at < len(self._lines) else ""
        indent = len(line) - len(line.lstrip())
        if _ITEM.match(line.strip()):
            return self._list(key, indent)
        if not indent:
            return ""
        lines = [_COMMENT.sub("", line).strip() for line in self._deeper()]
        if _KEY.match(lines[0]):
            return None
        return _scalar(" ".join(line for line in lines if line))

    def _list(self, key: str, indent: int) -> Value | None:
        items: list[str] = []
        maps = False
        while True:
            self._skip()
            line = self._lines[self._at] if self._at < len(self._lines) else ""
            found = _ITEM.match(line.strip())
            if found is None or len(line) - len(line.lstrip()) != indent:
                break
            self._at += 1
            rest = (found["rest"] or "").strip()
            if rest[:1] in ("'", '"') and (quoted := self._quoted(rest, indent + 1)) is not None:
                items.append(quoted)
                continue
            more = list(self._deeper(indent + 1))
            rest = _COMMENT.sub("", rest).strip()
            if not rest or _KEY.match(rest):
                maps = maps or bool(rest or more)
                continue
            items.append(" ".join([rest, *(_COMMENT.sub("", line).strip() for line in more)]).strip())
        if maps and items:
            self.problems.append(f"{key} holds values inside values, which are passed over")
        return None if maps and not items else self._bounded(key, items)

    def _flow(self, key: str, rest: str) -> Value:
        """A list in square brackets, also over several lines. One that is never closed is a text."""
        parts = [rest]
        for line in self._lines[self._at :]:
            if _KEY.match(line):
                break
            parts.append(_COMMENT.sub("", line).strip())
        whole = " ".join(parts)
        if (end := _closing(whole)) < 0:
            self.problems.append(f"{key} begins with [ and has no ] at its end")
            return _COMMENT.sub("", rest).strip()
        read = 0
        while (read := read + len(parts.pop(0)) + 1) <= end:
            self._at += 1
        if tail := _COMMENT.sub("", whole[end + 1 : read]).strip():
            return f"{whole[: end + 1]} {tail}" if whole[end + 1] == " " else whole[: end + 1] + tail
        pieces = (piece.strip() for piece in _divided(whole[1:end]))
        return self._bounded(key, [_unquoted(piece) for piece in pieces if piece])

    def _bounded(self, key: str, items: list[str]) -> list[str]:
        if len(items) > _MOST_ITEMS:
            self.problems.append(f"{key} has more than {_MOST_ITEMS} items, and the later ones are left out")
        return items[:_MOST_ITEMS]

    def _quoted(self, rest: str, least: int = 1) -> str | None:
        """A text in quotes, also over several lines; None where it is not closed or more follows: then it is plain."""
        start = self._at
        whole = "\n".join([rest, *(line.strip() for line in self._deeper(least))])
        self._at = start
        found = (_DOUBLE if rest[0] == '"' else _SINGLE).match(whole)
        if found is None or _COMMENT.sub("", whole[found.end() :].partition("\n")[0]).strip():
            return None
        self._at += found[0].count("\n")
        return _unquoted(found[0])

    def _block(self, rest: str) -> str:
        """A block scalar: `|` keeps its lines, `>` joins them."""
        lines: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and not line.startswith(" "):
                break
            lines.append(line)
            self._at += 1
        digits = [char for char in rest.partition("#")[0] if char.isdigit()]
        filled = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        cut = int(digits[0]) if digits else (filled[0] if filled else 0)
        lines = [line[cut:].rstrip() if line[:cut].strip() == "" else line.lstrip() for line in lines]
        text = "\n".join(lines) if rest[0] == "|" else _folded(lines)
        return text.rstrip("\n") if "+" not in rest.partition("#")[0] else text

    def _deeper(self, least: int = 1) -> Iterator[str]:
        """The lines that follow and are indented by at least so much, or empty."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and len(line) - len(line.lstrip()) < least:
                return
            self._at += 1
            yield line

    def _skip(self) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at].strip()
            if line and not line.startswith("#"):
                return
            self._at += 1


def _scalar(text: str) -> str | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return "" if text in ("~", "null") else text


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPE.sub(_escaped, re.sub(r"(?<!\\)\n", " ", text[1:-1]))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'").replace("\n", " ")
    return text


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return "" if code[0] == "\n" else _ESCAPES.get(code, code)


def _folded(lines: Sequence[str]) -> str:
    text, broken = "", True
    for line in lines:
        if not line.strip():
            text, broken = text + "\n", True
        elif line[0] in " \t":  # indented more than the rest: it keeps its line
            text, broken = f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{line}\n", True
        else:
            text, broken = text + ("" if broken else " ") + line, False
    return text


def _closing(text: str) -> int:
    """Where the bracket at the start is closed, -1 if it is not. Quotes hide brackets."""
    depth, quote = 0, ""
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and text[index - 1] in "[, ":
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return index
    return -1


def _divided(text: str) -> Iterator[str]:
    """Parts between commas that are in no quotes and no brackets."""
    depth, quote, start = 0, "", 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not text[start:index].strip():
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(depth - 1, 0)
        elif char == "," and not depth:
            yield text[start:index]
            start = index + 1
    yield text[start:]
