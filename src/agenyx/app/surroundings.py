"""Instructions that come with what is touched: of folders below the workspace root, and rules for certain files.

Each is told once, as a notice at the tail; whether it was, the records say, so that a resumed session knows it too.
After a summary it may be told again. Folders of other repositories, of packages and those that git ignores say nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agenyx.agent.notices import notice
from agenyx.app.extensions import Extensions
from agenyx.core.errors import AgenyxError
from agenyx.core.messages import User
from agenyx.core.tools import Effects
from agenyx.policy.paths import SUPPLIED
from agenyx.proc.spawn import Processes
from agenyx.session.session import Session
from agenyx.workspace.acting import INSTRUCTIONS
from agenyx.workspace.root import Root

if TYPE_CHECKING:
    from agenyx.ext.acting import Item
    from agenyx.ext.instructions import Instruction
    from agenyx.ext.rules import Rule

_REFS = 200  # paths of one call that are looked at
_CHARS = 400_000  # told in this way by one process


class Surroundings:
    """`tell` takes what is to be told to the model. `env` is our own environment, for git."""

    def __init__(
        self,
        extensions: Extensions,
        session: Session,
        root: Root,
        processes: Processes,
        env: Mapping[str, str],
        tell: Callable[[User], None],
    ) -> None:
        self._extensions, self._session, self._root = extensions, session, root
        self._processes, self._env, self._tell = processes, env, tell
        self._open: dict[bytes, bool] = {}  # folders looked at; False: nothing in or below them counts
        self._files: set[bytes] = set()
        self._refused: set[str] = set()
        self._queued: set[str] = set()
        self._rules: tuple[Rule, ...] | None = None
        self._of: object = None
        self._room = _CHARS

    async def __call__(self, effects: Effects) -> None:
        """After a call that ran. Never raises but when it is cancelled."""
        if self._of != (now := _period(self._session)):
            self._of = now
            self._open.clear()
            self._files.clear()
            self._queued.clear()
        paths = [path for path in _inside(effects, self._root.real)[:_REFS] if path not in self._files]
        self._files.update(paths)
        if not paths or self._extensions.gate is None:
            return
        try:
            found = [name for path in paths for name in self._found(path)]
            rules = [rule for rule in self._conditional() if any(self._speaks(rule, path) for path in paths)]
            if found or rules:
                await self._bring(found, rules)
        except (AgenyxError, OSError) as error:
            words = error.message if isinstance(error, AgenyxError) else str(error.strerror)
            self._extensions.tell("warning", f"Instructions of a folder were left out: {words}.")

    def _found(self, path: bytes) -> list[bytes]:
        """Instruction files of the folders between the root and a path that were not looked at before."""
        top, found = self._root.real, list[bytes]()
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if folder == top:
            return found
        place = top
        for part in os.path.relpath(folder, top).split(b"/"):
            place = os.path.join(place, part)
            if place not in self._open:
                nested = os.path.lexists(os.path.join(place, b".git"))
                self._open[place] = not nested and os.fsdecode(part) not in {".git", *SUPPLIED}
                if self._open[place] and not self._root.owns(place):
                    names = (os.path.join(place, name.encode()) for name in INSTRUCTIONS)
                    found += [name for name in names if os.path.lexists(name)]
            if not self._open[place]:
                break
        return found

    def _conditional(self) -> tuple[Rule, ...]:
        if self._rules is None:
            self._rules = ()
            if self._extensions.sources("rules"):
                from agenyx.app.instructed import gathered

                self._rules = gathered(self._extensions).rules
        return self._rules

    def _speaks(self, rule: Rule, path: bytes) -> bool:
        return not os.path.isdir(path) and rule.applies(os.fsdecode(os.path.relpath(path, self._root.real)))

    async def _bring(self, found: Sequence[bytes], rules: Sequence[Rule]) -> None:
        from agenyx.ext.instructions import instructions, told
        from agenyx.ext.sources import of_workspace
        from agenyx.workspace.names import show

        state = self._session.state
        known = {*self._queued, *self._refused}
        for text in state.prefix.system if state.prefix else ():
            known |= told(text)
        for entry in state.view.entries:
            if isinstance(entry, User) and entry.origin == "notice":
                known |= told(entry.text)
        fresh = [os.fsdecode(path) for path in found if show(path) not in known]
        for rule in rules:
            if rule.path not in known:
                self._say(rule.told, f"for files such as {', '.join(rule.patterns)}")
        gate = self._extensions.gate
        if not fresh or gate is None or not (fresh := [path for path in fresh if not await self._ignored(path)]):
            return
        brought = await gate.alone().below(fresh)
        self._refused |= {show(os.fsencode(path)) for path in fresh} - {item.shown for item, _ in brought}
        for group in _grouped(brought):
            texts = instructions(of_workspace(item, data) for item, data in group if item.shown not in known)
            if texts:
                inside = os.path.relpath(os.path.dirname(group[0][0].shown), self._root.path)
                self._say(texts, f"for what lies in {inside}")

    def _say(self, texts: Sequence[Instruction], where: str) -> None:
        text = "\n\n".join(item.block for item in texts)
        self._room -= len(text)
        names = ", ".join(item.path for item in texts)
        if self._room < 0:
            self._extensions.tell("warning", f"{names} was left out: such instructions exceed {_CHARS:,} characters.")
            return
        for item in texts:
            if item.hidden:
                self._extensions.tell(
                    "warning", f"{item.path} holds what cannot be seen, told as escapes: {item.hidden}."
                )
        self._queued.update(item.path for item in texts)
        self._tell(notice(f"Instructions {where}, which the user trusts; follow them there.\n\n{text}"))
        self._extensions.tell("info", f"Instructions {where}: {names}")

    async def _ignored(self, path: str) -> bool:
        """Whether git ignores a file. Where git cannot say, it does not."""
        from agenyx.workspace.git import top
        from agenyx.workspace.gitrun import GitProblem, open_repository

        if top(self._root.real) is None:
            return False
        with suppress(GitProblem):
            repository = await open_repository(self._processes, self._env, self._root.real)
            inside = os.path.relpath(os.fsencode(path), self._root.real)
            return (await repository.look("check-ignore", "-q", "--", inside)).code == 0
        return False


def _inside(effects: Effects, top: bytes) -> list[bytes]:
    """The paths in the workspace that a call touched, each once."""
    refs = (*effects.reads, *effects.writes, *effects.removes)
    prefix = top.rstrip(b"/") + b"/"
    return list(dict.fromkeys(ref.real for ref in refs if not ref.problem and ref.real.startswith(prefix)))


def _period(session: Session) -> object:
    """What changes when the requests begin anew: by a summary, or by going back."""
    view = session.state.view
    return id(view), view.ids[0] if view.ids else ""


def _grouped(found: Sequence[tuple[Item, bytes]]) -> list[list[tuple[Item, bytes]]]:
    """Each file that acts by itself with what it takes in."""
    groups: list[list[tuple[Item, bytes]]] = []
    for item, data in found:
        if item.by and groups:
            groups[-1].append((item, data))
        else:
            groups.append([(item, data)])
    return groups
