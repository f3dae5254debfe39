"""What a question shows and which keys mean what, stage by stage: choosing, keeping a rule, editing, saying why. Pure.

A stage makes rows for a width, and of a key or a text the next stage or a decision. It knows no widget and no time.
"""

from __future__ import annotations

import re
from typing import Protocol

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.ui.amend import Amendable, amendable
from agenyx.ui.answering import WHY, Answering, goes, rules
from agenyx.ui.choices import Choice, choices, chosen, prompt
from agenyx.ui.question import parts, text_rows
from agenyx.ui.spans import Line, line, wrap

YES = "ysae"  # keys that count only when all of the question was on the screen
_CHOICE = re.compile(r"\[(\w)\] [^\[]*")
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}
_LABEL = re.compile(r"[A-Z][\w/ ]*:")


class Entry(Struct, frozen=True):
    """A text to edit with a question. `lines`: Enter may make new ones; then another key accepts."""

    text: str
    lines: bool
    label: str = "> "


class Stage(Protocol):
    """`entry` is None where keys are answers. `press` and `submit` return what comes of it, None for nothing."""

    @property
    def entry(self) -> Entry | None: ...
    def rows(self, width: int) -> list[Line]: ...
    def foot(self, width: int, seen: bool) -> list[Line]: ...
    def press(self, key: str, seen: bool) -> Stage | Decision | None: ...
    def submit(self, text: str) -> Stage | Decision | None: ...
    def back(self) -> Stage | Decision | None: ...


class Choosing:
    """The question itself."""

    entry = None

    def __init__(self, answering: Answering, place: str) -> None:
        self.answering, self.place = answering, place
        self.offered = choices(answering.approval)

    def rows(self, width: int) -> list[Line]:
        return question_lines(self.answering.approval, width)

    def foot(self, width: int, seen: bool) -> list[Line]:
        return choice_lines(self.offered, width, seen)

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        choice = chosen(self.offered, key)
        if choice in YES and not seen:
            return None
        match choice:
            case "y":
                return self.answering.allow()
            case "s":
                return self.answering.allow("session")
            case "a":
                return Keeping(self)
            case "e":
                return Editing(self)
            case "n":
                return self.answering.deny()
            case "m":
                return Saying(self)
            case "q":
                return self.answering.deny(stop=True)
            case _:
                return None

    def submit(self, text: str) -> Stage | Decision | None:
        return None

    def back(self) -> Stage | Decision | None:
        return self.answering.deny()


class Keeping:
    """A rule is kept only by a second key, pressed when it was read."""

    entry = None

    def __init__(self, before: Choosing) -> None:
        self._before = before

    def rows(self, width: int) -> list[Line]:
        made: list[Line] = [line("Always allow", "title"), ()]
        for rule in rules(self._before.answering.approval):
            made += [line(row) for row in text_rows(rule, width)]
        return [*made, (), *wrap(line(goes(self._before.place)), width)]

    def foot(self, width: int, seen: bool) -> list[Line]:
        style = "key" if seen else "dim"
        return wrap(((style, "[a]"), ("" if seen else "dim", " keep it"), ("", "   any other key goes back")), width)

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        if key != "a":
            return self._before
        return self._before.answering.allow("saved") if seen else None

    def submit(self, text: str) -> Stage | Decision | None:
        return None

    def back(self) -> Stage | Decision | None:
        return self._before


class Editing:
    """What the person accepts here is their yes to it; it is judged anew."""

    def __init__(self, before: Choosing, text: str | None = None, problem: str = "") -> None:
        self._before, self._problem = before, problem
        self._subject: Amendable = amendable(before.answering.approval)
        self._text = self._subject.text if text is None else text

    @property
    def entry(self) -> Entry:
        return Entry(self._text, True, "  ")

    def rows(self, width: int) -> list[Line]:
        what = "the command or text" if self._subject.field else "the arguments, as JSON"
        made = wrap((("title", "Edit "), ("title", what), ("", ". What you allow here is judged once more.")), width)
        return [*made, *(wrap(line(f"That cannot be run: {self._problem}.", "error"), width) if self._problem else [])]

    def foot(self, width: int, seen: bool) -> list[Line]:
        return []

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        return None

    def submit(self, text: str) -> Stage | Decision | None:
        try:
            return self._before.answering.edited(self._subject, text)
        except ValueError as error:
            return Editing(self._before, text, str(error))

    def back(self) -> Stage | Decision | None:
        return self._before


class Saying:
    """A no, with words to the model."""

    entry = Entry("", False)

    def __init__(self, before: Choosing) -> None:
        self._before = before

    def rows(self, width: int) -> list[Line]:
        return wrap(line(WHY, "title"), width)

    def foot(self, width: int, seen: bool) -> list[Line]:
        return []

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        return None

    def submit(self, text: str) -> Stage | Decision | None:
        return self._before.answering.deny(text.strip())

    def back(self) -> Stage | Decision | None:
        return self._before


def question_lines(approval: Approval, width: int) -> list[Line]:
    """All that `ui.question` has to say, the warnings first."""
    made = parts(approval, width)
    call = _diff(made.call) if "@@" in approval.effects.preview else [line(row) for row in made.call]
    groups = [
        [line(row, "title") for row in made.title] + [line(row, "warn") for row in made.warnings],
        call,
        [line(row) for row in made.deeds],
        [_fact(row) for row in made.facts],
    ]
    rows: list[Line] = []
    for group in groups:
        if group:
            rows += [*([()] if rows else []), *group]
    return rows


def choice_lines(offered: tuple[Choice, ...], width: int, seen: bool) -> list[Line]:
    """The answers; those that say yes are faint until they count."""
    made: list[Line] = []
    for row in prompt(offered, width):
        spans: list[tuple[str, str]] = []
        for match in _CHOICE.finditer(row):
            off = match[1] in YES and not seen
            spans += [("dim" if off else "key", match[0][:3]), ("dim" if off else "", match[0][3:])]
        made.append(tuple(spans) or line(row))
    return made


def _diff(rows: tuple[str, ...]) -> list[Line]:
    """Rows of a diff by their sign; a row that goes on from the one above is like it."""
    made: list[Line] = []
    style = ""
    for row in rows:
        if row.startswith("  ") or not row.strip():
            style = "" if row[2:5] in ("+++", "---") else _SIGNS.get(row[2:3], "")
        made.append(line(row, style))
    return made


def _fact(row: str) -> Line:
    found = _LABEL.match(row)
    return (("bold", found[0]), ("", row[found.end() :])) if found else line(row)
