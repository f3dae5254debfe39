"""What is known of the shell at one point of a script: its directory and its variables. Values only."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

IFS = " \t\n"
MAX_VALUE = 4096  # characters of a variable that are followed
NUMBER: Literal[0] = 0
KEYED: Literal[1] = 1

_NUMBER = re.compile(r"\s*[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]+)?\s*")
# What the text of an unquoted variable may hold without being split or taken for a glob.
_WHOLE = re.compile(r"[\w./:@%+,=~^{}-]+")
# Variables that bash sets itself.
_BY_BASH = (
    "_ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME FUNCNAME GROUPS DIRSTACK PIPESTATUS OPTARG OPTIND "
    "REPLY PWD OLDPWD HISTCMD UID EUID PPID SHELLOPTS MAPFILE COPROC COLUMNS LINES"
)
_OWN = frozenset(_BY_BASH.split())


class Place(Struct, frozen=True):
    """A directory, told from where the shell stands.

    `rest` are names that `..` takes back one by one, because bash goes back the way it came, also through a link. What
    lies in `start` only the file system can resolve (`cd -P`, and `..` beyond the beginning).
    """

    start: str = ""
    rest: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        names = "/".join(self.rest)
        return names if not self.start else self.start.rstrip("/") + "/" + names if names else self.start

    def to(self, operand: str, physical: bool = False) -> Place:
        """Where `cd operand` leads."""
        start, rest = ("/", ()) if operand.startswith("/") else (self.start, self.rest)
        if physical:
            before = Place(start, rest).text
            return Place(f"{before.rstrip('/')}/{operand.lstrip('/')}" if before else operand)
        for name in operand.split("/"):
            if name in ("", "."):
                continue
            if name != "..":
                rest = (*rest, name)
            elif rest:
                rest = rest[:-1]
            elif start != "/":
                start = f"{start}/.." if start else ".."
        return Place(start, rest)


class Match(Struct, frozen=True):
    """A value that is one of the paths that a glob gave in the directory `place`; `pattern` as in `words.Expanded`."""

    pattern: str
    place: Place


# A text; NUMBER: some number, or nothing; KEYED: an array whose subscripts are plain text.
Value = str | Literal[0, 1] | Match


class State(Struct, frozen=True):
    """What surely holds. `place` None: anywhere; `stack` is what `popd` goes back to, the last first, None: unknown.

    `values` holds the variables of which something is known; PWD there is the directory that the script started in,
    from which `lookup` tells the one that bash has in it now. `errexit`: `set -e` is on for certain. `haunted`: a trap
    may change anything at any time, so that nothing is known any more. `globs`: they stand for what they do by default.
    """

    place: Place | None = Place()
    stack: tuple[Place | None, ...] | None = ()
    values: Mapping[str, Value] = {}
    errexit: bool = False
    haunted: bool = False
    globs: bool = False

    @property
    def cwd(self) -> str | None:
        return None if self.place is None else self.place.text

    def lookup(self, name: str, quoted: bool) -> str | None:
        """The text that the variable gives, None when not known. See `words.Lookup`."""
        value = self.values.get(name)
        if name == "PWD" and isinstance(value, str):
            value = self._pwd(value)
        if not isinstance(value, str):
            return None
        return value if quoted or (_WHOLE.fullmatch(value) and self.values.get("IFS") == IFS) else None

    def glob(self, name: str) -> str | None:
        """The pattern that stands for what the variable holds, None where it does not, or not from here."""
        value = self.values.get(name)
        if not isinstance(value, Match) or (value.place != self.place and not value.pattern.startswith("/")):
            return None
        return value.pattern

    def _pwd(self, first: str) -> str | None:
        if self.place is None or self.place.start not in ("", "/"):
            return None  # only the file system knows
        return "/".join((first.rstrip("/") if not self.place.start else "", *self.place.rest)) or "/"

    def at(self, place: Place | None) -> State:
        return replace(self, place=None if self.haunted else place)

    def without(self, *names: str) -> State:
        return replace(self, values={name: value for name, value in self.values.items() if name not in names})

    def assigned(self, name: str, value: Value | None) -> State:
        if (
            value is None
            or (isinstance(value, str) and len(value) > MAX_VALUE)
            or self.haunted
            or name in _OWN
            or name.startswith("BASH")
        ):
            return self.without(name)
        return replace(self, values={**self.values, name: value})


def lost(haunted: bool = False) -> State:
    """Nothing is known."""
    return State(place=None, stack=None, haunted=haunted)


def first(env: Mapping[str, str]) -> State:
    """Where a script begins that is started with this environment."""
    values: dict[str, Value] = {"IFS": IFS}  # bash does not take it from the environment
    if env.get("HOME", "").startswith("/"):
        values["HOME"] = env["HOME"]
    if not env.get("CDPATH"):
        values["CDPATH"] = ""
    where = env.get("PWD", "")
    if where.startswith("/") and where == posixpath.normpath(where) and where.isprintable() and where[:2] != "//":
        values["PWD"] = where
    return State(values=values, globs=True)


def is_number(value: Value | None) -> bool:
    """Whether arithmetic takes the value for a number and not for more to evaluate."""
    return value == NUMBER if not isinstance(value, str) else bool(_NUMBER.fullmatch(value))


def own_number(name: str) -> bool:
    """Variables of the shell that are always numbers as long as no script sets them."""
    return name in ("RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "UID", "EUID", "PPID", "BASHPID")


def join(one: State | None, other: State | None) -> State | None:
    """What holds whichever of two ways was taken; None is a way that nobody takes."""
    if one is None or other is None or one is other:
        return one or other
    values: dict[str, Value] = {}
    for name, value in one.values.items():
        if name not in other.values:
            continue
        second = other.values[name]
        if value == second and type(value) is type(second):
            values[name] = value
        elif is_number(value) and is_number(second):
            values[name] = NUMBER
    return State(
        place=one.place if one.place == other.place else None,
        stack=one.stack if one.stack == other.stack else None,
        values=values,
        errexit=one.errexit and other.errexit,
        haunted=one.haunted or other.haunted,
        globs=one.globs and other.globs,
    )


def widen(before: State, after: State) -> State:
    """`after` without all that differs from `before`: where a loop does not settle, nothing of that is known."""
    values = {name: value for name, value in after.values.items() if before.values.get(name) == value}
    return replace(
        after,
        place=after.place if after.place == before.place else None,
        stack=after.stack if after.stack == before.stack else None,
        values=values,
    )
