"""What is asked about by itself: files that instructions take in from outside, and instructions in folders below.

The workspace itself is settled before (`app.trust`). A yes is kept in the same grant, by hash; a no holds for the
session. Nothing is told that was not asked about or trusted with exactly this content.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from agenyx.agent.ports import Approver
from agenyx.app.trust_question import described, texts_of
from agenyx.core.approval import Approval
from agenyx.core.errors import ConfigError
from agenyx.core.events import Body, Notice
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.ext.acting import Inventory, Item, take_outside, take_these
from agenyx.workspace.trust import BELOW, IMPORT, Grant, Trust

_ASKED = {
    IMPORT: "Trusting what the instructions of this workspace take in from outside",
    BELOW: "Trusting instructions in a folder that is worked in",
}
_WHY = {
    IMPORT: "an import reads files that are not part of the workspace; a yes holds until one of them changes",
    BELOW: "instructions in a folder steer the agent as well; a yes holds until one of these files changes",
}
_FIX = {
    IMPORT: "Start agenyx in a terminal to be asked about it, or take the @path out of the instructions.",
    BELOW: "Start agenyx in a terminal to be asked about it, or use --trust-workspace, or --bare to leave it out.",
}

Text = tuple[Item, bytes]


class Alone:
    """For one conversation. `all_trusted`: the person lets in what the workspace brings, for this run."""

    def __init__(
        self,
        home: str,
        workspace: str,
        person: str,
        approver: Approver | None,
        tell: Callable[[Body], None],
        all_trusted: bool,
    ) -> None:
        self._home, self._workspace, self._person = home, workspace, person
        self._approver, self._tell, self._all = approver, tell, all_trusted
        self._warned: set[str] = set()
        self._asking = asyncio.Lock()  # subagents may touch the same folder at once
        self.asides: list[str] = []
        self.left: list[str] = []
        """Shown paths of what was refused."""

    async def imports(self, inventory: Inventory, *, ask: bool) -> list[Text]:
        """What the instructions of a trusted workspace take in from outside. Raises ConfigError.

        Without `ask` what is not trusted is left out without a word.
        """
        seen = [item.shown for item in inventory.items]
        found = take_outside(self._workspace, self._home, self._person, inventory.outside, seen)
        async with self._asking:
            return await self._admitted(found, IMPORT, ask=ask, trusted=False)

    async def below(self, paths: Sequence[str]) -> list[Text]:
        """Instruction files in folders of the workspace, by real absolute path, with what they take in.

        Raises ConfigError.
        """
        found = take_these(self._workspace, self._home, {}, paths)
        self.asides += [f"{one.by.shown} names @{one.name}, which lies outside the workspace" for one in found.outside]
        async with self._asking:
            return await self._admitted(found, BELOW, ask=True, trusted=self._all)

    async def _admitted(self, found: Inventory, kind: str, *, ask: bool, trusted: bool) -> list[Text]:
        for problem in found.problems:
            self._tell(Notice("warning", f"{problem}."))
        self.asides += found.asides
        if not found.items:
            return []
        store, texts = Trust(self._home), texts_of(found)
        grant = store.grant_of(self._workspace)
        items = [item for item in found.items if item.shown in texts and item.shown not in self.left]
        asked = [item for item in items if not (trusted or _held(item, kind, grant))]
        if asked and not (ask and await self._ask(asked, kind, store, grant, texts)):
            self._leave(asked, kind, aloud=ask)
            out = {item.shown for item in asked}
            items = [item for item in items if item.shown not in out]
        return [(item, texts[item.shown]) for item in items]

    async def _ask(
        self, items: Sequence[Item], kind: str, store: Trust, grant: Grant | None, texts: Mapping[str, bytes]
    ) -> bool:
        if self._approver is None:
            return False
        approval = Approval(
            "trust",
            ToolCall("", "", _ASKED[kind], "{}"),
            Verdict("ask", (Reason("rule", _WHY[kind]),)),
            Effects(preview=described(Inventory(tuple(items)), store, grant, texts)),
        )
        if (await self._approver.decide(approval)).choice != "allow":
            return False
        try:
            files = {item.shown: replace(item.file, kind=kind) for item in items}
            store.add(self._workspace, files, [texts[item.shown] for item in items])
        except (OSError, ConfigError) as error:
            why = error.message if isinstance(error, ConfigError) else error.strerror
            self._tell(Notice("warning", f"Your answer could not be stored: {why}.", "You will be asked again."))
        return True

    def _leave(self, items: Iterable[Item], kind: str, *, aloud: bool) -> None:
        """One warning a session and kind: where nobody answers, each folder would bring another one."""
        names = [item.shown for item in items]
        self.left += names
        if aloud and kind not in self._warned:
            self._warned.add(kind)
            more = " More of this kind is left out without a word." if kind == BELOW else ""
            told = f"This was left out, because it is not trusted: {', '.join(names)}.{more}"
            self._tell(Notice("warning", told, _FIX[kind]))


def _held(item: Item, kind: str, grant: Grant | None) -> bool:
    known = grant.files.get(item.shown) if grant else None
    return known is not None and known.sha256 == item.file.sha256 and known.kind in (kind, item.kind)
