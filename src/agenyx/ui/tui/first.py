"""What stands on the screen within the first moments, while everything else is still being loaded.

It looks as the surface will: an empty conversation, a prompt, a line of status. Nothing is read of what is typed: it
waits for the prompt.
"""

from __future__ import annotations

from agenyx.ui.tui.hold import Hold

WORDS = "starting"


def show(hold: Hold) -> None:
    """Take the terminal and draw."""
    columns, rows = hold.size()
    hold.take(frame(columns, rows))


def frame(columns: int, rows: int) -> str:
    """Escape sequences that draw the frame on an empty screen of this size."""
    if rows < 3 or columns < 12:
        return "\x1b[2J\x1b[H> "
    return f"\x1b[2J\x1b[{rows};1H\x1b[2m {WORDS}\x1b[0m\x1b[{rows - 2};1H\x1b[1m>\x1b[0m "
