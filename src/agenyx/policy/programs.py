"""What one simple command does, by the table of programs: the interpreter of programs.json. Pure; knows no program.

A program, option or word that is not in the table is never guessed: it gives the kind "unknown" or a `why`.
"""

from __future__ import annotations

import posixpath
import re

from msgspec import structs

from agenyx.policy.assessment import Assessment, Globs, Inner, Operand, Words
from agenyx.policy.slots import UNSEEN, Found, plan
from agenyx.policy.table import Change, Entry, Option, find, table

_SYSTEM = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_UNKNOWN = Entry(kinds="unknown", operands="text*", raw=True)
_MODULE = Entry(kinds="runs", operands="text*", raw=True, offer=False)


def assess(argv: Words, globs: Globs = ()) -> Assessment:
    """`argv` is not empty; `globs` are the patterns of words that are None only because bash expands them."""
    if argv[0] is None:
        return Assessment(("unknown",), why=f"the name of a command is {UNSEEN}", offer="none")
    folder, slash, name = argv[0].rpartition("/")
    entry = table().program(name)
    # Where letter case does not matter to the file system, REBOOT is reboot; a refusal is worth a false alarm.
    if (lower := table().program(name.casefold())) and lower.concern.startswith("refuse"):
        entry = lower
    elif slash and folder not in _SYSTEM:
        return Assessment(("runs",), (Operand("read", argv[0]),), prefix=(argv[0],), offer="prefix")
    return _Reading(argv, dict(globs), entry).judge() if entry else Assessment(("unknown",), prefix=(argv[0],))


