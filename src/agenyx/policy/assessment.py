"""What the table of programs says about one simple command: values only."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from agenyx.core.tools import Concern, Kind

Role = Literal["read", "write", "remove"]
Words = tuple[str | None, ...]
Globs = tuple[tuple[int, str], ...]


class Operand(Struct, frozen=True):
    """A path among the words: `word` as bash hands it over, None where only the run knows it.

    `tree`: everything below it as well; with `names` only names and facts of files are looked at, no content; without
    `hidden` nothing below whose name starts with a dot. `glob`: the pattern that gives the paths; `word` is then the
    folder that holds them all where that is certain.
    """

    role: Role
    word: str | None
    tree: bool = False
    names: bool = False
    hidden: bool = True
    glob: str = ""


class Inner(Struct, frozen=True):
    """A command that the program starts. `chdir` is relative to where the program stands, None if not known."""

    argv: Words
    assigns: tuple[str, ...] = ()
    chdir: str | None = ""
    globs: Globs = ()


class Assessment(Struct, frozen=True):
    """What a command does by itself, and what it starts; see Command for kinds and why.

    `here`: its scripts run in the shell itself. `discards`: it loses uncommitted work of a git tree. `offer`: which
    rule may be offered for it, one with the `prefix`, one for the exact words, or none. `local`: variables that may
    stand before it. `sets`: its words are variables of the shell ("name") or of what it starts ("export").
    `chdir` is where an option makes it act, relative to where it stands.
    """

    kinds: tuple[Kind, ...]
    operands: tuple[Operand, ...] = ()
    hosts: tuple[str, ...] = ()
    inner: tuple[Inner, ...] = ()
    scripts: tuple[str, ...] = ()
    why: str = ""
    concerns: tuple[Concern, ...] = ()
    discards: bool = False
    prefix: tuple[str, ...] = ()
    offer: Literal["prefix", "exact", "none"] = "exact"
    here: bool = False
    local: str = ""
    sets: Literal["", "name", "export"] = ""
    chdir: str = ""


def folder_of(glob: str) -> str | None:
    """The folder that holds whatever the pattern matches, None where that is not certain."""
    start = re.match(r"[^*?\[{~+@!()\\$]*", glob)
    fixed = start[0] if start else ""
    rest = glob[len(fixed) :]
    if ".." in rest or rest[:1] in ("~", "$") or (rest[:1] == "{" and not fixed):
        return None
    folder, slash, _ = fixed.rpartition("/")
    return folder or slash or "."
