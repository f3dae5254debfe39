"""One decision on all that acts in a workspace: trusted by hash, for this run, or by asking; else it stays out.

It covers instructions and settings alike. Nothing of the workspace is used before it, and what is used is exactly what
was judged. Where nothing acts it costs a few looks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.agent.ports import Approver
from agenyx.app.settings import Settings
from agenyx.core.errors import ConfigError
from agenyx.core.events import Body, Notice
from agenyx.workspace.acting import INSTRUCTIONS, Kind, candidates, kind_of
from agenyx.workspace.names import parse

if TYPE_CHECKING:
    from agenyx.app.trust_alone import Alone, Text
    from agenyx.config.settings import Found
    from agenyx.config.settings_table import Value
    from agenyx.ext.acting import Inventory, Item
    from agenyx.workspace.trust import Trust


class Gate:
    """For one conversation in `workspace`, a real path. Asks at most once, and only when something would act."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        home: str,
        workspace: str,
        approver: Approver | None,
        tell: Callable[[Body], None],
    ) -> None:
        self._settings, self._env, self._home, self._workspace = settings, env, home, workspace
        self._approver, self.tell = approver, tell
        self._inventory: Inventory | None = None
        self._found: dict[str, Found] | None = None
        self._open: bool | None = True if settings.trust else None
        self._one: Alone | None = None
        self._imports: list[Text] = []

    async def open(self, *, resumed: bool = False) -> bool:
        """Settle whether what acts here may: True when it may, or when nothing does. Raises ConfigError.

        A resumed session has the instructions in its stored head, so that they alone ask nothing.
        """
        if resumed and self._open is None and self._items() and self._inventory is not None:
            self._open = _store(self._home).holds(self._workspace, self._inventory.files) or None
        acting = [item for item in self._items() if not (resumed and item.kind == "instructions")]
        if acting and not await self._trusted():
            return False
        if self._open and self._inventory is not None and self._inventory.outside:
            self._imports = await self.alone().imports(self._inventory, ask=not resumed)
        return True

    def texts(self, kind: Kind) -> list[tuple[Item, bytes]]:
        """The files of one kind with what they hold, none without trust. `open` was awaited before."""
        items = [item for item in self._items() if item.kind == kind] if self._open else []
        found = [(item, data) for item in items if (data := self._load(item)) is not None]
        return [one for text in found for one in (text, *self._imported(text[0]))]

    def _imported(self, by: Item) -> list[Text]:
        """What a file takes in from outside, at any distance."""
        direct = [text for text in self._imports if text[0].by == by.shown]
        return [one for text in direct for one in (text, *self._imported(text[0]))]

    def alone(self) -> Alone:
        """What is asked about by itself."""
        if self._one is None:
            from agenyx.app.trust_alone import Alone

            settings, env = self._settings, self._env
            person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""

            def tell(body: Body) -> None:
                self.tell(body)  # which is another one once the conversation is there

            self._one = Alone(self._home, self._workspace, person, self._approver, tell, settings.trust)
        return self._one

    def left_out(self) -> tuple[list[str], list[str]]:
        """Why files were left out, and what else is worth a word; phrases without a full stop."""
        inventory = self._inventory
        if inventory is None:
            return [], []
        left, asides = list(inventory.problems), list(inventory.asides)
        if not self._open:
            left += [f"{item.shown} was left out: the workspace is not trusted" for item in inventory.items]
        if self._one is not None:
            left += [f"{path} was left out: it is not trusted" for path in self._one.left]
            asides += self._one.asides
        return left, asides

    def trusted(self) -> bool:
        """Whether the person trusts the workspace as it stands; where nothing of it acts they were never asked."""
        try:
            return bool(self._open) or is_trusted(self._home, self._workspace)
        except ConfigError:
            return False

    def has(self, kind: Kind) -> bool:
        """Whether there are files of this kind that may act. `open` was awaited before; nothing is looked for again."""
        found = self._inventory.items if self._inventory is not None and self._open else ()
        return any(item.kind == kind for item in found)

    async def settings(self) -> Settings:
        """The settings, with what a trusted workspace says where nothing stronger does. Raises ConfigError."""
        settings, found = self._settings, await self.found()
        if found:
            settings = _merged(settings, self._env, {name: one.value for name, one in found.items()})
        return replace(settings, yielding=()) if settings.yielding else settings

    async def found(self) -> dict[str, Found]:
        """The keys of the workspace's settings.toml, {} without trust. Raises ConfigError."""
        item = next((item for item in self._items() if item.kind == "settings"), None)
        if self._found is None:
            self._found = {}
            if item is not None and await self._trusted() and (data := self._load(item)) is not None:
                self._found = _checked(item.shown, data)
        return self._found

    def _items(self) -> Sequence[Item]:
        if self._settings.bare:
            return ()
        if self._inventory is None:
            if not candidates(self._workspace):
                return ()
            self._inventory = _inventory(self._home, self._workspace)
            for problem in self._inventory.problems:
                self.tell(Notice("warning", f"{problem}."))
        return self._inventory.items

    def _load(self, item: Item) -> bytes | None:
        from agenyx.ext.acting import load
        from agenyx.workspace.files import FileProblem

        try:
            return load(item)
        except FileProblem as problem:
            self.tell(Notice("warning", f"{item.shown} was left out: {problem.message}.", problem.fix))
            return None

    async def _trusted(self) -> bool:
        if self._open is None and self._inventory is not None:
            self._open = _store(self._home).holds(self._workspace, self._inventory.files) or await self._ask()
        return bool(self._open)

    async def _ask(self) -> bool:
        from agenyx.app.trust_question import question, texts_of

        inventory, trust = self._inventory, _store(self._home)
        if self._approver is None or inventory is None:
            return False
        texts = texts_of(inventory)
        if changing := [item.shown for item in inventory.items if item.shown not in texts]:
            self.tell(
                Notice("warning", f"This was left out, because it changes: {', '.join(changing)}.", "Start again.")
            )
            return False
        asked = question(self._workspace, inventory, trust, texts)
        if (await self._approver.decide(asked)).choice == "allow":
            try:
                trust.grant(self._workspace, inventory.files, texts.values())
            except (OSError, ConfigError) as error:
                why = error.message if isinstance(error, ConfigError) else error.strerror
                self.tell(Notice("warning", f"Your answer could not be stored: {why}.", "You will be asked again."))
            return True
        names = ", ".join(item.shown for item in inventory.items)
        self.tell(
            Notice(
                "warning",
                f"This was left out, because the workspace is not trusted: {names}.",
                "See agenyx trust diff, then use agenyx trust add, or --trust-workspace for one run, or --bare to "
                "leave it out silently.",
            )
        )
        return False