class _Reading:
    """One pass over the words. `place` is the next word, `scope` the entries whose options are known there."""

    def __init__(self, argv: Words, globs: dict[int, str], entry: Entry) -> None:
        self.words, self.globs, self.place, self.entry, self.scope = argv, globs, 1, entry, [entry]
        self.name = argv[0] or ""
        self.prefix, self.found, self.placeholder = [self.name], Found(self.name), ""
        self.changes: list[Change] = []
        self.late: list[str | None] = []
        self.positional: list[int] = []

    def judge(self) -> Assessment:
        self._walk()
        tame = self.entry.tame
        # What makes it harmless never stands against what makes it act, in whatever order they are written.
        for change in sorted(self.changes, key=lambda change: change.acts):
            self.entry = structs.replace(self.entry, **change.given)
        for value in self.late:
            self.found.value(self.entry.late_role, value)
        self._operands(tame)
        named = [self.words[at] or "" for at in self.positional[: self.entry.named]]
        prefix = (*self.prefix, *named)
        fits = prefix == self.words[: len(prefix)] and all(named) and len(named) == self.entry.named
        return self.found.assessment(self.entry, prefix, fits)

    # --- options

    def _walk(self) -> None:
        while self.place < len(self.words):
            word, at = self.words[self.place], self.place
            if self.entry.raw or word == "--":
                self.positional += range(at + (word == "--" and not self.entry.raw), len(self.words))
                return
            self.place += 1
            if word is not None and word in self.entry.ignore.split():
                continue
            if word is not None and word.startswith("-") and word != "-":
                self._option(word)
                continue
            if word is None and not self.entry.tame and self.globs.get(at, "-")[0] in "-+*?[{~@!":
                self.found.unseen("a word")  # it may be an option
            if self.entry.sub and not self.entry.module:
                self.prefix.append(word or "")
                self._enter(find(self.entry.sub, word or ""))
            elif self.entry.bundle and at == 1:
                self._letters(f"-{word}", attach=False)
            else:
                self.positional += range(at, len(self.words) if self.entry.stops else at + 1)
                if self.entry.stops:
                    return

    def _enter(self, sub: Entry | None) -> None:
        """Go on with the entry of a sub-command; options before it do not change what that does."""
        if sub is None:
            self.found.whys.append(f"the sub-command {self.prefix[-1]} of {self.name} is not known here")
        self.changes = []
        self.entry = sub or _UNKNOWN
        self.scope = [self.entry, *(entry for entry in self.scope if entry.everywhere)]

    def _option(self, word: str) -> None:
        name, equals, value = word.partition("=")
        option = self._known(name) if len(name) > 2 else None
        if option and (option.takes or not equals):
            self._apply(option, name, value if equals else None)
        elif word.startswith("--"):
            self.found.whys.append(f"the option {name} of {self.name} is not known here")
        elif not (word[1:].isdigit() and self._known("#")):
            self._letters(word, attach=True)

    def _letters(self, word: str, attach: bool) -> None:
        """Letters in one word; without `attach` (the old style of tar) values are the next words."""
        for end, letter in enumerate(word[1:], 2):
            option = self._known(f"-{letter}")
            if option is None:
                self.found.whys.append(f"the option {word} of {self.name} is not known here")
                return
            rest = word[end:] if attach and option.takes else ""
            self._apply(option, f"-{letter}", rest or None)
            if rest:
                return

    def _known(self, name: str) -> Option | None:
        return next((entry.options[name] for entry in self.scope if name in entry.options), None)

    def _apply(self, option: Option, name: str, value: str | None) -> None:
        glob = ""
        if option.takes == "==":
            self.place += 1  # the first of two is a name
        if value is None and option.takes in ("=", "==") and self.place < len(self.words):
            value, glob = self.words[self.place], self.globs.get(self.place, "")
            self.place += 1
        elif value is None:
            value = ""
        for change in option.changes:
            if not change.value or value is None or re.fullmatch(change.value, value, re.DOTALL):
                self.changes.append(change)
                self.found.whys.append(change.why or "")
                self.found.concerns.append(change.concern or "")
        match option.role:
            case "asks":
                self.found.whys.append(f"the option {name} of {self.name} {option.why}")
            case "exec":
                self._exec(name)
            case "module":
                self.prefix += [name, value or ""]
                self._enter(find(self.entry.sub, value or "") or _MODULE)
            case "chdir" | "replace" | "flags" if value is None:
                self.found.unseen(f"the value of {name}")
            case "chdir":
                self.found.chdir = posixpath.join(self.found.chdir, value or "")
            case "replace":
                self.placeholder = value or "{}"
            case "late":
                self.late.append(value)
            case "checks":
                self.found.operand("check", value, glob, self.entry)
            case "last":
                self.positional += range(self.place, len(self.words))
                self.place = len(self.words)
            case role:
                self.found.value(role, value, glob)

    # --- operands

    def _operands(self, tame: bool) -> None:
        slots = plan(self.entry, len(self.positional))
        if len(self.positional) > len(slots):
            self.found.whys.append(f"{self.name} takes fewer words than it is given here")
        self.found.defaults(self.entry, slots)
        for slot, at in zip(slots, self.positional, strict=False):
            word = self.words[at]
            if slot == "inner":
                self._inner(at, len(self.words), self.found.chdir)
                break
            if slot == "text" and word is None and tame and self.entry.read:
                self.found.value("read", None)  # it may be an option that names a file
            else:
                self.found.operand(slot, word, self.globs.get(at, ""), self.entry)

    def _exec(self, name: str) -> None:
        """The command of `find -exec`: to `;` or `{} +`."""
        rest = self.words[self.place :]
        ends = (at for at, word in enumerate(rest) if word == ";" or (word == "+" and at and rest[at - 1] == "{}"))
        end = next(ends, len(rest))
        if None in rest[:end]:
            self.found.unseen("a word")
        self.placeholder = "{}"
        self._inner(self.place, self.place + end, None if name.endswith("dir") else "")
        self.place += end + 1

    def _inner(self, start: int, end: int, chdir: str | None) -> None:
        """Words that are a command of their own; before it NAME=value where the program takes that."""
        assigns: list[str] = []
        while self.entry.assigns and start < end and _ASSIGNMENT.match(self.words[start] or ""):
            assigns.append(self.words[start] or "")
            start += 1
        mark = self.placeholder
        argv = tuple(None if mark and word and mark in word else word for word in self.words[start:end])
        if argv:
            more = (None,) if self.entry.append and not mark else ()
            globs = tuple((at - start, glob) for at, glob in self.globs.items() if start <= at < end)
            self.found.inner.append(Inner((*argv, *more), tuple(assigns), chdir, globs))
