"""Images where room is made and where a server refuses them: which ones, and what stands in their place."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.agent.compact import shown
from agenyx.agent.prune import old_results, taken_out
from agenyx.agent.unseen import refused
from agenyx.core.events import Failure
from agenyx.core.messages import Assistant, Entry, Media, Step, Text, ToolCall, ToolResult, User
from agenyx.session.state import State


def media(name: str, kind: Any = "image") -> Media:
    return Media(kind, "image/png", f"sha-{name}", 9, name)


def looked(number: int, *content: Text | Media) -> Step:
    call = ToolCall(f"c{number}", "w", "Read", "{}")
    return Step(Assistant((call,), "calls"), (ToolResult(call.id, "ok", content or (Text("ok"),)),))


def state(*entries: Entry) -> State:
    made = State()
    for number, entry in enumerate(entries):
        made.view.add(entry, f"r{number}")
    return made


HISTORY = (
    User((Text("look"), media("typed"))),
    looked(1, Text("one"), media("one")),
    looked(2, Text("two"), media("two"), media("three")),
)
SAYS = "api.example answered 400: Could not process image"


@pytest.mark.parametrize(
    ("failure", "found"),
    [
        (Failure("invalid", SAYS), ("sha-two", "sha-three")),
        (Failure("overflow", "x answered 413: too much"), ("sha-two", "sha-three")),
        (Failure("not_found", "No endpoints found that support image input"), ("sha-two", "sha-three")),
        (Failure("server", "x answered 500: you may need the mmproj"), ("sha-two", "sha-three")),
        (Failure("auth", SAYS), ()),
        (Failure("overflow", "prompt is too long: 3 tokens"), ()),
        (Failure("invalid", "x answered 400: imagine a temperature"), ()),
    ],
)
def test_what_a_refusal_is_about(failure: Failure, found: tuple[str, ...]) -> None:
    assert refused(state(*HISTORY), failure) == found


def test_without_new_images_it_is_all_of_them() -> None:
    after = state(*HISTORY, looked(3))
    assert set(refused(after, Failure("invalid", SAYS))) == {"sha-typed", "sha-one", "sha-two", "sha-three"}
    assert refused(state(User((Text("x"),))), Failure("invalid", SAYS)) == ()


def test_old_results_with_images_are_taken_out_and_named() -> None:
    steps = [looked(n, Text("short"), media(f"{n}.png")) for n in range(10)]
    results = old_results(steps, 1)
    assert [result.call for result in results] == [f"c{n}" for n in range(8)]
    long = ToolResult("c", "ok", (Text("x" * 5_000), media("", "document")), None)
    kept: list[str] = []
    made = taken_out((results[0], long), lambda call, text: kept.append(call) or "/kept", pages=True)
    assert kept == ["c"], "short text stays where it is"
    assert made[0].text == "short\n[taken out to make room: '0.png'; if you need to see it again, make the call again]"
    assert "5,000 characters" in made[1].text and "make room: the document;" in made[1].text
    assert not any(isinstance(block, Media) for result in made for block in result.content)


def test_a_summary_is_told_of_images() -> None:
    assert shown(HISTORY[0]) == "User: look [image 'typed']"
    assert shown(HISTORY[2]).endswith("Result (ok): two [image 'two'] [image 'three']")
