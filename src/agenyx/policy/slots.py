"""What a word means by its place: a path, a host, a script, a name. Collects for `programs.assess`.

Knows no program; what stands where is the table's.
"""

from __future__ import annotations

import posixpath
import re
from typing import cast

from agenyx.core.json import convert
from agenyx.core.tools import Concern, Kind
from agenyx.policy.assessment import Assessment, Inner, Operand, Role, folder_of
from agenyx.policy.table import Entry, table

UNSEEN = "known only when it runs"

_HOST = re.compile(r"(?:[a-z][\w+.-]*:/+)?+(?:[^/?#\\]*@)?(\[[0-9a-f:.]+\]|[\w.-]+)(?:[:/?#].*)?", re.I | re.S)
_URL = re.compile(r"[a-z][\w+.-]*://", re.I)
_TRANSPORT = re.compile(r"[\w+.-]+::")
_REMOTE = re.compile(r"(?:[^/:]*@)?([^/:]+):")
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.I)
_PLAIN = Entry()


def plan(entry: Entry, count: int) -> list[str]:
    """What each of `count` operands is: the slot with `*` takes those that the others leave."""
    slots = entry.operands.split()[1 if entry.drop else 0 :]
    slots = [entry.paths + ("*" if slot.endswith("*") else "") if slot.rstrip("*") in ("read", "write") and entry.paths
             else slot for slot in slots]  # fmt: skip
    star = next((at for at, slot in enumerate(slots) if slot.endswith("*")), None)
    if star is None:
        return slots[:count]
    last = min(len(slots) - star - 1, max(0, count - star))
    middle = [slots[star][:-1]] * (count - star - last)
    return slots[: min(star, count)] + middle + slots[len(slots) - last :]