async def settled(settings: Settings, env: Mapping[str, str], home: str) -> Settings:
    """The settings as a run would have them, without asking and without a word. Raises ConfigError."""
    return await Gate(settings, env, home, os.path.realpath(settings.cwd), None, lambda _: None).settings()


def is_trusted(home: str, workspace: str) -> bool:
    """Whether all that acts in a workspace, a real path, is trusted as it stands. Raises ConfigError."""
    return bool(candidates(workspace)) and _store(home).holds(workspace, _inventory(home, workspace).files)


def approved_edit(home: str, workspace: str, path: str, old: str, new: str) -> bool:
    """Keep trust in a file that the agent changed after a person saw and allowed the change.

    `path` is real and absolute, as `names.show` prints it; `old` and `new` are SHA-256 in hex, `old` "" for a new
    file. Whether it is trusted now; False at once for a file that does not act. Raises ConfigError, OSError.
    """
    real = os.fsdecode(parse(path))
    kind = kind_of(real, workspace) or _asked_alone(home, workspace, real, path)
    return kind is not None and _store(home).refresh(workspace, real, old, new, kind)


def _asked_alone(home: str, workspace: str, real: str, shown: str) -> str | None:
    """As what a file is trusted that does not act by itself: taken in by another, or instructions in a folder below."""
    from agenyx.workspace.trust import BELOW

    grant = _store(home).grant_of(workspace)
    if grant is None:
        return None
    below = os.path.basename(real) in INSTRUCTIONS and real.startswith(f"{workspace.rstrip('/')}/")
    known = grant.files.get(shown)
    return known.kind if known else BELOW if below else None


def _store(home: str) -> Trust:
    from agenyx.workspace.trust import Trust

    return Trust(home)


def _inventory(home: str, workspace: str) -> Inventory:
    from agenyx.ext.acting import take

    grant = _store(home).grant_of(workspace)
    return take(workspace, home, grant.files if grant else {})


def _checked(path: str, data: bytes) -> dict[str, Found]:
    """Raises ConfigError for a wrong file, and for a key that a workspace may not set."""
    from agenyx.config.settings import check

    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text", "Write it again as UTF-8.") from None
    return check(text, path, of_workspace=True)


def _merged(settings: Settings, env: Mapping[str, str], found: Mapping[str, Value]) -> Settings:
    """Flag, variable, workspace, home: the first that says something counts. Keys that are no field are passed over."""
    from agenyx.config.settings_table import BY_NAME

    chosen: dict[str, Value] = {}
    # A model belongs to the provider that its file means, so another one that was chosen passes it over.
    elsewhere = settings.base_url or (settings.provider and "provider" not in settings.yielding)
    for name, value in found.items():
        if name not in Settings.__struct_fields__ or (name == "model" and elsewhere):
            continue
        variable = BY_NAME[name].variable
        stronger = getattr(settings, name) and name not in settings.yielding
        if not stronger and not (variable and env.get(variable, "").strip()):
            chosen[name] = value
    return replace(settings, **chosen)
