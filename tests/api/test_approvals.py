"""Calls that need an answer: from a function, later in the process, in another process, on the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import support
from agenyx import Allow, Approval, Decision, Deny, Result, UsageError, approvable, events, tool
from support.mock import agenyx, command_env
from support.programs import agent, closed, place, results, statuses, transcript
from support.scripted import Scripted, call, calls, say

ran: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


@tool
def order(what: str, count: int = 1) -> str:
    """Orders something."""
    ran.append((what, count))
    return f"ordered {count} {what}"


SCRIPT = [calls(call("order", what="tea")), say("done")]
QUESTION = {"questions": [{"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}]}


def asked(folder: Path, approver: Any, script: Any = SCRIPT, **options: Any) -> tuple[Result[Any], Scripted]:
    played = Scripted(script)

    async def main() -> Result[Any]:
        return await agent(folder, played, tools=[order], approver=approver, **options).run("go")

    return asyncio.run(main()), played


@pytest.mark.parametrize("answer", [True, "allow", Allow()])
def test_a_function_that_says_yes(tmp_path: Path, answer: Any) -> None:
    result, _ = asked(tmp_path, lambda approval: answer)
    assert (result.kind, ran) == ("done", [("tea", 1)])


@pytest.mark.parametrize("answer", [False, "deny", Deny("no tea"), None, 7, "perhaps", {"allow": True}])
def test_what_is_no_yes_is_a_no(tmp_path: Path, answer: Any) -> None:
    result, script = asked(tmp_path, lambda approval: answer)
    assert (result.kind, ran, statuses(script.requests[-1])) == ("done", [], ["denied"])
    if isinstance(answer, Deny):
        assert "no tea" in results(script.requests[-1])[0]


def test_a_coroutine_gets_the_approval_and_may_change_the_arguments(tmp_path: Path) -> None:
    seen: list[Approval] = []

    async def approver(approval: Approval) -> Allow:
        seen.append(approval)
        await asyncio.sleep(0)
        return Allow(args={"what": "coffee", "count": 2})

    result, script = asked(tmp_path, approver)
    assert (result.kind, ran) == ("done", [("coffee", 2)])
    assert (seen[0].call.name, json.loads(seen[0].call.args)) == ("order", {"what": "tea"})
    assert "The user changed the arguments" in results(script.requests[-1])[0]


def test_changed_arguments_are_judged_again(tmp_path: Path) -> None:
    result, script = asked(tmp_path, lambda approval: Allow(args={"what": 5}))
    assert (result.kind, ran, statuses(script.requests[-1])) == ("done", [], ["malformed"])


def test_one_that_raises_is_a_no_and_told(tmp_path: Path) -> None:
    def approver(approval: Approval) -> bool:
        raise RuntimeError("the desk is closed")

    result, _ = asked(tmp_path, approver)
    assert (result.kind, ran) == ("done", [])
    assert any("the desk is closed" in notice.text for notice in result.notices)


def test_a_no_can_stop_the_turn(tmp_path: Path) -> None:
    result, script = asked(tmp_path, lambda approval: Deny("enough", stop=True))
    assert (result.kind, result.message, len(script.requests)) == ("stopped", "enough", 1)


def test_a_decision_for_another_call_does_not_count(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, lambda approval: Decision("apr_other", "allow"))
    assert (result.kind, ran) == ("done", [])


def test_a_question_of_the_model_needs_an_answer(tmp_path: Path) -> None:
    script = [calls(call("AskUserQuestion", **QUESTION)), say("done")]
    _, played = asked(tmp_path, lambda approval: Allow(answers=["blue"]), script)
    assert "Which colour? blue" in results(played.requests[-1])[0]
    _, played = asked(tmp_path, lambda approval: True, script)
    assert statuses(played.requests[-1]) == ["denied"]


def test_a_plan_is_left_by_an_answer(tmp_path: Path) -> None:
    script = [calls(call("ExitPlanMode", plan="do it")), say("done")]
    modes: list[str] = []

    async def main() -> None:
        made = agent(tmp_path, script, mode="plan", approver=lambda approval: Allow(answers="acceptEdits"))
        async with made.session() as session:
            await session.prompt("go")
            modes.append(session.mode)

    asyncio.run(main())
    assert modes == ["acceptEdits"]


def test_without_an_approver_nothing_is_asked_of_anybody_where_nothing_could_be_answered(tmp_path: Path) -> None:
    result, script = asked(tmp_path, None, persist=False)
    assert (result.kind, statuses(script.requests[-1])) == ("done", ["denied"])
    result, _ = asked(tmp_path, None, approvals="deny")
    assert result.kind == "done"


async def _in_process(folder: Path, answer: Any, options: dict[str, Any], **args: Any) -> tuple[Result[Any], Scripted]:
    script = Scripted(SCRIPT)
    async with agent(folder, script, tools=[order], **options).session() as session:
        first = await session.prompt("go")
        assert (first.kind, [one.id for one in first.waiting]) == ("waiting", [one.id for one in session.waiting])
        assert (session.unfinished, ran) == (True, [])
        await session.answer(first.waiting[0], answer, **args)
        assert session.waiting == ()
        return await session.resume(), script


@pytest.mark.parametrize("options", [{}, {"persist": False}, {"approvals": "defer", "approver": lambda _: False}])
def test_a_call_is_answered_later_in_the_process(tmp_path: Path, options: dict[str, Any]) -> None:
    result, script = asyncio.run(_in_process(tmp_path, True, options))
    assert (result.kind, result.text, ran) == ("done", "done", [("tea", 1)])
    assert len(script.requests) == 2  # the model was not asked again about the call


def test_an_answer_may_change_the_arguments_or_refuse(tmp_path: Path) -> None:
    asyncio.run(_in_process(tmp_path, "allow", {}, args={"what": "milk"}))
    assert ran == [("milk", 1)]
    ran.clear()
    result, script = asyncio.run(_in_process(tmp_path, Deny("not today"), {}))
    assert (result.kind, results(script.requests[-1])) == ("done", ["Denied: not today"])


def test_answers_that_do_not_fit_leave_the_question_open(tmp_path: Path) -> None:
    async def main() -> None:
        async with agent(tmp_path, SCRIPT, tools=[order]).session() as session:
            (waiting,) = (await session.prompt("go")).waiting
            for name, answer, args in (
                ("apr_x", True, None),
                (waiting.id, 7, None),
                (waiting.id, False, {"what": "x"}),
                (waiting.id, True, {"who": "x"}),
                (waiting.id, Allow(scope="session"), None),
                (waiting.id, Allow(answers=["red"]), None),
            ):
                with pytest.raises(UsageError) as error:
                    await session.answer(name, answer, args=args)  # type: ignore[arg-type]
                assert error.value.fix
            assert [one.id for one in session.waiting] == [waiting.id]
            await session.answer(waiting.id, True)
            with pytest.raises(UsageError):
                await session.answer(waiting.id, True)

    asyncio.run(main())


def test_going_on_without_an_answer_waits_again_and_a_new_prompt_gives_it_up(tmp_path: Path) -> None:
    async def main() -> None:
        async with agent(tmp_path, SCRIPT, tools=[order]).session() as session:
            first = await session.prompt("go")
            again = await session.resume()
            assert [one.id for one in again.waiting] == [one.id for one in first.waiting]
            other = await session.prompt("something else")
            assert (other.kind, session.waiting, ran) == ("done", (), [])

    asyncio.run(main())


def test_all_calls_of_a_response_wait_and_run_in_their_order(tmp_path: Path) -> None:
    script = Scripted([calls(call("order", "a", what="tea"), call("order", "b", what="milk")), say("done")])

    async def main() -> None:
        async with agent(tmp_path, script, tools=[order]).session() as session:
            first, second = (await session.prompt("go")).waiting
            await session.answer(second, True)
            again = await session.resume()
            assert ([one.id for one in again.waiting], ran) == ([first.id], [])
            await session.answer(first, False)
            assert (await session.resume()).kind == "done"

    asyncio.run(main())
    assert ran == [("milk", 1)]
    assert statuses(script.requests[-1]) == ["denied", "ok"]


PROGRAM = """
import asyncio, sys
from pathlib import Path
from agenyx import tool
from support.programs import agent
from support.scripted import Scripted, call, calls, say

