"""The answers that a question offers, as keys. Pure: it knows no terminal and judges nothing."""

from __future__ import annotations

from msgspec import Struct

from agenyx.core.approval import Approval
from agenyx.ui.spans import cells, plain, wrap

TRUST = "trust"  # the id of the question whether a workspace is trusted
_NO = "\r\n\x1b\x04"  # Enter, Esc, Ctrl+D


class Choice(Struct, frozen=True):
    """`key` is one small letter."""

    key: str
    label: str

    @property
    def text(self) -> str:
        return f"[{self.key}] {self.label}"


def choices(approval: Approval) -> tuple[Choice, ...]:
    """What may be answered. Rules can only be set where the verdict offers some."""
    if approval.id == TRUST:
        return (Choice("y", "trust"), Choice("n", "not now (Enter)"))
    kept = (Choice("s", "this session"), Choice("a", "always")) if approval.verdict.offer else ()
    return (
        Choice("y", "once"),
        *kept,
        Choice("e", "edit"),
        Choice("n", "no (Enter)"),
        Choice("m", "no, with a message"),
        Choice("q", "no, and stop"),
    )


def chosen(offered: tuple[Choice, ...], key: str) -> str:
    """The choice that a key makes, "" for none. Nothing but its letter says yes."""
    if key and key in _NO:
        return "n"
    return key if any(choice.key == key for choice in offered) else ""


def prompt(offered: tuple[Choice, ...], width: int) -> list[str]:
    """The choices as rows of at most `width` columns, broken between choices, else between words."""
    rows: list[str] = [""]
    for choice in offered:
        longer = f"{rows[-1]}  {choice.text}" if rows[-1] else choice.text
        if cells(longer) + 1 < width:  # a colon and a blank follow
            rows[-1] = longer
        else:
            rows += [plain(row) for row in wrap((("", choice.text),), width - 2, "    ")]
    return [row for row in rows if row]
