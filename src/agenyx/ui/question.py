"""A question to a person as rows of a screen: all of the call, what it does, and what to be careful about. Pure.

Text of the call stands two columns in, so that none of it can look like a row of ours; a row that goes on from the row
above begins with a mark. Nothing is left out: what does not fit the screen scrolls up, and the end stays to be seen.
"""

from __future__ import annotations

from msgspec import Struct

from agenyx.core import json
from agenyx.core.approval import Approval
from agenyx.core.tools import Effects
from agenyx.ui.choices import TRUST
from agenyx.ui.deeds import deed, flat, shown, table
from agenyx.ui.reveal import Revealed, reveal
from agenyx.ui.spans import line, plain, wrap

_GUTTER, _MARK = "  ", "… "
_TAB = 4
_LEAST = 10  # columns
_NAMED = 3  # commands in a reason
KEYS = "s/a would allow"
_UNRULED = "no rule allows"


class Question(Struct, frozen=True):
    """`rows` is all that stands above the choices; `end` the part of it that is drawn again after an interruption."""

    rows: tuple[str, ...]
    end: tuple[str, ...]


class Parts(Struct, frozen=True):
    """What `compose` puts together, as rows: the title, all of the call, its commands with what each does, what it
    touches and why it is asked about, and what to be careful about."""

    title: tuple[str, ...]
    call: tuple[str, ...]
    deeds: tuple[str, ...]
    facts: tuple[str, ...]
    warnings: tuple[str, ...]


def compose(approval: Approval, columns: int, lines: int, below: int) -> Question:
    """The question for a screen of `columns` and `lines`, when `below` rows of choices follow."""
    width = max(columns - 1, _LEAST)  # a full row would leave the cursor in doubt
    made = parts(approval, width)

    def whole(*middle: tuple[str, ...]) -> list[str]:
        found = [("", *made.title), *middle]
        return [row for part in found if part for row in (*part, "")] + list(made.facts)

    rows = whole(made.call, made.deeds)
    if len(rows) + len(made.warnings) + below > lines:
        rows = whole(made.deeds, made.call)  # the end of the call itself is what stays to be seen
        above = len(rows) + 1 + len(made.warnings) + below - lines
        rows += _row(f"({above} more rows stand above: scroll up to read all of it)", width)
    return Question((*rows, *made.warnings), (*made.facts, *made.warnings))


def parts(approval: Approval, width: int) -> Parts:
    """The question in its parts, each of rows of at most `width` columns."""
    effects = approval.effects
    head = reveal(_title(approval))
    body = reveal(_subject(approval))
    call = text_rows(body.text.rstrip("\n"), width)
    commands = () if _lone(effects) else effects.commands
    deeds = [f"{_GUTTER}{row}" for row in table(commands, width - len(_GUTTER))]
    facts, notes = _facts(approval, width)
    warnings = [row for text in _warnings([head, body, *notes], effects) for row in _row(f"WARNING: {text}", width)]
    return Parts(tuple(_row(flat(head.text), width)), tuple(call), tuple(deeds), tuple(facts), tuple(warnings))


def text_rows(text: str, width: int) -> list[str]:
    """Text of a call that `reveal` made safe, as rows of at most `width` columns with a gutter."""
    rows: list[str] = []
    for row in text.split("\n"):
        first, *more = wrap(line(row.expandtabs(_TAB)), width - len(_GUTTER))
        rows.append(f"{_GUTTER}{plain(first)}".rstrip())
        rows += [f"{_MARK}{plain(piece)}" for piece in more]
    return rows


def offer_rows(approval: Approval, width: int) -> list[str]:
    """The rules that would be set."""
    rules = ", ".join(rule.text for rule in approval.verdict.offer)
    return _row(f"{KEYS}: {flat(rules)}", width) if rules else []


def arguments(approval: Approval) -> str:
    """The arguments that are asked about, as JSON text."""
    return approval.call.args if approval.args is None else approval.args


def _title(approval: Approval) -> str:
    if approval.id == TRUST:
        return f"{approval.call.name} needs your yes"
    if approval.effects.inquiry is not None:
        return f"{approval.call.name} asks you"
    edited = " again: these arguments were edited by you" if approval.args is not None else ""
    name = approval.call.name
    if name == "McpCall":
        from agenyx.app.mcp_call import meant  # few calls are made through a dispatcher

        name = meant(name, arguments(approval))
    return f"{name} asks for approval{edited}" + (f" (subagent {approval.agent})" if approval.agent else "")


def _subject(approval: Approval) -> str:
    if approval.effects.preview:
        return approval.effects.preview
    try:
        return json.pretty(json.decode(arguments(approval)))
    except json.JsonError:
        return arguments(approval)


def _lone(effects: Effects) -> bool:
    """Whether the only command is the whole script, so that a table would say it twice."""
    return len(effects.commands) == 1 and shown(effects.commands[0]) == effects.preview.strip()


def _facts(approval: Approval, width: int) -> tuple[list[str], list[Revealed]]:
    effects = approval.effects
    touched = (*effects.reads, *effects.writes, *effects.removes)
    facts = [
        ("Does", [deed(effects.commands[0])] if _lone(effects) else []),
        ("Writes", [ref.shown for ref in effects.writes]),
        ("Removes", [ref.shown for ref in effects.removes]),
        ("Contacts", list(effects.hosts)),
        ("Protected", [f"{ref.shown} ({ref.protected})" for ref in touched if ref.protected]),
        ("Why you are asked", _reasons(approval)),
    ]
    rows: list[str] = []
    notes: list[Revealed] = []
    for label, values in facts:
        if values:
            note = reveal(", ".join(dict.fromkeys(values)))
            notes.append(note)
            rows += _row(f"{label}: {flat(note.text)}", width)
    return rows + offer_rows(approval, width), notes


def _reasons(approval: Approval) -> list[str]:
    """Of commands that stand in the table, only that no rule allows them: what they do is told there."""
    reasons = approval.verdict.reasons
    if _lone(approval.effects):
        return [reason.text for reason in reasons]
    unruled = [reason for reason in reasons if reason.source == "shell" and reason.part and _UNRULED in reason.text]
    parts = " | ".join(reason.part for reason in unruled[:_NAMED]) + (" and others" if len(unruled) > _NAMED else "")
    rest = [reason.text for reason in reasons if reason not in unruled]
    return ([f"{_UNRULED} {parts}"] if parts else []) + rest


def _warnings(notes: list[Revealed], effects: Effects) -> list[str]:
    inner = (concern for command in effects.commands for concern in command.concerns)
    concerns = [concern.text for concern in (*effects.concerns, *inner) if concern.level != "refuse"]
    hidden = [text for note in notes for text in note.warnings]
    return [flat(text) for text in dict.fromkeys((*concerns, *hidden))]


def _row(text: str, width: int) -> list[str]:
    return [plain(row) for row in wrap(line(text), width, "    ")]
