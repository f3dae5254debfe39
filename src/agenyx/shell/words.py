"""What a word of a script comes to without running anything: its exact text, or None where that depends on the run.

Works on the words of shfmt's JSON. Knows no command; what a variable holds it asks of a `Lookup`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from agenyx.shell import braces
from agenyx.shell.braces import Token
from agenyx.shell.syntax import Node, child, children, name_of

Dialect = Literal["bash", "posix"]
# (name, whether it stands in quotes) -> the text that comes of it, None when that is not known.
Lookup = Callable[[str, bool], str | None]

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
_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_SPECIAL = re.compile(r"([*?\[\]\\])")
_LATER_TILDE = re.compile(r"[=:]~")

_REMOVALS = ("#", "##", "%", "%%")
_REMOVED = re.compile(r"[\w./:@,+=*-]*")  # the patterns of these that are followed

MAX_WORD = 16_384  # characters that a word comes to

# Stands for quoted text while the unquoted rest is searched for what bash would expand.
_QUOTED = "\ufdd0"


class Expanded(Struct, frozen=True):
    """The words that come of one; None is a word, or any number of them, that only the run knows.

    `globs` holds for a None that is only a glob its place and the pattern, in which `\\` takes the meaning from the
    character that follows it.
    """

    texts: tuple[str | None, ...]
    globs: tuple[tuple[int, str], ...] = ()


UNKNOWN = Expanded((None,))


def expand(word: Node, lookup: Lookup, dialect: Dialect = "bash") -> Expanded:
    """A word among the words of a command: braces, tilde, variables, quotes and globs count."""
    tokens = _tokens(word, lookup, splits=True)
    if tokens is None:
        return UNKNOWN
    if dialect == "posix" and ("{", False) in tokens and _is_brace(tokens):
        return UNKNOWN  # one sh expands braces, another does not
    results = braces.expand(tokens)
    if results is None:
        return UNKNOWN
    texts: list[str | None] = []
    globs: list[tuple[int, str]] = []
    for result in results:
        if not result or not any(character or quoted for character, quoted in result):
            continue  # an empty word without quotes vanishes
        final = _tilde(result, lookup)
        if final is None:
            return UNKNOWN
        bare = "".join(_QUOTED if quoted else character for character, quoted in final)
        if _GLOB.search(bare):
            globs.append((len(texts), "".join(_SPECIAL.sub(r"\\\1", c) if quoted else c for c, quoted in final)))
            texts.append(None)
        else:
            texts.append(_text(final))
    return Expanded(tuple(texts), tuple(globs))


def pattern(word: Node, lookup: Lookup | None = None) -> str | None:
    """The glob that a word is, see `Expanded.globs`; None where it is none, or more than that, or several."""
    expanded = expand(word, lookup or (lambda _name, _quoted: None))
    return expanded.globs[0][1] if len(expanded.texts) == len(expanded.globs) == 1 else None


def value(word: Node, lookup: Lookup) -> str | None:
    """A word that stays one: what is assigned, a here-string. Globs and braces are plain text there."""
    tokens = _tokens(word, lookup, splits=False)
    final = None if tokens is None else _tilde(tokens, lookup)
    return None if final is None else _text(final)


def head(word: Node, lookup: Lookup) -> str:
    """The text that the word surely begins with; "" when none is known."""
    text = ""
    for part in children(word, "Parts"):
        known = _part(part, lookup, splits=False)
        if known is None and part.get("Type") == "DblQuoted":
            return text + head(part, lambda name, _quoted: lookup(name, True))
        if known is None or (not text and known[:1] == [("~", False)]):
            return text
        if len(text) > MAX_WORD:
            return text
        for character, quoted in known:
            if not quoted and character and character in "*?[{":
                return text
            text += character
    return text


def single(word: Node) -> bool:
    """Whether exactly one word comes of it, whatever its variables hold: all that is not plain stands in quotes."""
    for part in children(word, "Parts"):
        match part.get("Type"):
            case "Lit" | "SglQuoted" | "ArithmExp":
                continue
            case "DblQuoted":
                if any(_many(inner) for inner in children(part, "Parts")):
                    return False
            case "ParamExp" if name_of(part, "Param") in ("?", "#", "$", "!") and not part.get("Exp"):
                continue
            case _:
                return False
    return True


def quoted_variable(word: Node) -> str:
    """The variable that a word is, alone and in quotes, so that it is not split: `"$x"`; "" for any other word."""
    parts = children(word, "Parts")
    quoted = parts[0] if len(parts) == 1 and parts[0].get("Type") == "DblQuoted" else {}
    inner = children(quoted, "Parts")
    return (plain(inner[0]) or "") if len(inner) == 1 and not quoted.get("Dollar") else ""


def _many(part: Node) -> bool:
    """`"$@"` and `"${a[@]}"`."""
    if part.get("Type") != "ParamExp":
        return False
    index = child(part, "Index")
    return (
        name_of(part, "Param") == "@"
        or bool(part.get("Names"))
        or any(inner.get("Value") == "@" for inner in children(index, "Parts"))
    )


def here_text(body: Node, delimiter: Node, tabs: bool) -> str | None:
    """The text of a here-document, None where it holds expansions. `tabs` are taken off the lines of `<<-`."""
    literal = True
    for part in children(delimiter, "Parts"):
        literal = literal and part.get("Type") == "Lit" and "\\" not in str(part.get("Value", ""))
    text = ""
    for part in children(body, "Parts"):
        if part.get("Type") != "Lit":
            return None
        piece = str(part.get("Value", ""))
        text += re.sub(r"\\([$`\\]|\n)", _bare, piece) if literal else piece
    if not tabs:
        return text
    return re.sub(r"^\t+", "", text, flags=re.MULTILINE)


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


def plain(part: Node) -> str | None:
    """The name of a variable that is expanded as it is (`$x`, `${x}`), None for anything more."""
    if part.get("Type") != "ParamExp" or set(part) & {"Excl", "Length", "Index", "Slice", "Repl", "Names", "Exp"}:
        return None
    return name_of(part, "Param")


def _parameter(part: Node, lookup: Lookup, quoted: bool) -> str | None:
    """The text of `$x`, or of `${x%.c}` and its like with no more than one `*`; None for anything more."""
    if (name := plain(part)) is not None:
        return lookup(name, quoted)
    expansion = child(part, "Exp")
    op = expansion.get("Op")
    if set(part) & {"Excl", "Length", "Index", "Slice", "Repl", "Names"} or op not in _REMOVALS:
        return None
    pieces = children(child(expansion, "Word"), "Parts")
    pattern = "".join(str(piece.get("Value", "")) if piece.get("Type") == "Lit" else "$" for piece in pieces)
    text = lookup(name_of(part, "Param"), quoted)
    if text is None or not _REMOVED.fullmatch(pattern) or pattern.count("*") > 1:
        return None
    return _removed(text, pattern, front=op[0] == "#", most=len(op) == 2)


def _removed(text: str, pattern: str, front: bool, most: bool) -> str:
    """A text without the shortest or longest (`most`) beginning or end that the pattern stands for."""
    before, star, after = pattern.partition("*")
    if not star:
        return text.removeprefix(before) if front else text.removesuffix(before)
    if front:
        if not text.startswith(before):
            return text
        at = text.rfind(after, len(before)) if most else text.find(after, len(before))
        return text if at < 0 else text[at + len(after) :]
    if not text.endswith(after):
        return text
    end = len(text) - len(after)
    at = text.find(before, 0, end) if most else text.rfind(before, 0, end)
    return text if at < 0 else text[:at]


def _text(tokens: list[Token]) -> str:
    return "".join(character for character, _ in tokens)


def _tokens(word: Node, lookup: Lookup, splits: bool) -> list[Token] | None:
    """The word in characters; a quoted part and an expansion leave a mark, so that `~""` is not `~`."""
    tokens: list[Token] = []
    for part in children(word, "Parts"):
        if tokens[-1:] == [("$", False)]:
            return None  # a dollar before quotes means different things in different shells
        known = _part(part, lookup, splits)
        if known is None:
            return None
        tokens += known
        if len(tokens) > MAX_WORD:
            return None
    return tokens


def _part(part: Node, lookup: Lookup, splits: bool) -> list[Token] | None:
    match part.get("Type"):
        case "Lit":
            return _literal(str(part.get("Value", "")))
        case "SglQuoted":
            text = str(part.get("Value", ""))
            decoded = ansi_c(text) if part.get("Dollar") else text
        case "DblQuoted" if not part.get("Dollar"):
            decoded = _double_quoted(part, lookup)
        case "ParamExp":
            found = _parameter(part, lookup, not splits)
            return None if found is None else [("", False), *((character, True) for character in found)]
        case _:
            return None
    return None if decoded is None else [("", True), *((character, True) for character in decoded)]


def _literal(text: str) -> list[Token]:
    tokens: list[Token] = []
    escaped = False
    for character in text:
        if escaped:
            escaped = False
            if character != "\n":
                tokens.append((character, True))
        elif character == "\\":
            escaped = True
        else:
            tokens.append((character, False))
    return tokens


def _double_quoted(part: Node, lookup: Lookup) -> str | None:
    text = ""
    for inner in children(part, "Parts"):
        kind = inner.get("Type")
        if kind == "Lit":
            text += _QUOTED_ESCAPE.sub(_bare, str(inner.get("Value", "")))
        elif kind != "ParamExp" or (found := _parameter(inner, lookup, True)) is None:
            return None
        else:
            text += found
        if len(text) > MAX_WORD:
            return None
    return text


def _bare(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _tilde(tokens: list[Token], lookup: Lookup) -> list[Token] | None:
    """`~` and `~/x` as the home directory; None for every other tilde that bash might expand."""
    bare = "".join(_QUOTED if quoted else character for character, quoted in tokens)
    if _LATER_TILDE.search(bare):
        return None
    if tokens[:1] != [("~", False)]:
        return tokens
    home = lookup("HOME", True)
    if home is None or (len(tokens) > 1 and tokens[1] != ("/", False)):
        return None
    if len(tokens) > 1:
        home = home.rstrip("/")
    return [*((character, True) for character in home), *tokens[1:]]


def _is_brace(tokens: list[Token]) -> bool:
    text = _text(tokens)
    return ("}", False) in tokens and ("," in text or ".." in text)
