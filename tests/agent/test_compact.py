"""Room is made before a request is too long: old results go first, then the conversation is summarised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agenyx.agent.context import Choice
from agenyx.core.events import Compacted, PrefixBroke, TurnFinished
from agenyx.core.messages import Assistant, Step, Summary, Text, User
from agenyx.llm.anthropic_encode import AnthropicEncoder
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import MESSAGES_ANTHROPIC, OPENAI, RESPONSES_OPENAI
from agenyx.llm.encode import Encoder
from agenyx.llm.request import Request
from agenyx.llm.responses_encode import ResponsesEncoder
from agenyx.session import load, records
from agenyx.session.state import State
from agenyx.session.store import MemoryStore
from agenyx.tools.spec import Context, Outcome
from agenyx.tools.toolresultread import spill_of
from support.parts import Parts, Peek, SayArgs
from support.scripted import call, calls, say
from support.windowed import Windowed, is_summary, results, roomy

RULE = "Never touch the file kept.txt."


class Big(Peek):
    """Gives back as many characters as it is asked for."""

    name = "Big"
    aliases = ()

    async def run(self, args: SayArgs, ctx: Context) -> Outcome:
        self.ran.append(args.text)
        if args.fail:
            return Outcome.error(f"{args.text} does not exist")
        word, _, size = args.text.partition(" ")
        return Outcome.ok(f"<{word}>".ljust(int(size or 0), "."))


def working(steps: int, size: int, said: int = 0) -> Callable[[Request], Assistant]:
    """A model that makes so many calls a turn, each with a result of `size`, and says `said` characters each time."""
    made, done, prompts = [0], [0], set[str]()

    def answer(request: Request) -> Assistant:
        latest = [e.prompt_id for e in request.entries if isinstance(e, User) and e.origin == "typed"][-1:]
        if not prompts.issuperset(latest):
            prompts.update(latest)
            done[0] = 0
        made[0], done[0] = made[0] + 1, done[0] + 1
        text = f"word{made[0]} " + "t" * said
        return say(text) if done[0] > steps else calls(call("Big", text=f"n{made[0]} {size}"), text=text)

    return answer


def bench(provider: Windowed, window: int | None, spill: Any = None, **more: Any) -> Parts:
    parts = Parts(provider, [Big()], store=more.pop("store", None), state=more.pop("state", None))
    roomy(parts, window, spill, **more)
    return parts


def bodies(parts: Parts, kind: type[Any]) -> list[Any]:
    lines = parts.session._store.lines  # type: ignore[attr-defined]
    return [r.body for r in load.decode_lines(b"".join(lines), []) if isinstance(r.body, kind)]


def typed(request: Request) -> list[str]:
    return [e.text for e in request.entries if isinstance(e, User) and e.origin == "typed"]


# --- pruning ---------------------------------------------------------------------------------------------------------


def test_old_results_are_taken_out_many_at_once_and_stay_readable(tmp_path: Path) -> None:
    provider = Windowed(32_000, working(50, 4_000))
    parts = bench(provider, 32_000, tmp_path)
    assert parts.run().outcome.kind == "done"
    pruned = bodies(parts, records.Pruned)
    assert 1 <= len(pruned) <= 4 and not bodies(parts, records.Compacted) and not provider.refused
    assert len(pruned[0].results) >= 5
    assert len(parts.bodies(PrefixBroke)) == len(pruned)
    gone = pruned[0].results[0]
    assert "4,000 characters" in gone.text and f"ToolResultRead, tool_use_id {gone.call}" in gone.text
    assert gone.text in results(provider.requests[-1])
    path = spill_of(parts.session.state.entries, gone.call)
    assert path and Path(path).read_text("utf-8").startswith("<n1>") and Path(path).stat().st_size == 4_000
    assert results(provider.requests[-1])[-1].startswith("<n50>"), "the latest are whole"


@pytest.mark.parametrize(
    "make",
    [
        lambda: ChatEncoder(OPENAI),
        lambda: ResponsesEncoder(RESPONSES_OPENAI),
        lambda: AnthropicEncoder(MESSAGES_ANTHROPIC),
    ],
    ids=["chat", "responses", "messages"],
)
def test_the_cache_holds_over_fifty_steps_but_for_the_breaks(make: Callable[[], Encoder], tmp_path: Path) -> None:
    provider = Windowed(32_000, working(50, 4_000), make=make)
    parts = bench(provider, 32_000, tmp_path)
    parts.run()
    broken, kept, total = 0, 0, 0
    for before, after in zip(provider.bodies, provider.bodies[1:], strict=False):
        if not after.startswith(before[:-2]):
            broken += 1
            continue
        kept, total = kept + len(before) - 2, total + len(before)
    assert len(provider.bodies) == 51 and broken == len(bodies(parts, records.Pruned))
    assert kept / total >= 0.99
    assert parts.session.state.breaks == {"old results were taken out to make room": broken}


def test_without_a_tool_to_read_them_the_line_says_to_call_again_and_a_failure_is_still_told(tmp_path: Path) -> None:
    made = [0]

    def answer(request: Request) -> Assistant:
        made[0] += 1
        if made[0] > 50:
            return say("done")
        bad = call("Big", "w2", text=f"bad{made[0]} {'b' * 1500}", fail=True)
        return calls(call("Big", text=f"n{made[0]} 4000"), bad)

    parts = bench(Windowed(32_000, answer), 32_000, tmp_path, pages=False)
    assert parts.run().outcome.kind == "done"
    gone = bodies(parts, records.Pruned)[0].results
    assert all("make the call again" in result.text for result in gone)
    assert any(result.status == "error" and result.text.startswith("bad") for result in gone)


def test_what_cannot_be_put_aside_is_not_taken_out() -> None:
    parts = bench(Windowed(32_000, working(40, 4_000)), 32_000, None)
    assert parts.run().outcome.kind == "done"
    assert not bodies(parts, records.Pruned) and bodies(parts, records.Compacted)


# --- the summary -----------------------------------------------------------------------------------------------------


def test_the_summary_is_asked_for_behind_the_request_as_it_was() -> None:
    provider = Windowed(16_000, working(60, 0, 1_500))
    parts = bench(provider, 16_000)
    assert parts.run(RULE).outcome.kind == "done"
    at = next(i for i, request in enumerate(provider.requests) if is_summary(request))
    asked = provider.requests[at]
    assert provider.bodies[at].startswith(provider.bodies[at - 1][:-2]), "all of the cache is used"
    assert asked.tools == provider.requests[0].tools and asked.prefix_id == provider.requests[0].prefix_id
    after = provider.requests[at + 1]
    assert isinstance(after.entries[0], Summary) and "SUMMED UP" in after.entries[0].text
    assert typed(after) == [RULE]
    assert len(provider.bodies[at + 1]) < len(provider.bodies[at]) // 2
    assert isinstance(after.entries[-1], Step), "the latest steps stay"
    assert not provider.refused
    (event, *_), (cause, *_) = parts.bodies(Compacted), parts.bodies(PrefixBroke)
    assert "SUMMED UP" in event.summary and cause.cause == "compaction"


def test_a_constraint_of_the_first_of_200_messages_is_still_there_after_three_compactions() -> None:
    provider = Windowed(16_000, working(1, 300, 400))
    parts = bench(provider, 16_000)
    for number in range(200):
        text = RULE if number == 0 else f"Message {number}: " + "m" * 40
        assert parts.run(text).outcome.kind == "done"
    assert len(bodies(parts, records.Compacted)) >= 3 and not provider.refused
    last = provider.requests[-1]
    assert typed(last)[0] == RULE
    assert typed(last)[-1].startswith("Message 199"), typed(last)[-1]
    assert "older ones are left out" in last.entries[0].text  # type: ignore[union-attr]


def test_the_summary_names_files_failures_and_the_list() -> None:
    def answer(request: Request) -> Assistant:
        done = sum(isinstance(entry, Step) for entry in request.entries)
        if done == 0:
            todos = [{"content": "write it", "status": "in_progress"}, {"content": "test it", "status": "pending"}]
            return calls(call("TodoWrite", todos=todos), call("Big", "w2", text="missing.py", fail=True))
        return say("done") if len(provider.summaries) else calls(call("Big", text=f"n{done} 0"), text="t" * 1_500)

    class Todo(Big):
        name = "TodoWrite"

        async def run(self, args: Any, ctx: Context) -> Outcome:
            return Outcome.ok("kept")

    from agenyx.tools.todowrite import TodoWriteArgs

    todo: Any = Todo()
    todo.args = TodoWriteArgs
    provider = Windowed(16_000, answer)
    parts = Parts(provider, [Big(), todo])
    roomy(parts, 16_000)
    parts.session.state.seen["/w/src/app.py"] = "00"
    assert parts.run().outcome.kind == "done"
    text = bodies(parts, records.Compacted)[0].summary
    assert "- src/app.py" in text
    assert "- [in progress] write it\n- [pending] test it" in text
    assert 'Big {"text":"missing.py","fail":true}: error: missing.py does not exist' in text


@pytest.mark.parametrize("made", [None, say("  "), calls(call("Big", text="x 1")), say("no", stop="refusal")])
def test_an_excerpt_stands_in_when_the_model_writes_nothing(made: Assistant | None) -> None:
    provider = Windowed(16_000, working(40, 0, 1_500), lambda request: made)
    parts = bench(provider, 16_000)
    assert parts.run(RULE).outcome.kind == "done"
    found = bodies(parts, records.Compacted)
    assert found and not any(body.written for body in found)
    assert "An excerpt" in found[0].summary and "You: word" in found[0].summary
    assert typed(provider.requests[-1]) == [RULE]
    assert len(bodies(parts, records.Response)) == 41, "nothing of the summary is taken for an answer"


def test_calls_in_the_answer_are_passed_over() -> None:
    provider = Windowed(16_000, working(40, 0, 1_500), lambda r: calls(call("Big", text="evil 1"), text="THE GIST"))
    parts = bench(provider, 16_000)
    assert parts.run().outcome.kind == "done"
    assert "THE GIST" in bodies(parts, records.Compacted)[0].summary
    assert not any("evil" in e.assistant.calls[0].args for e in parts.session.state.entries
                   if isinstance(e, Step) and e.assistant.calls)  # fmt: skip


def test_another_process_sees_the_same() -> None:
    parts = bench(Windowed(16_000, working(60, 0, 1_500)), 16_000)
    parts.run(RULE)
    assert len(bodies(parts, records.Compacted)) >= 2
    state = State()
    for record in load.decode_lines(b"".join(parts.session._store.lines), []):  # type: ignore[attr-defined]
        state.apply(record)
    mine = parts.session.state
    assert state.view.entries == mine.view.entries and state.view.measured == mine.view.measured
    assert (state.breaks, state.floor, state.tries, state.usage) == (mine.breaks, mine.floor, mine.tries, mine.usage)
    assert state.problems == []


def test_a_process_that_takes_over_anywhere_decides_the_same(tmp_path: Path) -> None:
    """Before each response, pruning and summary of a run, a new process folds the records and looks by itself."""
    parts = bench(Windowed(24_000, working(70, 3_000, 400)), 24_000, tmp_path)
    parts.run(RULE)
    lines = parts.session._store.lines  # type: ignore[attr-defined]
    whole = list(load.decode_lines(b"".join(lines), []))
    looked = {records.Pruned: 0, records.Compacted: 0, records.Response: 0}
    for at, record in enumerate(whole):
        kind = type(record.body)
        if kind not in looked:
            continue
        state = State()
        for earlier in whole[:at]:
            state.apply(earlier)
        later = bench(Windowed(24_000, working(1, 1)), 24_000, tmp_path, state=state)
        assert asyncio.run(later.engine._room.fit(later.engine.provider)) is (kind is not records.Response)  # type: ignore[attr-defined]
        made = [*bodies(later, records.Pruned), *bodies(later, records.Compacted)]
        if isinstance(record.body, records.Compacted):
            (body,) = made
            assert replace(body, usage=None) == replace(record.body, usage=None)
        else:
            assert made == ([record.body] if kind is records.Pruned else [])
        looked[kind] += 1
    assert looked[records.Pruned] and looked[records.Compacted] and looked[records.Response] == 71, looked


def test_the_tokens_of_the_summary_are_counted() -> None:
    parts = bench(Windowed(16_000, working(40, 0, 1_500)), 16_000)
    finished: TurnFinished = parts.run()
    used = [body.usage for body in bodies(parts, records.Response) + bodies(parts, records.Compacted)]
    assert finished.usage and finished.usage.out == sum(usage.out for usage in used)


def test_the_ports_hear_of_it_before_and_after_and_may_name_what_to_keep() -> None:
    provider = Windowed(16_000, working(40, 0, 1_500))
    parts = bench(provider, 16_000)
    heard: list[str] = []

    async def before(by: str, focus: str) -> str:
        heard.append(f"{by}:{focus}")
        return "the colour"

    async def after(text: str) -> None:
        heard.append(text[-20:])

    room: Any = parts.engine._room  # type: ignore[attr-defined]
    room._ports = replace(room._ports, compacting=before, compacted=after)
    assert parts.run().outcome.kind == "done"
    assert heard[0] == "auto:" and len(heard) == 2 * len(provider.summaries)
    assert "The user wants this above all to be kept: the colour" in provider.summaries[0].entries[-1].text  # type: ignore[union-attr]


def test_the_person_asks_for_it_with_a_focus() -> None:
    provider = Windowed(100_000, working(10, 500, 900))
    parts = bench(provider, 100_000)
    parts.run(RULE)
    parts.run("And then?")
    room: Any = parts.engine._room  # type: ignore[attr-defined]
    made = asyncio.run(room.compact(provider, "the tests", "user"))
    assert made.by == "user" and made.tokens < made.before // 2
    assert "the tests" in provider.summaries[0].entries[-1].text  # type: ignore[union-attr]
    assert parts.run("Go on.").outcome.kind == "done"
    assert typed(provider.requests[-1]) == [RULE, "And then?", "Go on."]
    assert asyncio.run(bench(Windowed(9_000, working(1, 1)), 9_000).engine._room.compact(provider, "", "user")) is None  # type: ignore[attr-defined]


def test_a_summary_that_is_stopped_leaves_everything_as_it_was() -> None:
    provider = Windowed(16_000, working(40, 0, 1_500))
    parts = bench(provider, 16_000)

    async def scenario() -> TurnFinished:
        parts.prompt()
        task = asyncio.create_task(parts.engine.run())

        async def hang(by: str, focus: str) -> str:
            task.cancel()
            await asyncio.Event().wait()
            return ""

        room: Any = parts.engine._room  # type: ignore[attr-defined]
        room._ports = replace(room._ports, compacting=hang)
        return await task

    assert asyncio.run(scenario()).outcome.kind == "cancelled"
    assert not bodies(parts, records.Compacted)


# --- what does not fit -----------------------------------------------------------------------------------------------


def shrunk(window: int | None, real: int, summary: Any = lambda request: say("SUMMED UP")) -> tuple[Windowed, Parts]:
    """A conversation of some 20,000 tokens whose server takes `real` of them from now on."""
    provider = Windowed(100_000, working(20, 3_000, 200), summary)
    parts = bench(provider, window)
    assert parts.run(RULE).outcome.kind == "done"
    provider.window = real
    provider.requests.clear()
    provider.bodies.clear()
    return provider, parts


def test_a_provider_that_always_overflows_ends_after_two_tries_with_a_clear_error() -> None:
    for window in (None, 100_000):
        provider, parts = shrunk(window, 0)
        outcome = parts.run("Go on.").outcome
        assert outcome.kind == "failed" and outcome.failure and outcome.failure.kind == "overflow"
        assert "does not fit the model" in outcome.message and "/clear" in outcome.failure.fix
        asked = [request for request in provider.requests if typed(request)]
        assert len(asked) == 2, "the request and one retry"
        assert len(bodies(parts, records.Compacted)) == 1
        again = parts.run("Once more.").outcome
        assert again.kind == "failed" and len([r for r in provider.requests if typed(r)]) <= 4


def test_after_an_overflow_there_is_one_summary_in_parts_and_one_retry() -> None:
    provider, parts = shrunk(None, 12_000)
    assert parts.run("Go on.").outcome.kind == "done"
    found = bodies(parts, records.Compacted)
    assert all(body.by == "overflow" and body.written and "SUMMED UP" in body.summary for body in found)
    assert provider.refused == len(found) == 2, "each time one request was too long, and no part"
    assert typed(provider.requests[-1])[0] == RULE
    text = provider.requests[1].entries[0].text  # type: ignore[union-attr]
    assert text.startswith("Below is part 1 of") and RULE in text


def test_what_is_too_long_for_one_summary_goes_in_parts() -> None:
    provider, parts = shrunk(12_000, 12_000)
    assert parts.run("Go on.").outcome.kind == "done"
    assert provider.refused == 0 and bodies(parts, records.Compacted)[0].written


def test_a_summary_that_is_refused_as_too_long_is_made_in_parts() -> None:
    provider, parts = shrunk(100_000, 14_000)
    room: Any = parts.engine._room  # type: ignore[attr-defined]
    made = asyncio.run(room.compact(provider, "", "user"))
    assert provider.refused == 1 and made.written and "SUMMED UP" in made.summary
    assert len(provider.requests) >= 2


def test_there_is_no_loop_of_summaries_where_they_gain_nothing() -> None:
    """The first message nearly fills the window by itself."""
    provider = Windowed(16_000, working(60, 0, 300))
    parts = bench(provider, 16_000)
    outcome = parts.run("p" * 30_000).outcome
    found = bodies(parts, records.Compacted)
    steps = len(bodies(parts, records.Response))
    assert len(found) <= 3 + steps // 5, (len(found), steps)
    assert outcome.kind == "done" or "does not fit" in outcome.message


def test_a_summary_that_is_longer_than_what_it_replaces_is_cut() -> None:
    provider = Windowed(16_000, working(60, 0, 1_500), lambda request: say("S" * 200_000))
    parts = bench(provider, 16_000)
    assert parts.run().outcome.kind == "done" and not provider.refused
    assert max(len(body.summary) for body in bodies(parts, records.Compacted)) < 16_000


def test_a_first_message_that_cannot_fit_is_told_without_asking_for_a_summary() -> None:
    provider = Windowed(8_000, working(1, 1))
    parts = bench(provider, 8_000)
    outcome = parts.run("p" * 200_000).outcome
    assert outcome.kind == "failed" and "does not fit the model" in outcome.message
    assert provider.requests == []


def test_the_message_that_is_worked_on_is_never_cut() -> None:
    provider, parts = shrunk(24_000, 24_000)
    long = "Look at this: " + "q" * 50_000 + " THE END"
    assert parts.run(long).outcome.kind == "done"
    assert bodies(parts, records.Compacted)
    assert all(long in typed(request) for request in provider.requests if typed(request))


def test_a_long_first_message_stays_by_its_beginning_and_end() -> None:
    provider = Windowed(16_000, working(8, 0, 1_500))
    parts = bench(provider, 16_000)
    for text in ("Look at this: " + "q" * 12_000 + " THE END", *(f"Go on {n}." for n in range(12))):
        assert parts.run(text).outcome.kind == "done"
    assert len(bodies(parts, records.Compacted)) >= 3 and not provider.refused
    text = provider.requests[-1].entries[0].text  # type: ignore[union-attr]
    assert "Look at this" in text and "THE END" in text and text.count("What the user asked for first") == 1
    assert len(text) < 8_000


def test_the_level_is_the_persons() -> None:
    early, late = Windowed(32_000, working(30, 0, 1_500)), Windowed(32_000, working(30, 0, 1_500))
    for provider, choice in ((early, Choice(auto=20)), (late, Choice(auto=100))):
        assert bench(provider, 32_000, choice=choice).run().outcome.kind == "done"
    assert early.summaries and not late.summaries


def test_an_unknown_window_is_left_to_the_server() -> None:
    provider = Windowed(10**9, working(60, 0, 1_500))
    assert bench(provider, None).run().outcome.kind == "done"
    assert not provider.summaries


def test_the_store_keeps_what_was_summarised() -> None:
    store = MemoryStore()
    parts = bench(Windowed(16_000, working(40, 0, 1_500)), 16_000, store=store)
    parts.run(RULE)
    texts = [e.assistant.text for e in parts.session.state.entries if isinstance(e, Step)]
    assert len(texts) == 41 and b"word1 " in b"".join(store.lines)
    assert Text(RULE) in parts.session.state.entries[0].blocks  # type: ignore[union-attr]
