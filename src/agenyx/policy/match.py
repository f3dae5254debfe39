"""What rules say about one call: which of them deny it or want to ask, and which parts of it are allowed.

Owns the sorting of a policy's rules for quick look-up. A call is known by its Effects; the name of the tool counts only
for rules about a whole tool. Knows no mode and no order of decision: that is `policy.decide`. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from agenyx.core.tools import Command, Effects, PathRef, Redirect
from agenyx.core.verdict import Rule
from agenyx.policy import match_host, match_path, match_shell
from agenyx.policy.match_path import Bases
from agenyx.policy.rules import CHANGERS, LOOKERS, ceiling

Identities = Mapping[str, frozenset[tuple[int, int]]]
Access = Literal["read", "change"]
WRITING = (">", ">>", ">|", "&>", "&>>", "<>", ">&")
FILES = (*WRITING, "<")


class Hit(Struct, frozen=True):
    """A rule that speaks about `part` of a call; not `sure` where what the call does there is not wholly seen."""

    rule: Rule
    part: str
    sure: bool = True


class Cover(Struct, frozen=True):
    """How a command stands to the allow rules: covered by `rule`, or `idle` (does nothing by itself), or neither."""

    rule: Rule | None = None
    idle: bool = False
    exact: bool = False


class _Path(Struct, frozen=True):
    rule: Rule
    access: Access
    tool: str  # the only tool it is about, "" for all


class _Side:
    """The rules of one decision, by what they speak about."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.names: dict[str, Rule] = {}
        self.servers: list[Rule] = []
        self.subjects: list[Rule] = []
        self.hosts: list[Rule] = []
        self.paths: list[_Path] = []
        self.shell: list[Rule] = []
        self.programs: dict[str, list[Rule]] = {}
        self.generic: list[Rule] = []
        for rule in rules:
            self._file(rule)

    def _file(self, rule: Rule) -> None:
        tool, pattern = rule.tool, rule.pattern
        if tool.startswith("mcp__"):
            self.servers.append(rule)
        elif tool in CHANGERS:
            self.paths.append(_Path(rule, "change", ""))
        elif tool in LOOKERS and (pattern or tool == "Read"):
            self.paths.append(_Path(rule, "read", "" if tool == "Read" else tool))
        elif not pattern:
            self.names.setdefault(tool.casefold(), rule)
        elif tool == "Bash":
            self.shell.append(rule)
            program = match_shell.compiled(pattern).program
            (self.programs.setdefault(program, []) if program else self.generic).append(rule)
        elif tool == "WebFetch":
            self.hosts.append(rule)
        else:
            self.subjects.append(rule)

    def for_command(self, words: match_shell.Spelled) -> Sequence[Rule]:
        """The rules with a shell pattern that could match."""
        if not words.programs:
            return self.shell if words.words else ()
        found = self.programs.get(words.programs[0])
        return [*found, *self.generic] if found else self.generic


