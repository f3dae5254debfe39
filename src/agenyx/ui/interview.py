"""Questions of the model at a terminal: choices by number, or words of one's own. Blocks, as `Dialogue` does.

Only a person's keys make an answer; what the model put into the call is shown as text that cannot look like ours.
"""

from __future__ import annotations

from typing import Literal

from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Question
from agenyx.ui import inquiry as words
from agenyx.ui.dialogue import PLAIN, Dialogue, Manner
from agenyx.ui.inquiry import Answer
from agenyx.ui.question import text_rows
from agenyx.ui.reveal import reveal
from agenyx.ui.terminal import Closed, Terminal

_BELOW = 9  # rows of the question about a plan
_NO = "\x1b\x04"  # Esc, Ctrl+D


class Interview(Dialogue):
    """Asks all questions of one call, one after the other."""

    def __init__(self, terminal: Terminal, approval: Approval, manner: Manner) -> None:
        super().__init__(terminal, approval, manner)
        inquiry = approval.effects.inquiry
        assert inquiry is not None
        self._inquiry = inquiry

    def run(self) -> Decision:
        """The answer. A terminal that closes denies and stops: nobody is there for the next question either."""
        plan = words.is_plan(self._inquiry)
        try:
            self._terminal.keys()
            if plan:
                self._show(self._approval.effects.preview, words.head(self._inquiry, 1))
            answers: list[Answer] = []
            for at, question in enumerate(self._inquiry.questions, 1):
                answer = self._asked(question, "" if plan else words.head(self._inquiry, at))
                if answer is None:
                    self._say("keep planning" if plan else "not answered")
                    return words.concluded(self._answering, self._inquiry, None)
                answers.append(answer)
        except (Closed, OSError):
            return self._answering.withdrawn()
        return words.concluded(self._answering, self._inquiry, answers)

    # --- one question ------------------------------------------------------------------------------------------------

    def _asked(self, question: Question, head: str) -> Answer | None:
        """The label that was chosen, or words; a list of them where several may be. None where it is not answered."""
        options, chosen, own = question.options, list[str](), ""
        rows = ["", *([head] if head else []), *words.rows(self._inquiry, question, self._width)]
        self._draw(rows, self._line(question, chosen))
        while True:
            key = self._key()
            if key and key in _NO:
                return None
            if question.many and key in ("\r", "\n") and chosen:
                self._say("")
                return chosen
            number = int(key) if key.isascii() and key.isdigit() else 0
            if number == len(options) + 1:
                self._say(str(number))
                own = self._words()
                if own and not question.many:
                    return own
                if own and own not in chosen:
                    chosen.append(own)
                self._draw(rows, self._line(question, chosen))
            elif 1 <= number <= len(options):
                label = options[number - 1].label
                if not question.many:
                    self._say(f"{number}")
                    return label
                chosen = words.toggled(chosen, label)
                self._redraw(rows, self._line(question, chosen))

    def _line(self, question: Question, chosen: list[str]) -> str:
        last = len(question.options) + 1
        if not question.many:
            return f"Press 1-{last}, or Esc to {'keep planning' if self._inquiry.argument == 'mode' else 'decline'}: "
        if not chosen:
            return f"Press 1-{last} for each that you choose, Esc to decline: "
        return f"Chosen: {words.marks(question, chosen)}. Enter when done, Esc to decline: "

    def _words(self) -> str:
        what = "What to change" if words.is_plan(self._inquiry) else "In your own words"
        text = self._typed(f"{what} (an empty line goes back): ").strip()
        self._terminal.keys()
        return text

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _show(self, text: str, title: str) -> None:
        revealed = reveal(text)
        rows = ["", title, "", *text_rows(revealed.text.rstrip("\n"), self._width)]
        rows += [f"WARNING: {warning}" for warning in revealed.warnings]
        if len(rows) + _BELOW > self._terminal.size()[1]:
            rows += ["", "(more rows stand above: scroll up to read all of it)"]
        self._terminal.write("".join(f"{row}\n" for row in rows))

    def _draw(self, rows: list[str], line: str) -> None:
        self._ask("".join(f"{row}\n" for row in rows) + line)

    def _redraw(self, rows: list[str], line: str) -> None:
        """The last row anew, for what was chosen."""
        self._standing = "".join(f"{row}\n" for row in rows) + line
        plain: Literal["\n", "\r\x1b[K"] = "\n" if self._manner.term in PLAIN else "\r\x1b[K"
        self._terminal.write(f"{plain}{line}")
