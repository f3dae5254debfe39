"""Notices what a model gets stuck in: empty answers, cut answers, the same call again. Pure functions of the state."""

from __future__ import annotations

from agenyx.core import json
from agenyx.core.events import Outcome
from agenyx.core.messages import Entry, Step, User
from agenyx.session.state import State

WARN_REPEATS, STOP_REPEATS = 3, 5
WINDOW = 20  # steps looked back at, so that a long turn costs no more per step than a short one
MAX_CUTS = 3

EMPTY = "Your last answer was empty. Answer the request, or call a tool."
LENGTH = (
    "Your last answer reached the output limit and was cut. A call that was not finished was dropped and did not run. "
    "Go on in smaller parts: write a large file with several calls."
)
REPEAT = (
    "You have made this same call {count} times in this turn, with the same result each time. "
    "Another time will not change it: use what you have, try something else, or say what stops you."
)


def advice(state: State) -> str | Outcome | None:
    """What to tell the model before it goes on, an outcome when going on is pointless, or None.

    Speaks only when the last entry is a step, so that advice which is already on record is not given again.
    """
    last = state.entries[-1] if state.entries else None
    if not isinstance(last, Step):
        return None
    steps = state.turn_steps(WINDOW)
    if last.assistant.stop == "length":
        if sum(step.assistant.stop == "length" for step in steps) > MAX_CUTS:
            return Outcome("failed", "The model's answers keep reaching its output limit; ask for less at a time.")
        return LENGTH
    if not last.results:
        if last.assistant.text.strip() or last.assistant.stop in ("refusal", "filter", "cut"):
            return None
        if any(_is_empty(step) for step in steps[:-1]):
            return Outcome("failed", "The model gave an empty answer twice; try again, or use another model.")
        return EMPTY
    count = repeats(steps)
    if count >= STOP_REPEATS:
        return Outcome("loop", f"Stopped: the model made the same call {count} times with the same result.")
    return REPEAT.format(count=count) if count >= WARN_REPEATS else None


def advised(entry: Entry) -> bool:
    """Whether the entry is such advice: about an answer, and of no use without it."""
    told = REPEAT.partition("{count}")[0]
    return isinstance(entry, User) and (entry.text in (EMPTY, LENGTH) or entry.text.startswith(told))


def repeats(steps: list[Step]) -> int:
    """How often the latest call was made with the same result since these steps last saw anything new.

    A call counts as new when its name, arguments or result differ from all before it: a test run again after each
    different edit is work, not a loop.
    """
    seen: set[tuple[str, bytes, str]] = set()
    since: list[tuple[str, bytes, str]] = []
    for step in steps:
        for call, result in zip(step.assistant.calls, step.results, strict=True):
            signature = (call.name, _canonical(call.args), result.text)
            if signature not in seen:
                seen.add(signature)
                since = []
            since.append(signature)
    if not since:
        return 0
    first_was_earlier = since[0] != since[-1]
    return since.count(since[-1]) + first_was_earlier


def _canonical(args: str) -> bytes:
    try:
        return json.canonical(json.decode(args))
    except json.JsonError:
        return args.encode()


def _is_empty(step: Step) -> bool:
    return not step.results and not step.assistant.text.strip()
