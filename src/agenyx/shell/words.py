"""What a word of a script comes to without running anything: its exact text, or None where that depends on the run.

Works on the words of shfmt's JSON. Knows no command. Where bash might expand something the answer is None.
"""

from __future__ import annotations

import re
from typing import Any, cast

Node = dict[str, Any]

_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI_C = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})"
    r"|(?P<control>c.)|(?P<other>.))",
    re.DOTALL,
)
_QUOTED_ESCAPE = re.compile(r'\\([$`"\\]|\n)')
_BARE_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_TILDE = re.compile(r"(?:^|[=:])~")

# Stands for quoted text while the unquoted rest is searched for what bash would expand.
_QUOTED = "\ufdd0"


def children(node: Node, key: str) -> list[Node]:
    """The nodes of a list member, empty when it is absent."""
    return cast("list[Node]", node.get(key) or [])


def static(word: Node) -> str | None:
    """The text that bash makes of the word, None when that is not certain."""
    text, bare = "", ""
    for part in children(word, "Parts"):
        match part.get("Type"):
            case "Lit":
                value = str(part.get("Value", ""))
                piece = _BARE_ESCAPE.sub(_bare, value)
                bare += _BARE_ESCAPE.sub(_QUOTED, value)
            case "SglQuoted":
                value = str(part.get("Value", ""))
                piece = ansi_c(value) if part.get("Dollar") else value
                bare += _QUOTED
            case "DblQuoted" if not part.get("Dollar"):
                piece = _double_quoted(part)
                bare += _QUOTED
            case _:
                piece = None
        if piece is None:
            return None
        text += piece
    # A comma or dots of a brace expansion may stand in quotes too: those braces are looked for in the whole text.
    if _GLOB.search(bare) or _TILDE.search(bare) or ("{" in bare and _BRACES.search(text)):
        return None
    return text


def ansi_c(value: str) -> str | None:
    r"""Decode what stands in `$'...'`; None for a NUL, a byte above 127 (not a character) and control forms."""
    certain = True

    def decode(match: re.Match[str]) -> str:
        nonlocal certain
        if match["other"] is not None:
            return _ESCAPES.get(match["other"], match[0])
        if match["control"] is not None:
            certain = False
            return ""
        byte = match["octal"] is not None or match["hex"] is not None
        code = int(match["octal"], 8) if match["octal"] else int(match["hex"] or match["u"] or match["U"], 16)
        if code == 0 or (byte and code > 127) or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            certain = False
            return ""
        return chr(code)

    text = _ANSI_C.sub(decode, value)
    return text if certain else None


def _bare(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _double_quoted(part: Node) -> str | None:
    text = ""
    for inner in children(part, "Parts"):
        if inner.get("Type") != "Lit":
            return None
        text += _QUOTED_ESCAPE.sub(_bare, str(inner.get("Value", "")))
    return text
