"""Makes a tool's outcome fit for the record and the model: masked, scrubbed, visible, bounded.

The whole of a text that was cut is kept aside. Knows no tool by name: what a result is, its Effects tell.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from agenyx.core.json import scrub
from agenyx.core.messages import Media, Text, ToolCall, ToolResult
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects
from agenyx.core.tty import unseen, visible
from agenyx.tools.spec import Outcome

EMPTY = "(no output)"


class Normaliser:
    """`limit` is how many characters of a result the model sees; the rest is kept in `spill_directory`.

    `pages` says that the model has a tool to page it by the id of the call.
    """

    def __init__(self, masker: Masker, limit: int, spill_directory: str, pages: bool = False) -> None:
        self._masker, self._limit, self._directory, self._pages = masker, limit, spill_directory, pages

    def __call__(self, call: ToolCall, outcome: Outcome, effects: Effects | None = None) -> ToolResult:
        """`effects` are those of a call that ran. Text of files stays exact, so that an edit can match it."""
        text = "".join(block.text for block in outcome.content if isinstance(block, Text))
        media = tuple(self._masker.value(block) for block in outcome.content if isinstance(block, Media))
        text = scrub(self._masker.wrapped(text))
        if effects is not None and _of_files(effects):
            hidden = unseen(text)
        else:
            text, hidden = visible(text), ""
        text = text or ("" if media else EMPTY)
        note = f"\n[this text holds invisible characters: {hidden}]" if hidden else ""
        spill = outcome.spill
        if spill is not None and self._masker.longest:
            spill = self._masked(spill)
        if len(text) > self._limit:
            spill = spill or self._keep(call, text)
            text = cut(text, self._limit, spill, call.id if self._pages else "")
        return ToolResult(call.id, outcome.status, (Text(text + note), *media), spill)

    def live(self, show: Callable[[bytes], None]) -> tuple[Callable[[bytes], None], Callable[[], None]]:
        """What takes the bytes of a running call, masks them and shows them, and what shows the rest at its end."""
        from agenyx.core.masked_output import OutputMasker  # not needed before the first call

        masker = OutputMasker(self._masker)

        def feed(data: bytes) -> None:
            if safe := masker.feed(data):
                show(safe)

        def end() -> None:
            if rest := masker.end():
                show(rest)

        return feed, end

    def _masked(self, path: str) -> str | None:
        """The last look at what a tool kept of an oversized output: masked as what is shown. None if it is gone."""
        try:
            with open(path, "rb") as file:
                data = file.read()
            text = data.decode("latin-1")  # in which every byte is a character and comes back as it was
            masked = self._masker.latin.wrapped(text)
            if masked != text:
                with open(path, "wb") as file:
                    file.write(masked.encode("latin-1"))
        except OSError:
            return None
        return path

    def _keep(self, call: ToolCall, text: str) -> str | None:
        path = os.path.join(self._directory, f"{call.id}.txt")
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return None  # the model still gets head and tail; the marker then names no file
        return path


def _of_files(effects: Effects) -> bool:
    """Whether a result can only be what stands in files of the workspace, or a change to one."""
    seen = not (effects.commands or effects.hosts or effects.opaque)
    return seen and bool(effects.reads or effects.writes)


def cut(text: str, limit: int, spill: str | None, call: str = "") -> str:
    """Head and tail of a text, two thirds to one, around a marker; about `limit` characters in all.

    `call` is the id by which the model can page the whole, "" where it has no tool for that.
    """
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    where = f"; the whole: ToolResultRead with tool_use_id {call}" if call else f"; the whole is in {spill}"
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out{where if spill else ''} …]\n{tail}"
