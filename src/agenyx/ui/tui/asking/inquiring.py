"""Questions of the model, and its plans, stage by stage: choices by number, or words of the person's own. Pure."""

from __future__ import annotations

from agenyx.core.approval import Decision
from agenyx.core.tools import Inquiry
from agenyx.ui import inquiry as words
from agenyx.ui.answering import Answering
from agenyx.ui.inquiry import Answer
from agenyx.ui.markdown import render
from agenyx.ui.reveal import reveal
from agenyx.ui.spans import Glyphs, Line, line, wrap
from agenyx.ui.tui.asking.stages import Entry, Stage

_GUTTER = ("", "  ")


class Asking:
    """One question of the call; `answers` are those to the questions before it. `mark` is the entry that stands out."""

    entry = None

    def __init__(
        self,
        answering: Answering,
        inquiry: Inquiry,
        glyphs: Glyphs,
        answers: tuple[Answer, ...] = (),
        chosen: tuple[str, ...] = (),
        mark: int = 0,
    ) -> None:
        self.answering, self.inquiry, self.glyphs = answering, inquiry, glyphs
        self.answers, self.chosen, self.mark = answers, chosen, mark
        self.question = inquiry.questions[len(answers)]

    @property
    def plan(self) -> bool:
        return words.is_plan(self.inquiry)

    def rows(self, width: int) -> list[Line]:
        made = wrap(line(words.head(self.inquiry, len(self.answers) + 1), "title"), width)
        if self.plan:
            made += [(), *plan_lines(self.answering.approval.effects.preview, width, self.glyphs)]
        made.append(())
        made += [line(row, "bold") for row in words.safe_rows("", words.text(self.question), width)]
        for warning in words.warnings(self.question):
            made += wrap(line(f"WARNING: {warning}", "warn"), width, "    ")
        made.append(())
        for at, option in enumerate(words.entries(self.inquiry, self.question)):
            box = f"[{'x' if option.label in self.chosen else ' '}] " if self._boxed(at) else ""
            style = "selected" if at == self.mark else ""
            lead = f"{'>' if at == self.mark else ' '} {at + 1}  {box}"
            made += [line(row, style) for row in words.safe_rows(lead, words.described(option), width)]
        own = [one for one in self.chosen if one not in {option.label for option in self.question.options}]
        for one in own:
            made += [line(row, "dim") for row in words.safe_rows("     [x] ", one, width)]
        return made

    def foot(self, width: int, seen: bool) -> list[Line]:
        last = len(self.question.options) + 1
        no = "keep planning" if self.plan else "decline"
        if not self.question.many:
            keys = [(f"1-{last}", "choose"), ("Enter", "take what is marked"), ("Esc", no)]
        elif not self.chosen:
            keys = [(f"1-{last}", "choose one or more"), ("Esc", no)]
        else:
            keys = [(f"1-{last}", "choose more, or fewer"), ("Enter", "done"), ("Esc", no)]
        spans: list[tuple[str, str]] = []
        for key, what in keys:
            off = not seen and key != "Esc"
            gap = "   " if spans else ""
            spans += [("", gap), ("dim" if off else "key", key), ("dim" if off else "", f" {what}")]
        return wrap(tuple(spans), width)

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        if key in ("\x1b", "\x04"):
            return self._declined()
        if key in ("up", "down"):
            return self._again(mark=max(min(self.mark + (1 if key == "down" else -1), len(self.question.options)), 0))
        if key == str(len(self.question.options) + 1):
            return Telling(self)  # words of their own choose nothing
        if not seen:
            return None
        if key in ("\r", "\n"):
            if self.question.many:
                return self._next(list(self.chosen)) if self.chosen else None
            return self._take(self.mark)
        if key == " ":
            return self._take(self.mark) if self.question.many else None
        number = int(key) if key.isascii() and key.isdigit() else 0
        return self._take(number - 1) if 1 <= number <= len(self.question.options) + 1 else None

    def submit(self, text: str) -> Stage | Decision | None:
        return None

    def back(self) -> Stage | Decision | None:
        return self._declined()

    def said(self, text: str) -> Stage | Decision:
        """Words of their own; none go back."""
        if not text:
            return self
        if not self.question.many:
            return self._next(text)
        return self if text in self.chosen else self._again(chosen=(*self.chosen, text))

    def _take(self, at: int) -> Stage | Decision:
        if at == len(self.question.options):
            return Telling(self)
        label = self.question.options[at].label
        if not self.question.many:
            return self._next(label)
        return self._again(chosen=tuple(words.toggled(list(self.chosen), label)), mark=at)

    def _next(self, answer: Answer) -> Stage | Decision:
        answers = (*self.answers, answer)
        if len(answers) < len(self.inquiry.questions):
            return Asking(self.answering, self.inquiry, self.glyphs, answers)
        return words.concluded(self.answering, self.inquiry, list(answers))

    def _again(self, *, chosen: tuple[str, ...] | None = None, mark: int | None = None) -> Asking:
        """The same question with something else marked: what was on the screen was seen."""
        return Asking(
            self.answering,
            self.inquiry,
            self.glyphs,
            self.answers,
            self.chosen if chosen is None else chosen,
            self.mark if mark is None else mark,
        )

    def _declined(self) -> Decision:
        return words.concluded(self.answering, self.inquiry, None)

    def _boxed(self, at: int) -> bool:
        return self.question.many and at < len(self.question.options)


class Telling:
    """Words of the person's own, in place of a choice."""

    entry = Entry("", False)

    def __init__(self, before: Asking) -> None:
        self._before = before

    def rows(self, width: int) -> list[Line]:
        head = "What to change" if self._before.plan else "In your own words"
        question = words.safe_rows("", words.text(self._before.question), width)
        return [*wrap(line(head, "title"), width), *(line(row, "dim") for row in question)]

    def foot(self, width: int, seen: bool) -> list[Line]:
        return []

    def press(self, key: str, seen: bool) -> Stage | Decision | None:
        return None

    def submit(self, text: str) -> Stage | Decision | None:
        return self._before.said(text.strip())

    def back(self) -> Stage | Decision | None:
        return self._before


def plan_lines(text: str, width: int, glyphs: Glyphs) -> list[Line]:
    """A plan as its Markdown means it, two columns in, with what is hidden in it told first."""
    revealed = reveal(text)
    warnings = [row for one in revealed.warnings for row in wrap(line(f"WARNING: {one}", "warn"), width, "    ")]
    body = [(_GUTTER, *row) if row else () for row in render(revealed.text.strip("\n"), max(width - 2, 10), glyphs)]
    return [*warnings, *([()] if warnings else []), *body]
