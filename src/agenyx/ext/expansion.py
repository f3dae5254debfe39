"""What a command written in Markdown becomes with the words behind its name. Words only: nothing is read or run here.

`$ARGUMENTS` and `$1` … `$99` stand for what was typed, `` !`command` `` for what a command prints, `@path` names a file
to take along (reference: protocols.md §5.1). What is put in is not looked at again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from agenyx.core.errors import UsageError
from agenyx.ext import imports

MOST_CHARS = 1 << 20
_MARK = re.compile(
    r"\\(?P<kept>[$!@])(?=[A-Z1-9`\w])"
    r"|(?<![\w`])!`(?P<command>[^`\n]+)`"
    r"|\$(?:(?P<all>ARGUMENTS\b)|(?P<one>[1-9]\d?)(?!\d|[.,]\d))"
)
_IN_SHELL = re.compile(r"\$(?:(?P<all>ARGUMENTS\b)|(?P<one>[1-9]\d?)(?!\d))")


class Shell(Struct, frozen=True):
    """A command whose output is to stand here; the arguments in it are single words of the shell."""

    command: str


class Expansion(Struct, frozen=True):
    """`pieces` in order; `files` are the paths that the text names, as they are spelled, also people (`@name`)."""

    pieces: tuple[str | Shell, ...]
    files: tuple[str, ...]


def expand(body: str, args: str) -> Expansion:
    """Raises UsageError where an argument cannot be put into a command safely, or the text gets too long.

    Where the body has no place for arguments they follow at its end.
    """
    words, pieces, at, used = split(args), list[str | Shell](), 0, False
    plain: list[str] = []  # where files may be named
    for mark in _MARK.finditer(body):
        pieces.append(body[at : mark.start()])
        plain.append(body[at : mark.start()])
        at = mark.end()
        if mark["kept"]:
            pieces.append(mark["kept"])
        elif mark["command"]:
            used = used or _IN_SHELL.search(mark["command"]) is not None
            pieces.append(Shell(in_shell(mark["command"], args, words)))
        else:
            used = True
            pieces.append(args if mark["all"] else _word(words, mark["one"]))
            plain.append(args if mark["all"] else _word(words, mark["one"]).replace(" ", "\\ "))
    rest = body[at:] + (f"\n\nArguments: {args}" if args and not used else "")
    pieces.append(rest)
    plain.append(rest)
    if sum(len(piece) for piece in pieces if isinstance(piece, str)) > MOST_CHARS:
        raise UsageError(f"the command becomes longer than {MOST_CHARS:,} characters", "Give it less text.")
    return Expansion(tuple(piece for piece in pieces if piece), tuple(imports.named("".join(plain))))


def split(args: str) -> list[str]:
    """The words that `$1` and the others stand for; quotes hold a word together."""
    try:
        return shlex.split(args)
    except ValueError:  # a quotation that never ends, as in "don't"
        return args.split()


def _word(words: Sequence[str], number: str) -> str:
    return words[int(number) - 1] if int(number) <= len(words) else ""


def in_shell(command: str, args: str, words: Sequence[str]) -> str:
    """The command with its arguments, quoted by where they stand, so that none can be more than text.

    Raises UsageError for places where quoting has no sure meaning.
    """
    if not _IN_SHELL.search(command):
        return command
    return _Quoting(command, args, words).text()


class _Quoting:
    """One pass over a command, which knows whether it stands in quotes."""

    def __init__(self, command: str, args: str, words: Sequence[str]) -> None:
        self._command, self._args, self._words = command, args, words
        self._out: list[str] = []
        self._inside: list[str] = []  # `"` and `$(`, the innermost last

    def text(self) -> str:
        command, at = self._command, 0
        while at < len(command):
            two, char = command[at : at + 2], command[at]
            place = self._inside[-1] if self._inside else ""
            quoted = place == '"'
            if found := _IN_SHELL.match(command, at):
                self._out.append(self._value(found, place))
                at = found.end()
            elif char == "\\":
                at = self._copy(at, 2)
            elif char == "'" and not quoted:
                at = self._single(at)
            elif two in ("$'", '$"', "${", "<<", "((") or (two == "$(" and command[at + 2 : at + 3] == "("):
                if not (quoted and two in ("$'", '$"', "<<", "((")):
                    self._refuse(two)
                at = self._copy(at, 1)
            elif char == "#" and not quoted and (at == 0 or command[at - 1] in " \t;&|("):
                self._refuse("#")
            elif two == "$(":
                self._inside.append("$(")
                at = self._copy(at, 2)
            else:
                if char == '"':
                    self._inside = self._inside[:-1] if quoted else [*self._inside, '"']
                elif char == "(" and not quoted:
                    self._inside.append("$(")
                elif char == ")" and place == "$(":
                    self._inside.pop()
                at = self._copy(at, 1)
        return "".join(self._out)

    def _copy(self, at: int, count: int) -> int:
        self._out.append(self._command[at : at + count])
        return at + count

    def _single(self, at: int) -> int:
        """A text in single quotes, with the arguments that stand in it."""
        end = self._command.find("'", at + 1)
        if end < 0:
            self._refuse("'")
        inner = _IN_SHELL.sub(lambda found: self._raw(found).replace("'", "'\\''"), self._command[at + 1 : end])
        self._out.append(f"'{inner}'")
        return end + 1

    def _value(self, found: re.Match[str], place: str) -> str:
        if place == '"':
            return re.sub(r'([\\"$`])', r"\\\1", self._raw(found))
        if found["all"]:
            return " ".join(shlex.quote(word) for word in self._words)
        return shlex.quote(self._words[number - 1]) if (number := int(found["one"])) <= len(self._words) else ""

    def _raw(self, found: re.Match[str]) -> str:
        return self._args if found["all"] else _word(self._words, found["one"])

    def _refuse(self, sign: str) -> None:
        raise UsageError(
            f"arguments cannot be put safely into this command of the file, because of its {sign}: {self._command}",
            "Write $1 or $ARGUMENTS in a plainer command there, or move the command into a script.",
        )