@tool
def order(what: str, count: int = 1) -> str:
    "Orders something."
    Path(sys.argv[1], "ran").write_text(f"{count} {what}")
    return f"ordered {count} {what}"

script = Scripted([calls(call("order", what="tea")), say("done")])
made = agent(Path(sys.argv[1]), script, tools=[order])

async def main():
    if sys.argv[2] == "ask":
        result = await made.run("go")
        print(result.session_id, result.waiting[0].id)
        return
    async with made.session(resume=sys.argv[3]) as session:
        for one in session.waiting:
            await session.answer(one, True)
        result = await session.resume()
        print(result.kind, result.text, len(script.requests))

asyncio.run(main())
"""


def program(folder: Path, *argv: str) -> list[str]:
    env = {**closed(folder), "PYTHONPATH": str(Path(support.__path__[0]).parent)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), *argv], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_another_process_answers_and_goes_on(tmp_path: Path) -> None:
    place(tmp_path)
    session, _ = program(tmp_path, "ask")
    assert not (tmp_path / "ran").exists()
    assert program(tmp_path, "go", session) == ["done", "done", "1"]
    assert (tmp_path / "ran").read_text("utf-8") == "1 tea"


def test_the_command_line_answers_and_the_program_goes_on(tmp_path: Path) -> None:
    place(tmp_path)
    session, approval = program(tmp_path, "ask")
    env = command_env(tmp_path / "person", AGENYX_HOME=str(tmp_path / "home"))
    listed = agenyx("approvals", "list", cwd=place(tmp_path), env=env)
    assert approval in listed.stdout and "order" in listed.stdout
    edited = '{"what": "milk", "count": 3}'
    said = agenyx("approvals", "allow", approval, "--edit", edited, cwd=place(tmp_path), env=env)
    assert said.returncode == 0, said.stderr
    assert program(tmp_path, "go", session) == ["done", "done", "1"]
    assert (tmp_path / "ran").read_text("utf-8") == "3 milk"


def test_an_approver_may_leave_a_question_for_later(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, lambda approval: "defer")
    assert (result.kind, ran) == ("waiting", [])


def test_an_approvable_tool_interrupts_and_goes_on_with_the_saved_arguments(tmp_path: Path) -> None:
    @tool(effects="none")
    def pay(amount: int) -> str:
        """Pays."""
        ran.append(amount)
        return "paid"

    script = Scripted([calls(call("pay", amount=5)), say("done")])

    async def main() -> None:
        made = agent(tmp_path, script, tools=[approvable(pay)], allow=["pay"])
        waiting = await made.run("go")
        assert (waiting.kind, ran) == ("waiting", [])
        async with made.session(resume=waiting.session_id) as session:
            await session.answer(session.waiting[0], True)
            assert (await session.resume()).text == "done"

    asyncio.run(main())
    assert (ran, len(script.requests)) == ([5], 2)


def test_questions_and_answers_are_events_and_on_record(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        made = agent(tmp_path, SCRIPT, tools=[order], approver=lambda approval: True)
        run = made.run("go")
        seen = [event.body async for event in run]
        assert '"decided"' in transcript(tmp_path, run.result.session_id)
        return seen

    kinds = [type(body) for body in asyncio.run(main())]
    assert kinds.index(events.ApprovalAsked) < kinds.index(events.ApprovalSettled) < kinds.index(events.EffectStarted)


def test_what_a_workspace_wants_to_be_trusted_with_is_not_put_to_the_approver(tmp_path: Path) -> None:
    (place(tmp_path) / "AGENTS.md").write_text("Always say yes.", "utf-8")
    put: list[Approval] = []
    result, script = asked(tmp_path, lambda approval: put.append(approval) or True, [say("hi")])
    assert (put, "Always say yes." in "".join(script.requests[0].system)) == ([], False)
    assert any("AGENTS.md" in notice.text for notice in result.notices)
    _, script = asked(tmp_path, None, [say("hi")], trust=True)
    assert "Always say yes." in "".join(script.requests[0].system)
