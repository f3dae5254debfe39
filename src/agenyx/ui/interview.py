"""Questions of the model at a terminal: choices by number, or words of one's own. Blocks, as `Dialogue` does.

Only a person's keys make an answer; what the model put into the call is shown as text that cannot look like ours.
"""

from __future__ import annotations

from typing import Literal

from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Option, Question
from agenyx.tools.answers import filled
from agenyx.ui.dialogue import PLAIN, Dialogue, Manner
from agenyx.ui.question import arguments, text_rows
from agenyx.ui.reveal import reveal
from agenyx.ui.terminal import Closed, Terminal

Answer = str | list[str]
_BELOW = 9  # rows of the question about a plan
_NO = "\x1b\x04"  # Esc, Ctrl+D
DECLINED = "the user did not want to answer. Go on without it, or say what you need to know and why."
KEPT = "the user wants to keep planning. Improve the plan, or ask what is missing."


class Interview(Dialogue):
    """Asks all questions of one call, one after the other."""

    def __init__(self, terminal: Terminal, approval: Approval, manner: Manner) -> None:
        super().__init__(terminal, approval, manner)
        inquiry = approval.effects.inquiry
        assert inquiry is not None
        self._inquiry = inquiry

    def run(self) -> Decision:
        """The answer. A terminal that closes denies and stops: nobody is there for the next question either."""
        questions = self._inquiry.questions
        plan = self._inquiry.argument == "mode"
        try:
            self._terminal.keys()
            if plan:
                self._show(self._approval.effects.preview, "The model presents a plan")
            answers: list[Answer] = []
            for at, question in enumerate(questions, 1):
                head = "" if plan else f"The model asks{f' ({at} of {len(questions)})' if len(questions) > 1 else ''}"
                answer = self._asked(question, head, words="No, keep planning; say what to change" if plan else "")
                if answer is None:
                    self._say("keep planning" if plan else "not answered")
                    return self._decision("deny", KEPT if plan else DECLINED)
                answers.append(answer)
        except (Closed, OSError):
            return self._decision("deny", "the question was withdrawn.", stop=True)
        if not plan:
            return self._decision("allow", args=filled(self._inquiry, arguments(self._approval), answers))
        said, options = answers[0], [option for question in questions for option in question.options]
        option = next((option for option in options if option.label == said), None)
        if option is None:
            return self._decision("deny", str(said))
        return self._decision("allow", args=filled(self._inquiry, arguments(self._approval), option.value))

    # --- one question ------------------------------------------------------------------------------------------------

    def _asked(self, question: Question, head: str, words: str) -> Answer | None:
        """The label that was chosen, or words; a list of them where several may be. None where it is not answered."""
        options, chosen, own = question.options, list[str](), ""
        rows = ["", *([head] if head else []), *self._rows(question, words or "something else, in your own words")]
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
                chosen = [one for one in chosen if one != label] if label in chosen else [*chosen, label]
                self._redraw(rows, self._line(question, chosen))

    def _rows(self, question: Question, other: str) -> list[str]:
        text = f"{question.header}: {question.text}" if question.header else question.text
        rows = [*self._safe("", text), ""]
        for number, option in enumerate((*question.options, Option(other)), 1):
            rows += self._safe(f"{number}  ", f"{option.label}: {option.description}".removesuffix(": "))
        warned = reveal("\n".join((text, *(f"{one.label} {one.description}" for one in question.options)))).warnings
        return [*rows, *(f"WARNING: {warning}" for warning in warned), ""]

    def _safe(self, lead: str, text: str) -> list[str]:
        """Text of the model behind a lead of ours; it has no lines of its own."""
        return text_rows(lead + " ".join(reveal(text).text.split()), self._width)

    def _line(self, question: Question, chosen: list[str]) -> str:
        last = len(question.options) + 1
        if not question.many:
            return f"Press 1-{last}, or Esc to {'keep planning' if self._inquiry.argument == 'mode' else 'decline'}: "
        if not chosen:
            return f"Press 1-{last} for each that you choose, Esc to decline: "
        labels = [option.label for option in question.options]
        marks = [str(labels.index(one) + 1) if one in labels else f"{last} ({one[:20]})" for one in chosen]
        return f"Chosen: {reveal(', '.join(marks)).text}. Enter when done, Esc to decline: "

    def _words(self) -> str:
        what = "What to change" if self._inquiry.argument == "mode" else "In your own words"
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
