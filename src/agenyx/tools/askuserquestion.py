"""AskUserQuestion: asks the person to choose. The answer comes with their decision about the call, never from the
model: what its own arguments say of answers is passed over.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, cast

from msgspec import UNSET, Meta, Struct, UnsetType

from agenyx.core import json
from agenyx.core.tools import Effects, Inquiry, Option, Question, ToolSet
from agenyx.tools.spec import Context, Look, Outcome

_NOBODY = "nobody is here to answer. Go on with your best judgement, and say in your answer what you assumed"
_UNSAID = "There was no answer. Go on with your best judgement, and say in your answer what you assumed."
_NEVER: dict[str, Any] = {"sets": ()}  # no model is told of it


# Unknown members of a question or an option are passed over: models add their own.
class Choice(Struct, frozen=True):
    label: str
    description: str | UnsetType = UNSET


class Asked(Struct, frozen=True):
    question: str
    options: Annotated[tuple[Choice, ...], Meta(min_length=2, max_length=4)]
    header: Annotated[str, Meta(max_length=12)] | UnsetType = UNSET
    multi_select: bool | UnsetType = UNSET


class AskUserQuestionArgs(Struct, frozen=True, forbid_unknown_fields=True):
    questions: Annotated[tuple[Asked, ...], Meta(min_length=1, max_length=4)]
    answers: Annotated[Any, Meta(extra_json_schema=_NEVER)] = None


class AskUserQuestion:
    name: ClassVar[str] = "AskUserQuestion"
    aliases: ClassVar[tuple[str, ...]] = ("ask_user_question",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[AskUserQuestionArgs]] = AskUserQuestionArgs

    def parse(self, value: object) -> AskUserQuestionArgs:
        """Raises JsonError, also where two questions or two options of one could not be told apart."""
        args = json.lenient(_spelt(value), AskUserQuestionArgs)
        _unlike("questions", [asked.question for asked in args.questions])
        for asked in args.questions:
            _unlike(f"options of {asked.question!r}", [option.label for option in asked.options])
        return args

    async def project(self, args: AskUserQuestionArgs, look: Look) -> Effects:
        inquiry = Inquiry(_questions(args), "answers", _NOBODY)
        preview = "\n\n".join(_shown(question, at) for at, question in enumerate(inquiry.questions, 1))
        return Effects(interact=True, parallel=True, preview=preview, inquiry=inquiry)

    async def run(self, args: AskUserQuestionArgs, ctx: Context) -> Outcome:
        from agenyx.tools.answers import answers_in  # most sessions ask nothing

        questions = _questions(args)
        answers = answers_in(questions, ctx.answer)
        if answers is None:
            return Outcome.error(_UNSAID)
        lines: list[str] = []
        for question in questions:
            answer = answers[question.text]
            known = {option.label for option in question.options}
            said = [answer] if isinstance(answer, str) else answer
            told = "; ".join(one if one in known else f"in their own words: {one}" for one in said)
            lines.append(f"{question.text} {told}")
        return Outcome.ok("The user answered:\n" + "\n".join(lines))


def _spelt(value: object) -> object:
    """The arguments with the name that other agents have for `multi_select`."""
    if not isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType]
    members = cast("dict[str, Any]", value)
    questions: Any = members.get("questions")
    for one in cast("list[object]", questions) if isinstance(questions, list) else []:
        if isinstance(one, dict) and "multiSelect" in one:
            asked = cast("dict[str, Any]", one)
            asked.setdefault("multi_select", asked["multiSelect"])
    return members


def _unlike(what: str, texts: list[str]) -> None:
    folded = [" ".join(text.split()).casefold() for text in texts]
    if not all(folded):
        raise json.JsonError(f"one of the {what} is blank")
    if len(set(folded)) < len(folded):
        raise json.JsonError(f"two of the {what} are the same")


def _questions(args: AskUserQuestionArgs) -> tuple[Question, ...]:
    return tuple(
        Question(
            asked.question,
            tuple(Option(option.label, option.description or "") for option in asked.options),
            asked.header or "",
            bool(asked.multi_select),
        )
        for asked in args.questions
    )


def _shown(question: Question, at: int) -> str:
    """A question for people who answer it elsewhere."""
    head = f"{at}. {f'[{question.header}] ' if question.header else ''}{question.text}"
    rows = [f"   - {one.label}{f': {one.description}' if one.description else ''}" for one in question.options]
    return "\n".join([head + (" (several may be chosen)" if question.many else ""), *rows])