class Book:
    """The rules of a policy, ready to be asked. `identities` tells which files the rules with plain paths named.

    With `edits`, changes to files of the workspace need no rule of their own beside that of the command.
    """

    def __init__(self, rules: Iterable[Rule], bases: Bases, identities: Identities, edits: bool = False) -> None:
        counted = sorted((rule for rule in rules if not ceiling(rule)), key=lambda rule: (rule.source, rule.text))
        self._bases, self._identities, self._edits = bases, identities, edits
        self._sides = {
            choice: _Side(rule for rule in counted if rule.decision == choice) for choice in ("deny", "ask", "allow")
        }

    # --- deny and ask -----------------------------------------------------------------------------------------------

    def hits(self, choice: Literal["deny", "ask"], name: str, effects: Effects, subject: str = "") -> list[Hit]:
        """Every rule that speaks about the call, at most one for each part. These rules lean to match."""
        side = self._sides[choice]
        found = list(self._tool_hits(side, name, effects, subject))
        if side.shell:
            script = effects.script.strip()
            for rule in side.shell if script else ():
                if _is_script(rule, script):
                    found.append(Hit(rule, script))
            for command in effects.commands:
                found += _first(_command_hits(side, command))
        if side.paths:
            found += self._path_hits(side.paths, name, effects)
        if side.hosts:
            found += _host_hits(side.hosts, effects)
        return found

    def _tool_hits(self, side: _Side, name: str, effects: Effects, subject: str) -> Iterator[Hit]:
        folded = name.casefold()
        if rule := side.names.get(folded):
            yield Hit(rule, name)
        for rule in side.servers:
            if serves(rule.tool.casefold(), folded):
                yield Hit(rule, name)
        for rule in side.subjects:
            if rule.tool.casefold() == folded and (
                match_shell.compiled(rule.pattern).matches(subject)
                or match_shell.compiled(rule.pattern.casefold()).matches(subject.casefold())
            ):
                yield Hit(rule, f"{name} {subject}")
        mine: Access = "change" if name in CHANGERS else "read"
        if (name in CHANGERS or name == "Read") and not (effects.reads or effects.writes or effects.removes):
            for path in side.paths:  # the arguments were no path: the tool is still the one that is meant
                if not path.rule.pattern and path.access == mine and not path.tool:
                    yield Hit(path.rule, name)

    def _path_hits(self, paths: list[_Path], name: str, effects: Effects) -> Iterator[Hit]:
        changes = (*effects.writes, *effects.removes)
        for access, refs in (("read", effects.reads), ("change", changes)):
            for ref in refs:
                names = match_path.candidates(ref, self._bases)
                for path in paths:
                    if path.access == access and path.tool in ("", name) and self._is_at(path.rule, ref, names):
                        yield Hit(path.rule, ref.shown)
                        break
        pattern = next((path.rule for path in paths if path.rule.pattern and not path.tool), None)
        if pattern is not None:
            for command in effects.commands:
                if (command.kinds or command.redirects) and _has_hole(command):
                    yield Hit(pattern, match_shell.describe(command), sure=False)

    def _is_at(self, rule: Rule, ref: PathRef, names: match_path.Names) -> bool:
        if not rule.pattern or match_path.touches(rule.pattern, names):
            return True
        return ref.identity is not None and ref.identity in self._identities.get(rule.text, ())

    # --- allow ------------------------------------------------------------------------------------------------------

    def whole(self, name: str, effects: Effects, subject: str = "") -> Rule | None:
        """The allow rule for the tool by its name (and subject), or for the script by its whole text."""
        side = self._sides["allow"]
        script = effects.script.strip()
        for rule in side.shell if script else ():
            if _is_script(rule, script):
                return rule
        if effects.commands:
            return None
        if (rule := side.names.get(name.casefold())) and rule.tool == name:
            return rule
        for rule in side.servers:
            if serves(rule.tool, name):
                return rule
        for rule in side.subjects:
            if rule.tool == name and match_shell.compiled(rule.pattern).matches(subject):
                return rule
        return None

    def path(self, access: Access, name: str, ref: PathRef) -> Rule | None:
        """The allow rule that covers a path."""
        for path in self._sides["allow"].paths:
            if path.access != access or path.tool not in ("", name):
                continue
            pattern = path.rule.pattern  # without one: the whole workspace, but nothing beyond it
            if match_path.covers(pattern, ref, self._bases) if pattern else ref.root is not None:
                return path.rule
        return None

    def host(self, name: str, host: str) -> Rule | None:
        """The allow rule that covers a host which a tool contacts by itself."""
        side = self._sides["allow"]
        if name == "WebFetch" and (rule := side.names.get("webfetch")):
            return rule
        return next((rule for rule in side.hosts if match_host.matches(rule.pattern, host)), None)

    def covers(self, name: str, commands: Sequence[Command]) -> list[Cover]:
        """How each command of a script stands to the allow rules."""
        side, found = self._sides["allow"], list[Cover]()
        everything = side.names.get(name.casefold())
        everything = everything if everything and everything.tool == name else None
        outer: Rule | None = None
        for command in commands:
            cover = Cover(outer) if command.inside and outer else self._cover(side, everything, name, command)
            if not command.inside:  # an exact rule for the outer command fixes the words of the inner ones too
                outer = cover.rule if cover.exact else None
            found.append(cover)
        return found

    def _cover(self, side: _Side, everything: Rule | None, name: str, command: Command) -> Cover:
        if any(unseen(redirect) for redirect in command.redirects):
            return Cover()
        if within(command.cwd, self._bases.workspace, self._bases.folders):
            if everything and not command.why:
                return Cover(everything)
            for rule in side.for_command(match_shell.spelled(command.argv, command.assigns)):
                how = match_shell.covers(rule.pattern, command)
                seen = how == "exact" or (how == "wild" and not command.why)
                if seen and not self.beyond(name, command, how == "exact"):
                    return Cover(rule, exact=how == "exact")
        if not command.kinds and not command.why and not (command.removes or command.hosts):
            rules = [self.path("change", name, ref) for ref in command.writes]
            if all(rules):  # a rule for what it redirects to is a rule for the command
                return Cover(rules[0] if rules else None, idle=not rules)
        return Cover()

    def beyond(self, name: str, command: Command, exact: bool) -> list[tuple[Access, PathRef]]:
        """The paths that need a rule of their own beside a rule for the words, and have none.

        No rule for words speaks of redirections. One with a wildcard for a program that looks (`sort:*`) does not speak
        of the files that an option makes it write, nor, for any program, of what lies outside the workspace.
        """
        loose = not exact or any(redirect.op in FILES for redirect in command.redirects)
        if not loose:
            return []
        writes = any(redirect.op in WRITING for redirect in command.redirects)
        changes = [ref for ref in command.writes if ref.root is None or not self._edits]
        if not (writes or (not exact and "reads" in command.kinds)):
            changes = []
        beyond = [ref for ref in command.reads if ref.root is None]
        uses: tuple[tuple[Access, list[PathRef]], ...] = (("change", changes), ("read", beyond))
        # What counts as inside though it is no file of the workspace, such as /dev/null, needs none.
        return [
            (access, ref)
            for access, refs in uses
            for ref in refs
            if ref.root != "/dev" and not self.path(access, name, ref)
        ]