class Found:
    """What the words of one command come to. `name` is the program, `chdir` where its operands are looked up."""

    def __init__(self, name: str) -> None:
        self.name, self.chdir = name, ""
        self.operands: list[Operand] = []
        self.hosts: list[str] = []
        self.inner: list[Inner] = []
        self.scripts: list[str] = []
        self.parts: list[str] = []  # words that are joined to one script
        self.whys: list[str] = []
        self.concerns: list[str] = []
        self.changes = False

    def unseen(self, what: str) -> None:
        self.whys.append(f"{what} of {self.name} is {UNSEEN}")

    def value(self, slot: str, word: str | None, glob: str = "") -> None:
        """The value of an option, looked up where the program was started."""
        if word not in ("", "-"):
            self._word(slot, word, glob, _PLAIN, "")

    def operand(self, slot: str, word: str | None, glob: str, entry: Entry) -> None:
        if slot == "script" and word is not None:
            self.parts.append(word)
        else:
            self._word(slot, word, glob, entry, self.chdir)

    def defaults(self, entry: Entry, slots: list[str]) -> None:
        """What is touched without being named."""
        if entry.default and set(slots) <= {"text", "check"}:
            roles = [slot.rstrip("*") for slot in (entry.paths or entry.operands).split()]
            role = next((role for role in roles if role in ("read", "write", "remove")), "read")
            self._word(role, entry.default, "", entry, self.chdir)
        if entry.into:
            self.operands.append(Operand("write", posixpath.join(self.chdir, entry.into), tree=True))

    def _word(self, slot: str, word: str | None, glob: str, entry: Entry, folder: str) -> None:
        if slot == "key" and word is not None:
            key, equals, value = word.partition("=")
            slot, word = (entry.keys.get(key, "unknown"), value) if equals else ("unknown", word)
        if slot in ("remote", "remotewrite", "where", "own") and word is not None:
            path = {"remote": "read", "remotewrite": "write"}.get(slot, "read" if "/" in word else "")
            host = None if _URL.match(word) else _REMOTE.match(word)
            if _TRANSPORT.match(word):
                self.whys.append(f"{word.partition(':')[0]}:: is a program that {self.name} starts")
            elif slot == "own" and (host or _URL.match(word)):
                self.whys.append("it names an address, not a remote of the repository")
            slot, word = ("host", host[1]) if host else ("host" if _URL.match(word) else path, word)
        match slot:
            case "" | "flags" | "text":
                pass
            case "changes":
                self.changes = True
            case "read" | "write" | "remove":
                self._path(slot, word, glob, entry, folder, entry.tree)
            case "move":
                self._path("read", word, glob, entry, folder, True)
                self._path("remove", word, glob, entry, folder, True)
            case "rev":  # git's REVISION:PATH names a file too
                path = re.sub(r"^[^:]*:(?:[0-3]:)?", "", word, count=1) if word else word
                self._path("read", path or word, glob, entry, folder, entry.tree)
            case "word" if word is None:
                pass
            case _ if word is None:
                self.unseen("a word")
            case "at":
                if word.startswith("@"):
                    self._path("read", word[1:], "", entry, folder, False)
            case "host":
                self._host(word)
            case "check" | "word" | "script":
                if entry.check and not re.fullmatch(entry.check, word, re.DOTALL):
                    (self.concerns if entry.unchecked else self.whys).append(
                        entry.unchecked or f"what {word!r} makes {self.name} do is not seen"
                    )
                elif slot == "script":
                    self.scripts.append(word)
            case "name" | "export":
                self.whys.append(table().assigns(word, slot == "export", entry.local))
            case _:
                self.whys.append(f"{word} is not known here as a word of {self.name}")

    def _path(self, role: Role, word: str | None, glob: str, entry: Entry, folder: str, tree: bool) -> None:
        if word == "-" and role == "read":
            return
        hidden = entry.hidden
        if word is None and not glob and role != "read":
            self.unseen(f"what to {role}")
        elif word is None and glob and role == "read":
            word, tree, hidden = folder_of(glob), True, "/." in f"/{glob}"
        if word is not None:
            word = posixpath.join(folder, word)
        self.operands.append(Operand(role, word, tree, entry.names, hidden, glob))

    def _host(self, word: str) -> None:
        if match := _FILE.match(word):
            self.operands.append(Operand("read", word[match.end() :]))
        elif match := _HOST.fullmatch(word):
            self.hosts.append(match[1].lower())
        else:
            self.whys.append(f"the host in {word!r} is not understood")

    def _onto(self) -> None:
        """The last written path may be a folder, which then gets the names of what is read."""
        for target in [operand for operand in self.operands if operand.role == "write" and operand.word is not None]:
            for source in [operand for operand in self.operands if operand.role == "read"]:
                name = posixpath.basename((source.word or "").rstrip("/"))
                if source.word is None or source.glob or name in ("", ".", ".."):
                    self.operands.append(Operand("write", target.word, tree=True))
                else:
                    self.operands.append(Operand("write", posixpath.join(target.word or "", name), source.tree))

    def assessment(self, entry: Entry, prefix: tuple[str, ...], fits: bool) -> Assessment:
        """The result. `fits` tells that a rule for the prefix would match this command."""
        if self.parts and self.parts != ["-"]:
            self._word("script", " ".join(self.parts), "", entry, "")
        elif self.parts and entry.check:
            self.unseen("the script")
        if entry.onto:
            self._onto()
        roles = {operand.role for operand in self.operands}
        kinds = (entry.kinds or "").split()
        kinds += ["writes"] if "write" in roles or self.changes else []
        kinds += ["removes"] if "remove" in roles else []
        kinds += ["network"] if self.hosts else []
        why = "; ".join(dict.fromkeys(text for text in (*self.whys, entry.why) if text))
        texts = dict.fromkeys(text for text in (*self.concerns, entry.concern) if text)
        offer = "prefix"
        if why or texts or entry.discards or entry.sub or not fits or {"network", "unknown"} & set(kinds):
            offer = "exact"
        if entry.starts or self.inner or self.scripts or "removes" in kinds or not entry.offer:
            offer = "none"
        return Assessment(
            cast("tuple[Kind, ...]", tuple(dict.fromkeys(kinds))),
            tuple(self.operands),
            tuple(self.hosts),
            tuple(self.inner),
            tuple(self.scripts),
            why,
            tuple(_concern(text, self.name) for text in texts),
            entry.discards,
            prefix,
            offer,
            entry.here,
            entry.local,
            "export" if "export" in entry.operands else "name" if "name" in entry.operands else "",
            self.chdir,
        )


def _concern(text: str, part: str) -> Concern:
    level, _, what = text.partition(": ")
    return convert({"level": level, "text": what, "part": part}, Concern)
