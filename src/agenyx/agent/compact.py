"""Has the model summarise a conversation: the current request with one instruction behind it, so that its cache holds.

What is too long for that goes in parts. When the model fails, or says nothing, an excerpt is made without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.remains import summary_of
from agenyx.core.events import Done, Failure, Retrying, Usage
from agenyx.core.messages import Entry, Media, Step, Summary, Text, User, UserBlock
from agenyx.llm.request import Provider, Request

PARTS = 6  # of a conversation that is too long to be summarised at once; more than that is not read again
CALL_CHARS, RESULT_CHARS = 300, 500  # shown of a call and of a result in a part
EXCERPT_CHARS, EXCERPT_PIECE = 24_000, 2_000  # AgentX §4.3
CHARS = 2  # a token, so that a part surely fits

INSTRUCTION = """\
Stop here for a moment: the conversation gets too long and will be shortened. Write down what is needed to go on. Your \
text replaces everything above; only the user's own messages stay word for word. Call no tools, answer with text alone.

Use these headings, and leave out those you have nothing for:
Goal and constraints (what the user wants, and everything they ruled out or insisted on)
Decisions, each with its reason
Done so far (file by file: what was changed and why)
Found out (commands that work, versions, names, places in the code, open errors word for word)
Next (what you were about to do)

Be exact about paths, names and numbers. At most {words} words."""
FOCUS = "\nThe user wants this above all to be kept: {focus}"
PART = "Below is part {number} of {count} of a conversation between a user and you.{before}\n\n{text}\n\n"
BEFORE = " The parts before it come to this:\n\n{text}\n\nPut both together in your answer."


class Written(Struct, frozen=True):
    """A summary. `by_model` is False for an excerpt; `usage` adds up the responses that were asked for."""

    text: str
    by_model: bool
    usage: Usage | None


class Scribe:
    """Asks `provider`. `request` is the next request as it would be; `tell` hears of retries; `count` of each usage."""

    def __init__(
        self,
        provider: Provider,
        request: Request,
        tell: Callable[[Retrying], None],
        count: Callable[[Usage | None], None],
    ) -> None:
        self._provider, self._request = provider, request
        self._tell, self._count = tell, count
        self._usage: Usage | None = None
        self._refused = False  # as too long

    async def write(self, covered: Sequence[Entry], focus: str, room: int, whole: bool) -> Written:
        """Summarise. `room` is about how many tokens the text may have.

        With `whole` the request itself is sent with an instruction; else, or when that is too long, `covered` goes as
        text, in parts.
        """
        order = INSTRUCTION.format(words=max(room // 2, 100)) + (FOCUS.format(focus=focus) if focus else "")
        text = ""
        if whole:
            text = await self._ask([*self._request.entries, _notice(order)])
        if not whole or (not text and self._refused):
            texts = split(covered, max(room * 8, 2_000) * CHARS)
            for number, part in enumerate(texts, 1):
                before = BEFORE.format(text=text) if text else ""
                asked = PART.format(number=number, count=len(texts), before=before, text=part) + order
                if not (text := await self._ask([_notice(asked)])):
                    break
        limit = room * 4
        if text:
            return Written(text if len(text) <= limit else f"{text[:limit]}\n[…]", True, self._usage)
        return Written(excerpt(covered, min(EXCERPT_CHARS, limit)), False, self._usage)

    async def _ask(self, entries: Sequence[Entry]) -> str:
        """The text of the answer, "" when there was none or it was not whole. Calls in it are passed over."""
        usage: Usage | None = None
        try:
            async for event in self._provider.stream(replace(self._request, entries=entries)):
                match event:
                    case Usage():
                        usage = event
                    case Retrying():
                        self._tell(event)
                    case Failure("overflow"):
                        self._refused = True
                    case Done(assistant):
                        self._count(usage)
                        if usage is not None:
                            self._usage = usage if self._usage is None else self._usage + usage
                        return assistant.text.strip() if assistant.stop != "refusal" else ""
                    case _:
                        pass
        except Exception:  # noqa: BLE001 - the rim around a provider: without it there is the excerpt
            return ""
        return ""


def split(covered: Sequence[Entry], limit: int) -> list[str]:
    """The entries as text, in parts of at most `limit` characters; when there are too many, the latest ones."""
    parts, size = [[""]], 0
    for text in map(shown, covered):
        piece = text[:limit]
        if size and size + len(piece) > limit:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += len(piece)
    return ["\n\n".join(part).strip() for part in parts[-PARTS:]]


def excerpt(covered: Sequence[Entry], limit: int) -> str:
    """What was said last, and the summary before it, cut; about `limit` characters."""
    earlier = next((entry for entry in covered if isinstance(entry, Summary)), None)
    head = f"{summary_of(earlier)[: limit // 2]}\n\n" if earlier else ""
    left, found = limit - len(head), list[str]()
    for entry in reversed(covered):
        if not isinstance(entry, Step):
            continue  # what the user said stands beside it
        text = shown(entry)[:EXCERPT_PIECE]
        left -= len(text)
        if left < 0:
            break
        found.append(text)
    return f"{head}(An excerpt: no summary could be written.)\n\n" + "\n\n".join(reversed(found))


def shown(entry: Entry) -> str:
    """An entry as text, with the names of images in it and without the bulk of results."""
    match entry:
        case User():
            return f"{'Notice' if entry.origin == 'notice' else 'User'}: {entry.text}{_media(entry.blocks)}"
        case Summary():
            return f"Summary of what was before: {summary_of(entry)}"
        case Step(assistant=assistant, results=results):
            lines = [f"You: {assistant.text}"] if assistant.text.strip() else []
            for call, result in zip(assistant.calls, results, strict=True):
                text = result.text
                rest = f" […{len(text) - RESULT_CHARS} more characters]" if len(text) > RESULT_CHARS else ""
                lines.append(f"Call: {call.name} {call.args[:CALL_CHARS]}")
                lines.append(f"Result ({result.status}): {text[:RESULT_CHARS]}{rest}{_media(result.content)}")
            return "\n".join(lines)


def _media(blocks: Sequence[UserBlock]) -> str:
    named = [f" [{block.kind} {block.name!r}]" for block in blocks if isinstance(block, Media)]
    return "".join(named)


def _notice(text: str) -> User:
    return User((Text(text),), "notice")
