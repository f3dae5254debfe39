"""The session that is killed: what the person says, what the model answers, and the files that they work on.

The model finds its place in the request that it is given: every answer bears a label such as `[one 3]`, and the next
one is the answer behind the latest label of the turn. So it goes on in a new process, and after a summary.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from agenyx.agent.context import estimate
from agenyx.core import json
from agenyx.core.events import Done, ModelEvent, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Entry, Step, Text, ToolCall, User
from agenyx.llm.request import Request
from support.pictures import PNG
from support.windowed import is_summary

WINDOW = 40_000  # tokens
COUNTER = "counter.txt"
_LABEL = re.compile(r"\[(\w+) (\d+)\]")
_ASIDE = re.compile(r"put aside: (\w+)")

Made = ToolCall | Callable[[Request], ToolCall]


def _call(name: str, **args: object) -> ToolCall:
    return ToolCall("", f"w_{name}", name, json.encode(args).decode())


def _count(token: str, more: str = "", **args: object) -> ToolCall:
    """A command that leaves one line in the counter file each time that it runs."""
    return _call("Bash", command=f"echo {token} >> {COUNTER}{more}", **args)


def _read(*names: str) -> tuple[ToolCall, ...]:
    return tuple(_call("Read", file_path=name) for name in names)


def _edit(name: str) -> ToolCall:
    return _call("Edit", file_path=name, old_string="old\n", new_string="new\n")


def _spilled(request: Request) -> ToolCall:
    """Pages the first result that was put aside."""
    return _call("ToolResultRead", tool_use_id=_aside(request), limit=500)


def _aside(request: Request) -> str:
    """The call whose result was put aside; a summary hands its id on."""
    for entry in request.entries:
        if isinstance(entry, Step) and (calls := [result.call for result in entry.results if result.spill]):
            return calls[0]
        if not isinstance(entry, Step) and (found := _ASIDE.search(entry.text)):
            return found[1]
    return "gone"


TURNS: dict[str, tuple[tuple[Made, ...], ...]] = {
    "one": (
        (_call("LS"), _call("Glob", pattern="*.txt"), *_read("e1.txt", "e2.txt", "e3.txt")),
        (_count("one-2", "; export STEP=two"),),
        _read("big1.txt", "shot.png"),
        (_edit("e1.txt"),),
        (_count("one-5", "; seq 1 12000"),),
        (_spilled, *_read("e2.txt")),
        (_call("Write", file_path="new/c.txt", content="fresh\n"),),
        (*_read("e1.txt", "e3.txt"), _count("one-8a"), _edit("e2.txt"), _count("one-8b")),
        (_count("late-9", "; exec sleep 300", run_in_background=True),),
        (_call("Grep", pattern="old"), *_read("e4.txt", "e5.txt"), _call("Nonsense")),
        (_call("TodoWrite", todos=[{"content": "go on", "status": "pending"}]), _count("one-11", "; false")),
        (_call("MultiEdit", file_path="e4.txt", edits=[{"old_string": "old\n", "new_string": "new\n"}]),),
    ),
    "two": (
        (*_read("e6.txt"), _count("two-1a"), _count("two-1b")),
        _read("big3.txt", "e1.txt"),
        (_edit("e5.txt"), *_read("e2.txt")),
        (_count("two-4", "; export STEP=four"),),
        (_call("Glob", pattern="e*.txt"), _call("Grep", pattern="new"), *_read("new/c.txt")),
        (_call("LS"), _count("two-6")),
    ),
    "three": (
        _read("big1.txt", "big2.txt", "big3.txt"),
        (_count("three-2"), _edit("e6.txt")),
        _read("big4.txt", "big5.txt"),
        (_count("three-4a"), _count("three-4b")),
        _read("big6.txt", "big7.txt", "big8.txt"),
        (_count("three-6"), *_read("e3.txt")),
        _read("big9.txt", "big8.txt"),
        (_call("Write", file_path="d.txt", content="later\n"),),
        (_count("three-9"),),
    ),
    "fork": (
        (_spilled, *_read("e3.txt", "new/c.txt")),
        (_count("late-2", "; exec sleep 300", run_in_background=True), _edit("e3.txt")),
        (_call("Write", file_path="f.txt", content="of the copy\n"), _count("fork-3")),
    ),
}
"""The answers to each prompt, in order; behind them comes one without calls."""

ORIGINAL, COPY = ("one", "two", "three"), ("one", "two", "three", "fork")
"""The prompts of the session and of its copy."""

SUMMARISED = "three"  # the conversation is compacted before this prompt


def prompt(name: str) -> str:
    return f"Turn {name}: go through it, and keep to the order."


def lay_out(work: Path) -> None:
    """The workspace as it is at first."""
    work.mkdir()
    for number in range(1, 7):
        (work / f"e{number}.txt").write_text(f"file {number}\nold\n", "utf-8")
    (work / "shot.png").write_bytes(PNG)
    for number in range(1, 10):
        (work / f"big{number}.txt").write_text(f"big {number}\n" + "a line of it\n" * 700, "utf-8")


class Author:
    """The model. `told` hears the label of each answer when it is asked for, and `summary`."""

    binding = "author"

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        name, done = place(request)
        if is_summary(request):
            self._told("summary")
            assistant = Assistant((Text(f"All is done up to [{name} {done}]; put aside: {_aside(request)}."),), "end")
        else:
            self._told(f"{name} {done + 1}")
            assistant = _answer(request, name, done + 1)
        yield Started(f"resp_{name}_{done}", "scripted-model")
        yield TextDelta(0, assistant.text)
        yield Usage(fresh=estimate(request.entries) + 3_000, out=20)
        yield Done(assistant)

    async def close(self) -> None:
        pass


def place(request: Request) -> tuple[str, int]:
    """The turn that a request belongs to, and how many answers of it there were."""
    said = [entry.text for entry in request.entries if isinstance(entry, User) and entry.origin == "typed"]
    labels = [label for entry in request.entries for label in _labels(entry)]
    if not said:  # a summary of a conversation that is handed over as text
        return max(labels, key=lambda label: (COPY.index(label[0]), label[1]))
    name = said[-1].split()[1].rstrip(":")
    return name, max((number for turn, number in labels if turn == name), default=0)


def _labels(entry: Entry) -> list[tuple[str, int]]:
    text = entry.assistant.text if isinstance(entry, Step) else entry.text
    return [(found[1], int(found[2])) for found in _LABEL.finditer(text) if found[1] in TURNS]


def _answer(request: Request, name: str, number: int) -> Assistant:
    steps, label = TURNS[name], Text(f"[{name} {number}]")
    if number > len(steps):
        return Assistant((label,), "end")
    made = (one if isinstance(one, ToolCall) else one(request) for one in steps[number - 1])
    return Assistant((label, *made), "calls")
