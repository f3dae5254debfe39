"""One question at a terminal, from its first row to the answer. Blocks: it runs in a thread of its own.

Knows keys and rows; what a question shows and which answers it has is told by `question` and `choices`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.json import scrub
from agenyx.ui.amend import amendable
from agenyx.ui.answering import WHY, Answering, keeping, rules
from agenyx.ui.choices import TRUST, choices, chosen, prompt
from agenyx.ui.question import compose, text_rows
from agenyx.ui.reveal import reveal
from agenyx.ui.spans import line, plain, wrap
from agenyx.ui.terminal import Closed, Terminal

if TYPE_CHECKING:
    from agenyx.ui.editbox import EditBox

PLAIN = ("", "dumb", "unknown")  # terminals that understand no escape sequences


class Manner(Struct, frozen=True):
    """How it is asked: seconds without ears, the kind of terminal, and where rules are kept, in words."""

    deaf: float
    term: str
    kept: str
    clock: Callable[[], float]


class Dialogue:
    """`suspend` and `resume` may be called by another thread when the program is stopped and goes on."""

    def __init__(self, terminal: Terminal, approval: Approval, manner: Manner) -> None:
        self._terminal, self._approval, self._manner = terminal, approval, manner
        self._answering = Answering(approval, manner.clock)
        self._choices = choices(approval)
        self._end: tuple[str, ...] = ()  # rows of the question that are drawn again
        self._box: EditBox | None = None
        self._standing, self._in_lines = "", False  # what is being asked just now, and whether for whole lines
        self._heard = 0.0

    def run(self) -> Decision:
        """The answer. A terminal that closes denies and stops: nobody is there for the next question either."""
        try:
            self._pose()
            while True:
                key = self._key()
                decision = self._answer(chosen(self._choices, key))
                if decision is not None:
                    return decision
        except (Closed, OSError):
            return self._answering.withdrawn()

    # --- an interruption ---------------------------------------------------------------------------------------------

    def suspend(self) -> None:
        """Leave the terminal as it was found."""
        if self._box is not None:
            self._box.suspend()
        else:
            self._terminal.restore()

    def resume(self) -> None:
        """Take it again. Keys count once it stands there for a moment, as at first."""
        if self._box is not None:
            self._box.resume()
            return
        self._heard = time.monotonic() + self._manner.deaf
        with suppress(Closed):  # the thread that reads will notice
            self._terminal.keys()
            if self._in_lines:
                self._terminal.lines()
            self._terminal.write(f"\n{self._standing}")

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return max(self._terminal.size()[0] - 1, 10)

    def _prompt(self) -> str:
        return "\n".join(prompt(self._choices, self._width)) + ": "

    def _pose(self) -> None:
        """The whole question."""
        columns, rows = self._terminal.size()
        below = len(prompt(self._choices, self._width))
        question = compose(self._approval, columns, rows, below)
        self._end = question.end
        self._put(question.rows)

    def _again(self) -> None:
        self._put(("", *self._end))

    def _put(self, rows: tuple[str, ...]) -> None:
        """Draw rows and the choices, and listen to what is typed from now on."""
        self._terminal.keys()
        self._ask("".join(f"{row}\n" for row in rows) + self._prompt())
        self._standing = "".join(f"{row}\n" for row in self._end) + self._prompt()

    def _ask(self, text: str) -> None:
        """Draw what one key answers."""
        self._standing = text
        self._terminal.write(text)
        self._terminal.deaf(self._manner.deaf)

    def _key(self) -> str:
        while True:
            key = self._terminal.key()
            if time.monotonic() >= self._heard:
                return key

    def _answer(self, choice: str) -> Decision | None:
        """The decision; None where the question stands as before."""
        trust = self._approval.id == TRUST
        match choice:
            case "y":
                self._say("yes")
                return self._answering.allow()
            case "s":
                self._say("yes, for this session")
                return self._answering.allow("session")
            case "a":
                return self._always()
            case "e":
                return self._edited()
            case "n":
                self._say("not now" if trust else "no")
                return self._answering.deny()
            case "m":
                self._say("no")
                return self._answering.deny(self._typed(f"{WHY}: "))
            case "q":
                self._say("no, and stop")
                return self._answering.deny(stop=True)
            case _:
                return None

    def _always(self) -> Decision | None:
        """A rule is kept only by a second key, pressed when it was read."""
        self._say("always")
        shown = "".join(f"  {row}\n" for row in self._rules())
        self._ask(shown + "\n".join(self._wrapped(keeping(self._manner.kept))) + " ")
        if self._key() == "a":
            self._say("kept")
            return self._answering.allow("saved")
        self._say("not kept")
        self._again()
        return None

    def _rules(self) -> list[str]:
        return [piece for row in rules(self._approval) for piece in self._wrapped(row, less=2)]

    # --- editing -----------------------------------------------------------------------------------------------------

    def _edited(self) -> Decision | None:
        """What the person accepts in the editor is their yes to it; None when they go back."""
        subject = amendable(self._approval)
        text, note = subject.text, ""
        self._say("edit")
        while True:
            changed = self._edit(text, note)
            if changed is None:
                self._say("not changed")
                self._again()
                return None
            try:
                decision = self._answering.edited(subject, changed)
            except ValueError as error:
                text, note = changed, f"That cannot be run: {error}."
                continue
            rows = text_rows(reveal(changed).text, self._width)
            if changed == subject.text:
                self._say("Allowed as it was.")
            else:
                self._say("\n".join(("Allowed as you changed it:", *rows)))
            return decision

    def _edit(self, text: str, note: str) -> str | None:
        if self._manner.term in PLAIN:
            return self._retyped(note)
        try:
            from agenyx.ui.editbox import EditBox  # costs time, and most questions do without
        except ImportError:
            return self._retyped(note)
        box = EditBox(self._terminal, self._manner.term, text, note, self._manner.deaf)
        self._box = box
        try:
            return box.run()
        finally:
            self._box = None
            with suppress(Closed):
                self._terminal.keys()

    def _retyped(self, note: str) -> str | None:
        """One line, in place of an editor that this terminal cannot show."""
        head = f"{note}\n" if note else ""
        text = self._typed(f"{head}Type all of it anew, on one line; an empty line goes back:\n")
        self._terminal.keys()
        return text or None

    def _typed(self, prompt: str) -> str:
        self._standing, self._in_lines = prompt, True
        self._terminal.write(prompt)
        self._terminal.lines()
        try:
            return scrub(self._terminal.line())
        finally:
            self._in_lines = False

    # --- saying ------------------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._terminal.write(f"{text}\n")

    def _wrapped(self, text: str, less: int = 0) -> list[str]:
        return [plain(row) for row in wrap(line(text), self._width - less, "  ")]
