"""Makes a text that somebody has to judge show all it holds: invisible characters, look-alikes, padding. Pure."""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from agenyx.core.tty import safe

_PADDING = re.compile(r"(?<=\S)[ \t]{40,}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){10,}")
_SPECIAL = re.compile(r"[^\n\t\x20-\x7e]")  # a long text is mostly of others
_WORD = re.compile(r"[^\W\d_]+")
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")  # categories
_EMOJI_SELECTOR = "\ufe0f"


class Revealed(Struct, frozen=True):
    """`text` has only visible characters, line feeds and tabs; `warnings` says what was hidden, or looks like more."""

    text: str
    warnings: tuple[str, ...] = ()


def reveal(text: str) -> Revealed:
    """Escape what cannot be seen, shorten padding to a mark, and say so."""
    warnings: list[str] = []
    hidden: dict[str, int] = {}

    def show(match: re.Match[str]) -> str:
        return _show(match[0], text[max(match.start() - 1, 0)], hidden)

    shown = _SPECIAL.sub(show, text)
    if hidden:
        names = ", ".join(f"{_name(char)} x{count}" for char, count in sorted(hidden.items())[:5])
        more = f" and {len(hidden) - 5} more kinds" if len(hidden) > 5 else ""
        warnings.append(f"it holds hidden characters: {names}{more}")
    if mixed := next(filter(None, (_mixed(word) for word in _WORD.findall(text) if not word.isascii())), ""):
        warnings.append(f"it mixes look-alike letters of different alphabets in {mixed}")
    padded = _PADDING.sub(lambda match: f"[{len(match[0])} blanks]", shown)
    padded = _BLANK_LINES.sub(lambda match: f"\n[{match[0].count(chr(10)) - 1} blank lines]\n", padded)
    if padded != shown:
        warnings.append("it holds long padding, shown as a mark in brackets")
    return Revealed(safe(padded), tuple(warnings))


def _show(char: str, before: str, hidden: dict[str, int]) -> str:
    if not _is_hidden(char, before):
        return char
    hidden[char] = hidden.get(char, 0) + 1
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _is_hidden(char: str, before: str) -> bool:
    if char == _EMOJI_SELECTOR and unicodedata.category(before) == "So":
        return False  # it only says that the symbol is drawn in colour
    variation = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return (
        variation or char in _BLANK_LETTERS or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")
    )


def _name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'CONTROL').lower()}"


def _mixed(word: str) -> str:
    """The word with its foreign letter named, when letters of Latin and of Cyrillic or Greek stand in it together."""
    alphabets = {unicodedata.name(char, "").partition(" ")[0]: char for char in word}
    if "LATIN" in alphabets:
        for alphabet in ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"):
            if alphabet in alphabets:
                return f"{word!r} ({_name(alphabets[alphabet])})"
    return ""
