"""Patterns of commands, and the words of a command as text to compare with them. Pure.

`git push` is those words alone, `git push:*` and `git push *` also more words after them, `*` within is any text, `\\*`
the character. A pattern is compared with one simple command; a word that is not static is a hole that only a wildcard
covers. Every step is a search for fixed text, so that no pattern takes more than linear time.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from agenyx.core.tools import Command

HOLE = "\0"  # stands in no word and in no pattern
_STAR = re.compile(r"\\\*|\*")
_QUOTE = re.compile(r"['\"]|\\(?!\*)")
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_SYNTAX = re.compile(r"[;&|<>()$`\\#\n]")
_BLANKS = re.compile(r"[ \t]+")
_SPECIAL = re.compile(r"[\s;&|<>()$`\\\"'#]|\A\Z")


class ShellPattern(Struct, frozen=True):
    """Fixed texts with wildcards between them; `open` lets further words follow. `words` are those of an exact one.

    `program` is the folded base name of the first word, "" where it is not one plain word.
    """

    pieces: tuple[str, ...]
    open: bool
    words: tuple[str, ...]
    program: str

    @property
    def exact(self) -> bool:
        return len(self.pieces) == 1 and not self.open

    def matches(self, text: str) -> bool:
        if _match(self.pieces, text):
            return True
        return self.open and _match((*self.pieces[:-1], self.pieces[-1] + " ", ""), text)

    def may_match(self, start: str) -> bool:
        """Whether some text that begins with `start` could match."""
        first = self.pieces[0]
        if first.startswith(start) or first == start.rstrip(" "):
            return True
        if len(self.pieces) > 1:
            return start.startswith(first)
        return self.open and start.startswith(first + " ")


class Spelled(Struct, frozen=True):
    """A command as text: as an allow rule sees it, and in all forms that a deny or ask rule looks at.

    `starts` holds the wide forms up to the first hole, and is empty if there is none.
    """

    words: tuple[str | None, ...]
    narrow: tuple[str, ...]
    wide: tuple[str, ...]
    starts: tuple[str, ...]
    programs: tuple[str, ...]


@lru_cache(maxsize=16384)
def compiled(pattern: str) -> ShellPattern:
    if not _QUOTE.search(pattern):
        pattern = _BLANKS.sub(" ", pattern.strip())
    opened = pattern.endswith((":*", " *"))
    base = pattern[:-2].rstrip(" ") if opened else pattern
    pieces, at = [""], 0
    for star in _STAR.finditer(base):
        pieces[-1] += base[at : star.start()] + ("*" if star[0] == "\\*" else "")
        if star[0] == "*":
            pieces.append("")
        at = star.end()
    pieces[-1] += base[at:]
    first, space, _ = pieces[0].partition(" ")
    whole = bool(space) or len(pieces) == 1
    plain = whole and "=" not in first and not _SPECIAL.search(first)
    words = _split(pieces[0]) if len(pieces) == 1 and not opened else ()
    return ShellPattern(tuple(pieces), opened, words, program_name(first) if plain else "")


def program_name(word: str) -> str:
    """The name by which deny rules know a program: without its folder, in any case."""
    return word.rpartition("/")[2].casefold()


@lru_cache(maxsize=16384)
def folded(pattern: str) -> ShellPattern:
    """The pattern with the program in lower case: some file systems find it in any."""
    first, space, rest = pattern.partition(" ")
    return compiled(first.casefold() + space + rest)


@lru_cache(maxsize=1024)
def spelled(argv: tuple[str | None, ...], assigns: tuple[str, ...]) -> Spelled:
    quoted = [HOLE if word is None else shlex.quote(word) for word in argv]
    plain = [HOLE if word is None else word for word in argv]
    narrow = [" ".join(quoted)]
    if not any(word is not None and _SPECIAL.search(word) for word in argv):
        narrow.append(" ".join(plain))
    if assigns:
        before = " ".join(_assignment(item) for item in assigns)
        narrow.append(f"{before} {narrow[0]}".rstrip(" "))
    wide = [*narrow, " ".join(plain)]
    name = argv[0] if argv else None
    if name is not None:
        base = name.rpartition("/")[2]
        for program in dict.fromkeys((name.casefold(), base, base.casefold())):
            if program != name:
                wide += [" ".join([program, *words[1:]]) for words in (quoted, plain)]
    wide = list(dict.fromkeys(wide))
    starts = [text.partition(HOLE)[0] for text in wide] if None in argv else []
    programs = () if name is None else (program_name(name),)
    return Spelled(argv, _unique(narrow), tuple(wide), _unique(starts), programs)


def covers(pattern: str, command: Command) -> Literal["", "exact", "wild"]:
    """Whether an allow rule with this pattern covers the words, holes only under a wildcard, and whether to the letter.

    An exact rule that does not name the assignments before a command says nothing about them, so it counts as "wild".
    """
    rule, text = compiled(pattern), spelled(command.argv, command.assigns)
    if rule.exact:
        if command.assigns and rule.pieces[0] == text.narrow[-1]:
            return "exact"
        same = bool(rule.words and rule.words == command.argv) or rule.pieces[0] in text.narrow
        return "" if not same else "wild" if command.assigns else "exact"
    return "wild" if any(rule.matches(form) for form in text.narrow) else ""


def touches(pattern: str, text: Spelled) -> bool | None:
    """Whether a deny or ask rule speaks about a command; None if it may, for words that are not seen or understood."""
    rules = dict.fromkeys((compiled(pattern), folded(pattern)))
    for rule in rules:
        if (rule.words and rule.words == text.words) or any(rule.matches(form) for form in text.wide):
            return True
    if any(rule.may_match(start) for rule in rules for start in text.starts):
        return None
    return None if _after_options(compiled(pattern), text.words) else False


def describe(command: Command, most: int = 200) -> str:
    """The command for people, in one line: quoted as the shell would need it, `…` for what is not static."""
    globs = dict(command.globs)
    words = [globs.get(at, "…") if word is None else shlex.quote(word) for at, word in enumerate(command.argv)] or list(
        command.assigns or (f"{one.op} {one.target or '…'}" for one in command.redirects)
    )
    text = " ".join(words)
    return text if len(text) <= most else text[: most - 1] + "…"


def _after_options(rule: ShellPattern, words: tuple[str | None, ...]) -> bool:
    """Whether options stand between the program and the rule's further words: `git -C x push` for `git push`."""
    wanted = rule.pieces[0].split()
    if len(wanted) < 2 or len(words) < 3 or rule.program != program_name(words[0] or ""):
        return False
    if not (words[1] or "-").startswith("-"):
        return False
    size = len(wanted) - 1
    return any(list(words[at : at + size]) == wanted[1:] for at in range(2, len(words) - size + 1))


def _match(pieces: tuple[str, ...], text: str) -> bool:
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in pieces[1:-1]:  # the leftmost place is always right, so none is tried again
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(text) - len(last) >= at and text.endswith(last)


def _split(text: str) -> tuple[str, ...]:
    """The words of an exact pattern, so that it may be quoted in any way; none if it is more than plain words."""
    if _SYNTAX.search(_QUOTED.sub("", text)):
        return ()
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def _assignment(item: str) -> str:
    name, equals, value = item.partition("=")
    return f"{name}={shlex.quote(value) if value else ''}" if equals else f"{name}={HOLE}"


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
