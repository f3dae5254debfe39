"""The answer to approvals from the person at the terminal.

It decides nothing on its own and knows no policy; it shows what the verdict and the effects say.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.ui.reveal import Revealed, reveal
from agenyx.ui.signals import Signals
from agenyx.ui.terminal import DEAF, Closed, Terminal

_CHOICES = "[y] once  [n] no (Enter)  [e] deny with a message  [q] deny and stop "
_LONG = 20  # lines of a question that need a hint to scroll


class TerminalApprover:
    """Asks at `terminal`, one question at a time. `shown` waits until earlier output stands on the screen."""

    def __init__(
        self,
        terminal: Terminal,
        signals: Signals,
        shown: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        deaf: float = DEAF,
    ) -> None:
        self._terminal, self._signals, self._shown = terminal, signals, shown
        self._clock, self._deaf = clock, deaf
        self._one = asyncio.Lock()

    async def decide(self, approval: Approval) -> Decision:
        """Cancelling withdraws the question and leaves the terminal as it was found."""
        async with self._one:
            await self._shown()
            loop, answer = asyncio.get_running_loop(), asyncio.Event()
            decided: list[Decision] = []

            def work() -> None:
                decided.append(self._ask(approval))
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(answer.set)

            thread = threading.Thread(target=work, name="agenyx-approval", daemon=True)
            self._terminal.settle()
            self._signals.raw_terminal(self._terminal.restore, self._redraw)
            try:
                thread.start()
                await answer.wait()
            finally:
                self._terminal.withdraw()
                thread.join(1.0)
                self._terminal.restore()
                self._signals.cooked_terminal()
            return decided[0]

    def _redraw(self) -> None:
        self._terminal.keys()
        self._terminal.write(f"\n{_CHOICES}")

    def _ask(self, approval: Approval) -> Decision:
        """Ask, in a thread. A terminal that closes denies and stops: nobody is there for the next question either."""
        terminal = self._terminal

        def decision(choice: str, message: str = "", *, stop: bool = False) -> Decision:
            allow = choice == "allow"
            at = self._clock()
            return Decision(approval.id, "allow" if allow else "deny", message=message, stop=stop, by="terminal", at=at)

        try:
            terminal.keys()
            terminal.write(question(approval) + _CHOICES)
            terminal.deaf(self._deaf)
            while True:
                match terminal.key():
                    case "y":
                        terminal.write("yes\n")
                        return decision("allow")
                    case "n" | "\n" | "\r" | "\x1b" | "\x04":
                        terminal.write("no\n")
                        return decision("deny")
                    case "q":
                        terminal.write("no, stop\n")
                        return decision("deny", stop=True)
                    case "e":
                        terminal.write("no\nTell the model why, or what to do instead: ")
                        terminal.lines()
                        return decision("deny", terminal.line())
                    case _:
                        pass
        except (Closed, OSError):
            return decision("deny", "the question was withdrawn.", stop=True)


def question(approval: Approval) -> str:
    """Everything a person needs to judge the call, in full, ending with a line feed; safe for a terminal."""
    call, effects = approval.call, approval.effects
    body = reveal(effects.preview or _arguments(call.args))
    head = reveal(f"{call.name} asks for approval" + (f" (subagent {approval.agent})" if approval.agent else ""))
    parts = ["\n", head.text, "\n\n", body.text.rstrip("\n"), "\n\n"]
    notes = [head, body]
    for label, values in _facts(approval):
        note = reveal(", ".join(values))
        notes.append(note)
        parts.append(f"{label}: {note.text}\n")
    rows = "".join(parts).count("\n")
    if rows > _LONG:
        parts.append(f"({rows} lines: scroll up to read all of it)\n")
    parts.extend(f"WARNING: {text}\n" for text in _warnings(notes))
    return "".join(parts)


def _facts(approval: Approval) -> list[tuple[str, list[str]]]:
    effects = approval.effects
    facts = [
        ("Writes", [ref.shown for ref in effects.writes]),
        ("Removes", [ref.shown for ref in effects.removes]),
        ("Contacts", list(effects.hosts)),
        ("Protected", [f"{ref.shown} ({ref.protected})" for ref in (*effects.reads, *effects.writes) if ref.protected]),
        ("Why you are asked", [reason.text for reason in approval.verdict.reasons]),
    ]
    return [(label, values) for label, values in facts if values]


def _warnings(notes: list[Revealed]) -> list[str]:
    return list(dict.fromkeys(text for note in notes for text in note.warnings))


def _arguments(args: str) -> str:
    try:
        return json.pretty(json.decode(args))
    except json.JsonError:
        return args
