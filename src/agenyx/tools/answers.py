"""A person's answers to what a call asks: how they become arguments of the call, and how they are read again. Pure.

Whoever asks (a terminal, a command line, another program) puts them in here; only a decision of a person carries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from agenyx.core import json
from agenyx.core.tools import Inquiry, Question

Answers = dict[str, "str | list[str]"]
_LONGEST = 20_000  # characters of one answer


def filled(inquiry: Inquiry, args: str, given: object) -> str:
    """All arguments of the call, with the answer in them, as JSON text.

    `given` is an object by the text, the header or the number of the questions, a list in their order, or the value for
    a single choice. Raises ValueError with a sentence.
    """
    members: Any = json.decode(args)
    if inquiry.argument == "mode":
        (question,) = inquiry.questions
        values = [option.value for option in question.options]
        if given not in values:
            raise ValueError(f"mode has to be one of: {', '.join(values)}")
        return json.encode({**members, "mode": given}).decode()
    return json.encode({**members, "answers": _answers(inquiry.questions, given)}).decode()


def edited(inquiry: Inquiry, args: str, edit: object) -> str:
    """The same for what somebody wrote as the arguments: only the answer may be theirs. Raises ValueError."""
    members = cast("dict[str, Any]", edit) if isinstance(edit, dict) else {}
    asked: Any = json.decode(args)
    others = [name for name, value in members.items() if name != inquiry.argument and value != asked.get(name)]
    if others or inquiry.argument not in members:
        raise ValueError(f"only its member {inquiry.argument} can be given, as in {example(inquiry)}")
    return filled(inquiry, args, members[inquiry.argument])


def example(inquiry: Inquiry) -> str:
    """An answer as a person would write it for `edited`: the first choices."""
    first = [question.options[0] for question in inquiry.questions]
    if inquiry.argument == "mode":
        return json.encode({"mode": first[0].value}).decode()
    return json.encode({"answers": [option.label for option in first]}).decode()


def answers_in(questions: Sequence[Question], args: str | None) -> Answers | None:
    """The answers in arguments that a person gave, None where there are none that fit the questions."""
    if args is None:
        return None
    try:
        members: Any = json.decode(args)
        return _answers(questions, cast("dict[str, Any]", members).get("answers"))
    except (ValueError, AttributeError):
        return None


def value_in(args: str | None, name: str) -> str | None:
    """The text of one argument that a person gave."""
    try:
        members: Any = json.decode(args) if args is not None else None
    except json.JsonError:
        return None
    value = cast("dict[str, Any]", members).get(name) if isinstance(members, dict) else None
    return value if isinstance(value, str) else None


def _answers(questions: Sequence[Question], given: object) -> Answers:
    if isinstance(given, dict):
        named = dict(cast("dict[str, object]", given))
        found = [named.pop(_name(question, at, named), None) for at, question in enumerate(questions, 1)]
        if named:
            raise ValueError(f"there is no question {next(iter(named))!r}")
    elif isinstance(given, list):
        found = list(cast("list[object]", given))
        if len(found) != len(questions):
            raise ValueError(f"{len(questions)} answers are needed, in the order of the questions")
    else:
        raise ValueError("answers are an object by question, or a list in the order of the questions")
    return {question.text: _answer(question, one) for question, one in zip(questions, found, strict=True)}


def _name(question: Question, at: int, named: dict[str, object]) -> str:
    return next((name for name in (question.text, question.header, str(at)) if name in named), question.text)


def _answer(question: Question, given: object) -> str | list[str]:
    said = [given] if isinstance(given, str) else cast("list[object]", given) if isinstance(given, list) else []
    texts = [text for one in said if isinstance(one, str) and (text := json.scrub(one).strip()[:_LONGEST])]
    if not texts or len(texts) != len(said):
        raise ValueError(f"an answer to {question.text!r} is missing: the label of a choice, or other words")
    if len(texts) > 1 and not question.many:
        raise ValueError(f"{question.text!r} takes one answer only")
    return list(dict.fromkeys(texts)) if question.many else texts[0]
