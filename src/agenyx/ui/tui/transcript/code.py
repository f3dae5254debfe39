"""Colours for program text, by the lexers of Pygments. Bounded in size; without a lexer there are none."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_MOST = 60_000  # characters: about a hundredth of a second a thousand lines
_NAME = re.compile(r"[\w.+#-]{1,30}")
_DIFF = {"diff", "patch", "udiff"}  # coloured by their first signs as they come
_OTHERS = {"console": "console", "jsonc": "json", "shell": "bash", "zsh": "bash", "tsx": "tsx", "vue": "html"}
# From the nearest kind of token to the farthest; names are those of the palettes.
_STYLES = {
    "Token.Comment": "comment",
    "Token.Keyword.Type": "type",
    "Token.Keyword": "keyword",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Name.Function": "function",
    "Token.Name.Class": "type",
    "Token.Name.Builtin": "builtin",
    "Token.Name.Decorator": "function",
    "Token.Name.Exception": "type",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "function",
    "Token.Operator.Word": "keyword",
    "Token.Operator": "operator",
    "Token.Generic.Deleted": "removed",
    "Token.Generic.Inserted": "added",
    "Token.Generic.Heading": "heading",
    "Token.Generic.Subheading": "heading",
}


def coloured(lines: list[str], info: str) -> list[Line]:
    """The lines with styles, [] where the language that the fence names is not known or there is too much."""
    name = _NAME.match(info.strip().lower())
    if name is None or name[0] in _DIFF or sum(map(len, lines)) > _MOST:
        return []
    lexer = _lexer(_OTHERS.get(name[0], name[0]))
    if lexer is None:
        return []
    found: list[Line] = []
    row: list[Span] = []
    for kind, text in lexer.get_tokens("\n".join(lines)):
        first, *others = text.split("\n")
        style = _style(kind)
        _add(row, style, first)
        for other in others:
            found.append(tuple(row))
            row = []
            _add(row, style, other)
    return [*found, tuple(row)][: len(lines)] if len(found) >= len(lines) - 1 else []


def _add(row: list[Span], style: str, text: str) -> None:
    if text:
        row.append((style, safe(text)))


@lru_cache(32)
def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType] - loaded late
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@lru_cache(512)
def _style(kind: Any) -> str:
    while kind is not None:
        if style := _STYLES.get(str(kind), ""):
            return style
        kind = kind.parent
    return ""
