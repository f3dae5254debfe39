"""Brace expansion of a word, as bash does it before anything else: `a{b,c}` is `ab ac`. Knows only characters."""

from __future__ import annotations

import re

Token = tuple[str, bool]  # a character, or "" as a mark; whether it is quoted

MAX_WORDS = 64
_SEQUENCE = re.compile(r"(0|-?[1-9][0-9]*)\.\.(0|-?[1-9][0-9]*)")
_OPEN, _CLOSE, _COMMA = ("{", False), ("}", False), (",", False)


def expand(tokens: list[Token]) -> list[list[Token]] | None:
    """The words that come of one; None where that is not certain, such as unbalanced braces, or too many."""
    if _OPEN not in tokens:
        return [tokens]
    if tokens.count(_OPEN) != tokens.count(_CLOSE):
        return None
    start = tokens.index(_OPEN)
    end = _closing(tokens, start)
    if end is None:
        return None
    tails = expand(tokens[end + 1 :])
    middles = _alternatives(tokens[start + 1 : end])
    if tails is None or middles is None or len(tails) * len(middles) > MAX_WORDS:
        return None
    return [tokens[:start] + middle + tail for middle in middles for tail in tails]


def _closing(tokens: list[Token], start: int) -> int | None:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place] == _OPEN) - (tokens[place] == _CLOSE)
        if depth == 0:
            return place
    return None


def _alternatives(content: list[Token]) -> list[list[Token]] | None:
    """What stands between two braces that belong together."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in content:
        depth += (token == _OPEN) - (token == _CLOSE)
        if token == _COMMA and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1:
        return _no_list(content)
    found: list[list[Token]] = []
    for part in parts:
        inner = expand(part)
        if inner is None or len(found) + len(inner) > MAX_WORDS:
            return None
        found += inner
    return found


def _no_list(content: list[Token]) -> list[list[Token]] | None:
    text = "".join(character for character, _ in content)
    if ".." not in text:
        inner = expand(content)
        return None if inner is None else [[_OPEN, *word, _CLOSE] for word in inner]
    match = _SEQUENCE.fullmatch(text)
    if match is None or any(quoted for _, quoted in content) or len(text) > 12:
        return None
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= MAX_WORDS:
        return None
    step = 1 if last >= first else -1
    return [[(digit, False) for digit in str(number)] for number in range(first, last + step, step)]
