"""Takes checkpoints around calls that act: what the paths of their Effects hold before, and what came of them.

A call that only looks costs nothing; one whose Effects name all files costs a copy of those files. Only a command of
which not everything is seen has git look at the work tree before and after it. What cannot be kept is told once, and
never stops a call. Knows no tool by name and no surface.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from agenyx.agent import touched
from agenyx.agent.ports import Kept
from agenyx.agent.touched import ours
from agenyx.core.errors import AgenyxError
from agenyx.core.events import Notice
from agenyx.core.tools import Command, Effects
from agenyx.proc.spawn import Processes
from agenyx.session.checkpoints import ABSENT, FOLDER, KEPT_FILE, LINK, UNKNOWN, Blobs
from agenyx.session.records import Checkpoint
from agenyx.workspace import gitwatch
from agenyx.workspace.birth import GRAIN, born, changed_since, facts_of, ignores_changed, made_since, settled
from agenyx.workspace.git import top
from agenyx.workspace.gitrun import open_repository
from agenyx.workspace.names import show
from agenyx.workspace.restore import Found, Place
from agenyx.workspace.root import Root

MOST = 2000  # paths of one call
BYTES = 64 << 20  # of copies for one call
_SOON = 8  # paths that are looked at without a thread
_PATIENCE = 2  # times that git may fail to look before it is asked no more


class State(Struct, frozen=True):
    """What a path was. `state` as session.checkpoints says."""

    state: str
    mode: int


class _Open:
    """A call that is under way."""

    def __init__(self) -> None:
        self.named: dict[bytes, State] = {}
        self.met: dict[bytes, State] = {}  # not named: they count only if they changed
        self.folders: list[bytes] = []  # whose new files are of this call
        self.tree: gitwatch.Tree | None = None
        self.started = time.time_ns() - GRAIN
        self.records: tuple[Checkpoint, ...] | None = None
        self.note, self.room = "", BYTES


class Checkpoints:
    """Those of one session, whose folder is `directory`. `env` is what git starts from; `tell` speaks to the person."""

    def __init__(
        self,
        root: Root,
        session: str,
        directory: str,
        processes: Processes,
        env: Mapping[str, str],
        tell: Callable[[Notice], None],
        blobs: Blobs | None = None,
    ) -> None:
        self._root, self._session, self._directory = root, session, directory
        self._processes, self._env, self._tell = processes, env, tell
        self._place, self._blobs = Place(root, KEPT_FILE), blobs or Blobs(directory)
        self._open: dict[str, _Open] = {}
        self._told: set[str] = set()
        self._failed = 0
        self._known: dict[bytes, tuple[tuple[int, ...], State]] = {}

    async def before(self, call: str, effects: Effects) -> Sequence[Checkpoint]:
        """What goes on record before the call acts."""
        if not effects.acts:
            return ()
        now = self._open[call] = _Open()
        try:
            await self._before(now, effects)
        except Exception as error:  # noqa: BLE001 - the rim around keeping: it must not stop the call
            self._say(f"What this call changes is not kept for a rewind: {type(error).__name__}: {error}.")
        return [Checkpoint(call, show(path), was.state, None, was.mode) for path, was in now.named.items()]

    async def _before(self, now: _Open, effects: Effects) -> None:
        named = touched.named(effects, self._root)
        if len(named) > MOST:
            self._say(f"This call names more than {MOST:,} paths; those beyond are not kept for a rewind.")
            named = named[:MOST]
        if len(named) > _SOON:
            await asyncio.to_thread(self._take, now, named)
        else:
            self._take(now, named)
        watched = touched.unseen(effects) or any(now.named[path].state == FOLDER for path in named if path in now.named)
        if watched:
            await self._watch(now, effects)
        if effects.script and (lost := [one for one in effects.commands if touched.discards(one)]):
            await self._keep_work(now, lost)

    async def after(self, call: str) -> None:
        """See what the call did; `ended` hands it over."""
        now = self._open.get(call)
        if now is None:
            return
        if now.tree is not None:
            try:
                await self._compare(now, now.tree)
            except AgenyxError as problem:
                self._say(f"What this command changed is not kept for a rewind: {problem.message}.")
            except Exception as error:  # noqa: BLE001 - the rim around keeping: it must not fail the call
                self._say(f"What this command changed is not kept for a rewind: {type(error).__name__}: {error}.")
        if now.tree is not None or now.folders or len(now.named) > _SOON:
            now.records = await asyncio.to_thread(self._records, call, now)

    def ended(self, call: str) -> Kept:
        """What goes on record with the result, and a note for it. Once for each call."""
        now = self._open.pop(call, None)
        if now is None:
            return Kept()
        return Kept(now.records if now.records is not None else self._records(call, now), now.note)

    # --- before ----------------------------------------------------------------------------------------------------

    def _take(self, now: _Open, named: Iterable[bytes]) -> None:
        for path in named:
            now.named[path] = self._state(now, path)

    def _state(self, now: _Open, path: bytes) -> State:
        """What a path is, its content copied. What holds secrets is not copied; a rewind leaves it alone."""
        if self._root.hides(path):
            return State(UNKNOWN, 0)
        facts = facts_of(path)
        known = self._known.get(path)
        if known is not None and facts == known[0] and self._blobs.keep(known[1].state):
            return known[1]
        found = self._place.look(path)
        state = State(found.state, found.mode)
        if found.state == UNKNOWN:
            self._say(f"{show(path)} is not kept for a rewind: {found.why}.")
        elif found.data is not None:
            now.room -= len(found.data)
            if now.room < 0:
                self._say(f"This call touches more than {BYTES >> 20} MiB; not all of it is kept for a rewind.")
            elif self._copied(path, found) and settled(facts) and facts == facts_of(path) and stat.S_ISREG(found.mode):
                self._known[path] = (facts, state)
        elif stat.S_ISREG(found.mode):
            self._say(f"{show(path)} is not kept for a rewind: it is larger than {KEPT_FILE >> 20} MiB.")
        return state

    def _copied(self, path: bytes, found: Found) -> bool:
        try:
            self._blobs.put(found.data or b"", found.state.removeprefix(LINK))
        except OSError as error:
            self._say(f"{show(path)} is not kept for a rewind: {error.strerror}.")
            return False
        return True

    async def _watch(self, now: _Open, effects: Effects) -> None:
        """Look at what is not named: with git where it can, and through the folders that are."""
        tree = top(self._root.real) if self._failed < _PATIENCE else None
        folders = [path for path, was in now.named.items() if was.state == FOLDER]
        if tree is not None:
            removed = {ref.real for ref in effects.removes}
            folders = [path for path in folders if path in removed]
            try:
                repository = await open_repository(self._processes, self._env, self._root.real)
                now.tree = await gitwatch.tree(repository)
            except AgenyxError as problem:
                self._failed += 1
                self._say(f"What this command changes is kept for a rewind only where it is named: {problem.message}.")
        await asyncio.to_thread(self._through, now, folders)

    def _through(self, now: _Open, folders: Iterable[bytes]) -> None:
        for folder in folders:
            below, whole = self._place.below(folder, MOST)
            if whole:
                now.folders.append(folder)
            else:
                self._say(f"{show(folder)} holds more than {MOST:,} files; those beyond are not kept for a rewind.")
            self._meet(now, below)
        if now.tree is not None:
            self._meet(now, (os.path.join(now.tree.repository.top, path) for path in now.tree.dirty))

    def _meet(self, now: _Open, paths: Iterable[bytes]) -> None:
        for path in paths:
            if path not in now.named and path not in now.met and ours(path, self._root):
                now.met[path] = self._state(now, path)

    async def _keep_work(self, now: _Open, commands: Sequence[Command]) -> None:
        """The uncommitted work of a tree goes under a reference of its own before a command discards it."""
        from agenyx.workspace import gitkeep

        kept: set[bytes] = set()
        for command in commands:
            place = os.path.join(self._root.path, command.cwd or "", touched.folder_of(command))
            tree = top(os.fsencode(os.path.realpath(place)))
            if tree is None or tree in kept:
                continue
            kept.add(tree)
            try:
                repository = await open_repository(self._processes, self._env, tree)
                name = await gitkeep.keep(repository, self._session, os.path.join(self._directory, "git"))
            except (AgenyxError, OSError) as error:
                why = error.message if isinstance(error, AgenyxError) else error.strerror
                now.note += f"\n[The uncommitted work was not kept before this command: {why}]"
                self._tell(Notice("warning", f"The uncommitted work was not kept before this command: {why}."))
                continue
            if name:
                how = f"git stash apply --index {name}"
                now.note += f"\n[The uncommitted work is kept, but for ignored files; to get it back: {how}]"
                self._tell(Notice("info", "The uncommitted work was kept before this command.", f"To get it: {how}"))

    # --- after -----------------------------------------------------------------------------------------------------

    async def _compare(self, now: _Open, tree: gitwatch.Tree) -> None:
        """Find what changed besides: its state before is what the last commit held, or that it was not there."""
        found = await gitwatch.changed(tree)
        above = tree.repository.top
        real = {path: os.path.join(above, path) for path in sorted(found)}
        known = {**now.named, **now.met}
        fresh = [path for path, at in real.items() if at not in known and ours(at, self._root)]
        was = await gitwatch.committed(tree, fresh, KEPT_FILE)
        ignores = (path for path in found if os.path.basename(path) == b".gitignore")
        unsure = ignores_changed(above, now.started)
        unsure = unsure or any(path in fresh or self._differs(now, real[path]) for path in ignores)
        new: list[bytes] = []
        for path in fresh:
            if (one := was.get(path)) is not None:
                now.met[real[path]] = self._committed(real[path], one)
            elif changed_since(real[path], now.started):
                new.append(real[path])
        kept = {state.state for state in (*now.named.values(), *now.met.values())}
        for path in new:
            # A file that was ignored until now shows up here as well, or one that was moved from where git does not
            # look: neither must pass for a new one.
            sure = not unsure and (made_since(path, now.started) or self._place.look(path).state in kept)
            now.met[path] = State(ABSENT if sure else UNKNOWN, 0)
        folders = dict.fromkeys(os.path.dirname(path) for path in new)
        self._made(now, folders)

    def _differs(self, now: _Open, path: bytes) -> bool:
        was = now.named.get(path) or now.met.get(path)
        return was is None or self._place.look(path).state != was.state

    def _committed(self, real: bytes, one: gitwatch.Committed) -> State:
        mode, facts = one.mode, facts_of(real)
        if facts and stat.S_ISREG(mode) and not (mode ^ facts[-1]) & 0o170100:
            mode = facts[-1]  # of the permissions git knows one bit only
        if one.data is None:
            self._say(f"{show(real)} as it was is not kept for a rewind: {one.why}.")
            return State(UNKNOWN, mode)
        state = ("link:" if stat.S_ISLNK(mode) else "") + hashlib.sha256(one.data).hexdigest()
        return State(state if self._copied(real, Found(state, mode, one.data)) else UNKNOWN, mode)

    def _made(self, now: _Open, folders: Iterable[bytes]) -> None:
        """Take the folders that went with their files, and those that came with new ones where that is known."""
        tops = (self._root.real, *(one.real for one in self._root.beside))
        waiting, older = list(folders), set(tops)  # a folder that held something before is not new
        for path, was in (*now.named.items(), *now.met.items()):
            above = os.path.dirname(path)
            while was.state != ABSENT and above not in older and self._root.holder(above) is not None:
                older.add(above)
                above = os.path.dirname(above)
        for path in older - now.named.keys() - now.met.keys():
            if not os.path.lexists(path):
                now.met[path] = State(FOLDER, stat.S_IFDIR | 0o755)  # it went with what was in it
        while waiting:
            path = waiting.pop()
            if path in now.named or path in now.met or path in older or self._root.holder(path) is None:
                continue
            made = born(path)
            if made is not None and made >= now.started:
                now.met[path] = State(ABSENT, 0)
                waiting.append(os.path.dirname(path))

    def _records(self, call: str, now: _Open) -> tuple[Checkpoint, ...]:
        found = [self._record(call, path, was) for path, was in now.named.items()]
        for folder in now.folders:
            below, whole = self._place.below(folder, MOST)
            for path in below if whole else ():
                if path not in now.named and ours(path, self._root):
                    now.met.setdefault(path, State(ABSENT, 0))
        met = (self._record(call, path, was) for path, was in sorted(now.met.items()))
        return (*found, *(one for one in met if (one.before, one.mode) != (one.after, one.mode_after)))

    def _record(self, call: str, path: bytes, was: State) -> Checkpoint:
        found = self._place.look(path)
        mode = found.mode if stat.S_IMODE(found.mode) != stat.S_IMODE(was.mode) else was.mode
        return Checkpoint(call, show(path), was.state, found.state, was.mode, mode if found.state else 0)

    def _say(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(Notice("warning", text))
