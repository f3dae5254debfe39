"""The table of programs (programs.json) as types: what an engineer may write there. docs/programs.md explains it.

Knows no command; the reading of one by this table is `programs.assess`.
"""

from __future__ import annotations

import functools
import os
import re
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from msgspec import Struct, field, structs

from agenyx.core import json

_HARMLESS_SLOTS = frozenset(("text", "read", "word"))
_VALUE_ROLES = (
    "flags", "text", "read", "write", "rev", "chdir", "host", "at", "name", "script", "checks", "exec", "replace",
    "module", "late", "last",
)  # fmt: skip


class Change(Struct, frozen=True, forbid_unknown_fields=True):
    """What an option changes of its entry; None leaves it. With `value`, a regex, only where all of its value fits."""

    value: str = ""
    kinds: str | None = None
    operands: str | None = None
    tree: bool | None = None
    names: bool | None = None
    hidden: bool | None = None
    default: str | None = None
    check: str | None = None
    why: str | None = None
    concern: str | None = None
    discards: bool | None = None
    drop: bool | None = None
    paths: str | None = None
    into: str | None = None
    late_role: Literal["read", "write"] | None = None

    @property
    def acts(self) -> bool:
        return bool(self.discards or self.paths == "write") or self.kinds not in (None, "", "reads")

    @property
    def given(self) -> dict[str, Any]:
        """The members of Entry that it sets."""
        own = {key: item for key, item in structs.asdict(self).items() if item is not None}
        return {key: item for key, item in own.items() if key not in ("value", "concern")}


class Option(Struct, frozen=True):
    """`takes`: "" no value, "=" one, attached or the next word, "?" only an attached one. `changes` are in order."""

    role: str
    takes: str = ""
    why: str = ""
    changes: tuple[Change, ...] = ()