def serves(rule: str, name: str) -> bool:
    """Whether `mcp__server` or `mcp__server__tool` speaks about the tool of that name."""
    return name == rule or name.startswith(rule + "__")


def within(cwd: str | None, workspace: str, folders: tuple[str, ...] = ()) -> bool:
    """Whether a command's directory is known and, as far as its name tells, in the workspace or one of the folders."""
    if cwd is None:
        return False
    if cwd.startswith("/"):
        tops = [top.rstrip("/") + "/" for top in (workspace, *folders) if top]
        return ".." not in cwd.split("/") and any(f"{cwd}/".startswith(top) for top in tops)
    depth = 0
    for part in cwd.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return False
    return True


def _is_script(rule: Rule, script: str) -> bool:
    pattern = match_shell.compiled(rule.pattern)
    return pattern.exact and script in (pattern.pieces[0], rule.pattern)


def _first(hits: Iterator[Hit]) -> Iterator[Hit]:
    """The sure hit of a command if there is one, else the first."""
    found: Hit | None = None
    for hit in hits:
        if hit.sure:
            yield hit
            return
        found = found or hit
    if found is not None:
        yield found


def _command_hits(side: _Side, command: Command) -> Iterator[Hit]:
    words = match_shell.spelled(command.argv, command.assigns)
    for rule in side.for_command(words):
        hit = match_shell.touches(rule.pattern, words)
        if hit is not False:
            yield Hit(rule, match_shell.describe(command), hit is True)


def _host_hits(rules: list[Rule], effects: Effects) -> Iterator[Hit]:
    for host in effects.hosts:
        for rule in rules:
            if match_host.matches(rule.pattern, host):
                yield Hit(rule, host)
                break
    for command in effects.commands:
        if "network" in command.kinds and (not command.hosts or None in command.argv):
            yield Hit(rules[0], match_shell.describe(command), sure=False)


def _has_hole(command: Command) -> bool:
    seen = {at for at, _ in command.globs}
    hole = any(word is None and at not in seen for at, word in enumerate(command.argv))
    return hole or any(unseen(redirect) for redirect in command.redirects)


def unseen(redirect: Redirect) -> bool:
    """Whether it opens a file whose name is not static; text that is given in place (`<<<`) is no file."""
    return redirect.target is None and not redirect.op.startswith("<<")
