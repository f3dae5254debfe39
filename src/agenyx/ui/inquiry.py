"""Questions of the model to the person, whatever they are answered with: their words, and what an answer means. Pure.

Only a person makes an answer; what the model put into the call is text that cannot look like ours.
"""

from __future__ import annotations

from agenyx.core.approval import Decision
from agenyx.core.tools import Inquiry, Option, Question
from agenyx.tools.answers import filled
from agenyx.ui.answering import Answering
from agenyx.ui.question import arguments, text_rows
from agenyx.ui.reveal import reveal

Answer = str | list[str]
DECLINED = "the user did not want to answer. Go on without it, or say what you need to know and why."
KEPT = "the user wants to keep planning. Improve the plan, or ask what is missing."
OTHER = "something else, in your own words"
CHANGE = "No, keep planning; say what to change"


def is_plan(inquiry: Inquiry) -> bool:
    return inquiry.argument == "mode"


def head(inquiry: Inquiry, at: int) -> str:
    """The title over question `at`, which counts from 1."""
    many = len(inquiry.questions)
    if is_plan(inquiry):
        return "The model presents a plan"
    return f"The model asks ({at} of {many})" if many > 1 else "The model asks"


def text(question: Question) -> str:
    return f"{question.header}: {question.text}" if question.header else question.text


def entries(inquiry: Inquiry, question: Question) -> tuple[Option, ...]:
    """What may be chosen, in the order of the numbers 1, 2, …; the last one is words of one's own."""
    return (*question.options, Option(CHANGE if is_plan(inquiry) else OTHER))


def rows(inquiry: Inquiry, question: Question, width: int) -> list[str]:
    """The question and its numbered choices, with what is to be careful about; each of at most `width` columns."""
    made = [*safe_rows("", text(question), width), ""]
    for number, option in enumerate(entries(inquiry, question), 1):
        made += safe_rows(f"{number}  ", described(option), width)
    return [*made, *(f"WARNING: {warning}" for warning in warnings(question)), ""]


def described(option: Option) -> str:
    return f"{option.label}: {option.description}".removesuffix(": ")


def warnings(question: Question) -> tuple[str, ...]:
    whole = "\n".join((text(question), *(f"{one.label} {one.description}" for one in question.options)))
    return reveal(whole).warnings


def safe_rows(lead: str, text: str, width: int) -> list[str]:
    """Text of the model behind a lead of ours; it has no lines of its own."""
    return text_rows(lead + " ".join(reveal(text).text.split()), width)


def toggled(chosen: list[str], label: str) -> list[str]:
    return [one for one in chosen if one != label] if label in chosen else [*chosen, label]


def marks(question: Question, chosen: list[str]) -> str:
    """What was chosen of many, by number; words of one's own by their begin."""
    labels, last = [option.label for option in question.options], len(question.options) + 1
    shown = [str(labels.index(one) + 1) if one in labels else f"{last} ({one[:20]})" for one in chosen]
    return reveal(", ".join(shown)).text


def concluded(answering: Answering, inquiry: Inquiry, answers: list[Answer] | None) -> Decision:
    """The decision that these answers make, one a question; None where the person did not want to answer."""
    if answers is None:
        return answering.deny(KEPT if is_plan(inquiry) else DECLINED)
    given = arguments(answering.approval)
    if not is_plan(inquiry):
        return answering.allow(args=filled(inquiry, given, answers))
    said, (question,) = answers[0], inquiry.questions
    option = next((option for option in question.options if option.label == said), None)
    if option is None:
        return answering.deny(str(said))
    return answering.allow(args=filled(inquiry, given, option.value))