class Entry(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A program or sub-command; each member is explained in docs/programs.md."""

    kinds: str | None = None
    # Options by what their value is; a token is a letter, a long name, or a literal that starts with "-".
    flags: str = ""
    text: str = ""
    read: str = ""
    write: str = ""
    rev: str = ""
    chdir: str = ""
    host: str = ""
    at: str = ""
    name: str = ""
    script: str = ""
    checks: str = ""
    exec: str = ""
    replace: str = ""
    module: str = ""
    late: str = ""
    last: str = ""
    asks: dict[str, str] = field(default_factory=dict[str, str])
    when: dict[str, Change] = field(default_factory=dict[str, Change])
    # Operands.
    operands: str = ""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    check: str = ""
    unchecked: str = ""
    ignore: str = ""
    drop: bool = False
    paths: str = ""
    late_role: Literal["read", "write"] = "read"
    onto: bool = False
    tree: bool = False
    names: bool = False
    hidden: bool = True
    default: str = ""
    into: str = ""
    sub: dict[str, Entry] = field(default_factory=dict[str, "Entry"])
    # How the words are read.
    raw: bool = False
    stop: bool = False
    bundle: bool = False
    append: bool = False
    assigns: bool = False
    everywhere: bool = False
    here: bool = False
    # Judgement.
    local: str = ""
    offer: bool = True
    named: int = 0
    why: str = ""
    concern: str = ""
    discards: bool = False

    @functools.cached_property
    def options(self) -> dict[str, Option]:
        found: dict[str, Option] = {}
        for role in _VALUE_ROLES:
            for name, takes in _tokens(cast("str", getattr(self, role))):
                found[name] = Option(role, takes)
        for tokens, why in self.asks.items():
            for name, takes in _tokens(tokens):
                found[name] = Option("asks", takes, why)
        for tokens, change in self.when.items():
            for name, takes in _tokens(tokens):
                known = found.get(name, Option("flags", takes))
                found[name] = structs.replace(known, changes=(*known.changes, change))
        return found

    @functools.cached_property
    def tame(self) -> bool:
        """Whether no option at all can make it do more than read: a word that is not seen may then be an option."""
        changes = [change for option in self.options.values() for change in option.changes]
        return (
            not (self.asks or self.sub or self.concern)
            and all(option.role in ("flags", "text", "read") for option in self.options.values())
            and all(_harmless(change.operands or "") for change in changes)
            and not any(change.why or change.concern or change.kinds not in (None, "reads") for change in changes)
            and _harmless(self.operands)
        )

    @property
    def stops(self) -> bool:
        """Whether options end at the first operand."""
        return self.stop or bool(self.sub) or self.starts

    @property
    def starts(self) -> bool:
        """Whether its operands are a command or a script."""
        return "inner*" in self.operands or "script" in self.operands


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """All programs, by name; names of `wild` hold `*`."""

    programs: dict[str, Entry]
    harmless: tuple[str, ...]
    risky: tuple[str, ...]

    def program(self, name: str) -> Entry | None:
        return find(self.programs, name)

    def assigns(self, text: str, exported: bool, local: str = "") -> str:
        """Why the assignment `NAME=value` or `NAME` is not harmless, or "". Unexported, only risky names are not."""
        match = re.match(r"[A-Za-z_][A-Za-z0-9_]*", text)
        name = match[0] if match else ""
        if not match or text[match.end() :].startswith("["):
            return "" if re.fullmatch(r"[A-Za-z_]\w*\[\d*\](?:\+?=.*)?", text) else f"{text} is not a plain variable"
        if name in local.split():
            return ""
        if any(fnmatchcase(name, pattern) for pattern in self.risky):
            return f"the variable {name} changes what programs do"
        if exported and not name.islower() and not any(fnmatchcase(name, pattern) for pattern in self.harmless):
            return f"the variable {name} is not known to be harmless"
        return ""


def find(entries: dict[str, Entry], name: str) -> Entry | None:
    """The entry of exactly this name, else the first whose name has a `*` and matches."""
    if name in entries:
        return entries[name]
    return next((entry for key, entry in entries.items() if "*" in key and fnmatchcase(name, key)), None)


@functools.cache
def table() -> Table:
    """The table of this installation, read once; it is constant."""
    with open(os.path.join(os.path.dirname(__file__), "programs.json"), "rb") as file:
        return build(file.read())


def build(data: bytes) -> Table:
    """Decode a table: names joined by `|` are split and `like` is filled in. Raises JsonError."""
    raw = json.decode(data)
    spread: dict[str, Any] = {}
    programs: dict[str, Entry] = {}
    for names, entry in cast("dict[str, dict[str, Any]]", raw["programs"]).items():
        whole = _spread(entry, spread)
        spread.update(dict.fromkeys(names.split("|"), whole))
        programs.update(dict.fromkeys(names.split("|"), json.convert(whole, Entry)))
    variables = cast("dict[str, str]", raw["variables"])
    known = {name: entry for name, entry in programs.items() if not name.startswith(".") or name == "."}
    return Table(known, tuple(variables["harmless"].split()), tuple(variables["risky"].split()))


def _spread(entry: dict[str, Any], programs: dict[str, Any]) -> dict[str, Any]:
    """An entry whose `like` (an earlier program, or `program sub`) is filled in and whose sub-commands stand alone."""
    own = dict(entry)
    base: dict[str, Any] = {}
    for step in own.pop("like", "").split():
        base = (base["sub"] if base else programs)[step]
    if "sub" in own:
        subs: dict[str, Any] = {}
        for names, child in own["sub"].items():
            kinds = {"kinds": own.get("kinds", base.get("kinds"))}
            subs.update(dict.fromkeys(names.split("|"), _spread(child if "like" in child else kinds | child, programs)))
        own["sub"] = {**base.get("sub", {}), **subs}
    for key, value in base.items():
        if key in _VALUE_ROLES and key in own:
            own[key] = f"{value} {own[key]}"
        elif key in ("asks", "when") and key in own:
            own[key] = {**value, **own[key]}
    return {**base, **own}


def _tokens(text: str) -> list[tuple[str, str]]:
    """(option as written, what it takes) of each token: `a` is -a, `all` is --all, `-all` stays, `x=` takes a value."""
    found: list[tuple[str, str]] = []
    for token in text.split():
        name = token.rstrip("=?")
        dashes = "" if name.startswith("-") or name == "#" else "-" if len(name) == 1 else "--"
        found.append((dashes + name, token[len(name) :]))
    return found


def _harmless(operands: str) -> bool:
    return {slot.rstrip("*") for slot in operands.split()} <= _HARMLESS_SLOTS
