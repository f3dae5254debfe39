"""Tools of a program cross the one boundary: rules, modes, hooks, masks, spill and records hold for them."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from agenyx import Agent, Result, ToolContext, ToolError, Touches, approvable, events, tool
from support.programs import KEY, agent, place, results, statuses, transcript
from support.scripted import Scripted, call, calls, say

ran: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


@tool
def note(text: str) -> str:
    """Notes something."""
    ran.append(text)
    return f"noted {text}"


@tool(effects="none")
def double(n: int) -> int:
    """Doubles."""
    ran.append(n)
    return 2 * n


@tool(reads="path")
def size(path: str) -> str:
    """Says how large a file is."""
    ran.append(path)
    return f"{Path(path).stat().st_size} bytes in {path}"


@tool(writes="path")
def stamp(path: Path, text: str = "stamped") -> str:
    """Writes a stamp."""
    path.write_text(text, "utf-8")
    return str(path)


def run(folder: Path, *turns: Any, **options: Any) -> tuple[Result[Any], Scripted]:
    script = Scripted([*(one if not isinstance(one, tuple) else calls(*one) for one in turns), say("done")])
    return asyncio.run(_awaited(agent(folder, script, **options))), script


async def _awaited(made: Agent[Any]) -> Result[Any]:
    return await made.run("go")


def one(folder: Path, made: Any, /, **args: Any) -> Any:
    options = args.pop("options", {})
    result, script = run(folder, (call(made.name, **args),), tools=[made], **options)
    return result, results(script.requests[-1])[0], statuses(script.requests[-1])[0]


def test_a_tool_that_says_nothing_waits_for_an_answer_and_does_not_run(tmp_path: Path) -> None:
    result, _ = run(tmp_path, (call("note", text="x"),), tools=[note])
    assert (result.kind, ran) == ("waiting", [])
    assert result.waiting[0].verdict.text == "note does not say what it does"
    assert '"text": "x"' in result.waiting[0].effects.preview


def test_a_rule_by_its_name_allows_it(tmp_path: Path) -> None:
    _, text, status = one(tmp_path, note, text="x", options={"allow": ["note"]})
    assert (text, status, ran) == ("noted x", "ok", ["x"])


def test_a_rule_that_denies_it_wins_and_it_does_not_run(tmp_path: Path) -> None:
    _, text, status = one(tmp_path, double, n=2, options={"allow": ["double"], "deny": ["double"]})
    assert (status, ran) == ("denied", [])
    assert "deny=" in text


def test_a_rule_that_asks_is_asked_in_bypass_too(tmp_path: Path) -> None:
    options = {"ask": ["double"], "mode": "bypassPermissions", "allow_bypass": True, "tools": [double]}
    result, _ = run(tmp_path, (call("double", n=2),), **options)
    assert (result.kind, ran) == ("waiting", [])


def test_one_that_touches_nothing_runs_unasked_also_in_plan_mode(tmp_path: Path) -> None:
    _, text, status = one(tmp_path, double, n=4, options={"mode": "plan"})
    assert (text, status) == ("8", "ok")


def test_an_opaque_one_is_denied_in_plan_mode(tmp_path: Path) -> None:
    _, _, status = one(tmp_path, note, text="x", options={"mode": "plan", "allow": ["note"]})
    assert (status, ran) == ("denied", [])


def test_dont_ask_denies_what_would_be_asked(tmp_path: Path) -> None:
    _, _, status = one(tmp_path, note, text="x", options={"mode": "dontAsk"})
    assert (status, ran) == ("denied", [])


def test_arguments_are_checked_before_it_runs(tmp_path: Path) -> None:
    _, text, status = one(tmp_path, double, n="many")
    assert (status, ran) == ("malformed", [])
    assert "int" in text
    assert one(tmp_path, double, n="3")[1] == "6"  # models write that often
    assert one(tmp_path, double, n=1, m=2)[2] == "malformed"


def test_what_it_gives_is_masked_everywhere(tmp_path: Path) -> None:
    @tool(effects="none")
    def leak() -> str:
        """Leaks."""
        return f"the key is {KEY} and {os.environ['LEAK_ME']}"

    os.environ["LEAK_ME"] = other = "another-secret-of-the-program"
    try:
        result, text, _ = one(tmp_path, leak, options={"secrets": [other]})
    finally:
        del os.environ["LEAK_ME"]
    assert "the key is" in text
    for where in (text, transcript(tmp_path, result.session_id)):
        assert KEY not in where and other not in where


def test_what_it_shows_and_raises_is_masked(tmp_path: Path) -> None:
    @tool(effects="none")
    async def leak(ctx: ToolContext[Any]) -> str:
        """Leaks."""
        ctx.show(f"working with {KEY}")
        raise ValueError(KEY)

    async def watched() -> list[Any]:
        script = [calls(call("leak")), say("done")]
        return [event.body async for event in agent(tmp_path, script, tools=[leak]).run("go")]

    seen = asyncio.run(watched())
    shown = b"".join(body.data for body in seen if isinstance(body, events.Output))
    assert shown.startswith(b"working with") and shown.endswith(b"\n")
    assert KEY not in repr(seen)


@tool(effects="none")
def crash(how: Literal["raise", "exit", "text", "future"]) -> str:
    """Crashes."""
    if how == "exit":
        sys.exit("over")
    if how == "text":
        raise ToolError("Ask for another city.")
    raise ValueError("no such city")


@tool(effects="none")
async def crash_async(how: Literal["raise", "exit", "cancel"]) -> str:
    """Crashes."""
    if how == "exit":
        sys.exit("over")
    if how == "cancel":
        raise asyncio.CancelledError
    raise ValueError("no such city")


@pytest.mark.parametrize(
    ("made", "how", "told"),
    [
        (crash, "raise", "crash failed: ValueError: no such city"),
        (crash, "exit", "crash failed: SystemExit: over"),
        (crash, "text", "Ask for another city."),
        (crash_async, "raise", "crash_async failed: ValueError: no such city"),
        (crash_async, "exit", "crash_async failed: SystemExit: over"),
        (crash_async, "cancel", "crash_async failed: it was cancelled from within"),
    ],
)
def test_a_crash_is_a_result_and_the_run_goes_on(tmp_path: Path, made: Any, how: str, told: str) -> None:
    result, text, status = one(tmp_path, made, how=how)
    assert (result.kind, result.text, text, status) == ("done", "done", told, "error")


def test_one_that_takes_too_long_is_a_result(tmp_path: Path) -> None:
    @tool(effects="none", timeout=0.05)
    async def hang() -> str:
        """Hangs."""
        await asyncio.Event().wait()
        return ""

    _, text, status = one(tmp_path, hang)
    assert (text, status) == ("hang took longer than 0.05 seconds.", "timed_out")


def test_a_large_result_is_cut_and_kept_aside(tmp_path: Path) -> None:
    @tool(effects="none")
    def flood() -> str:
        """Floods."""
        return "line\n" * 50_000 + "the end"

    _, text, _ = one(tmp_path, flood)
    assert len(text) < 60_000 and "characters left out" in text and text.endswith("the end")


def test_a_path_counts_from_the_workspace_and_is_the_one_that_was_judged(tmp_path: Path) -> None:
    (place(tmp_path) / "a.txt").write_text("12345", "utf-8")
    _, text, _ = one(tmp_path, size, path="a.txt")
    assert text == f"5 bytes in {place(tmp_path) / 'a.txt'}"


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "link.txt", ".env"])
def test_paths_outside_and_protected_ones_are_asked_about(tmp_path: Path, path: str) -> None:
    work = place(tmp_path)
    (tmp_path / "outside.txt").write_text("x", "utf-8")
    (work / ".env").write_text("A=1", "utf-8")
    (work / "link.txt").symlink_to(tmp_path / "outside.txt")
    result, _ = run(tmp_path, (call("size", path=path),), tools=[size])
    assert (result.kind, ran) == ("waiting", [])


def test_the_home_is_never_touched(tmp_path: Path) -> None:
    _, _, status = one(tmp_path, size, path=str(tmp_path / "home" / "auth.json"))
    assert (status, ran) == ("denied", [])


def test_changes_are_asked_about_and_accepted_by_the_mode(tmp_path: Path) -> None:
    result, _ = run(tmp_path, (call("stamp", path="s.txt"),), tools=[stamp])
    assert result.kind == "waiting"
    assert not (place(tmp_path) / "s.txt").exists()
    _, text, _ = one(tmp_path, stamp, path="s.txt", options={"mode": "acceptEdits"})
    assert (place(tmp_path) / "s.txt").read_text("utf-8") == "stamped"
    assert text == str(place(tmp_path) / "s.txt")


def test_rules_for_paths_hold_for_what_it_declares(tmp_path: Path) -> None:
    options = {"mode": "acceptEdits", "deny": ["Edit(secret/**)"]}
    assert one(tmp_path, stamp, path="secret/x", options=options)[2] == "denied"


def test_a_function_says_what_a_call_does(tmp_path: Path) -> None:
    def touched(city: str) -> Touches | Literal["none"]:
        return "none" if city == "here" else Touches(hosts=[f"{city}.example.org"], preview=f"asks {city}")

    @tool(effects=touched)
    def weather(city: str) -> str:
        """The weather."""
        ran.append(city)
        return "fine"

    assert one(tmp_path, weather, city="here")[1] == "fine"
    result, _ = run(tmp_path, (call("weather", city="Berlin"),), tools=[weather])
    assert (result.kind, ran) == ("waiting", ["here"])
    assert result.waiting[0].effects.hosts == ("berlin.example.org",)
    assert result.waiting[0].effects.preview == "asks Berlin"
    assert one(tmp_path, weather, city="b", options={"allow": ["WebFetch(domain:b.example.org)"]})[1] == "fine"


def test_a_function_that_gives_nonsense_is_a_result(tmp_path: Path) -> None:
    def touched(n: int) -> Any:
        return {"reads": "x"} if n == 1 else sys.exit("over")

    @tool(effects=touched)
    def odd(n: int) -> str:
        """Odd."""
        ran.append(n)
        return ""

    _, text, status = one(tmp_path, odd, n=1)
    assert (status, ran) == ("error", []) and "dict, not Touches" in text
    _, text, status = one(tmp_path, odd, n=2)
    assert (status, ran) == ("error", []) and "SystemExit: over" in text


def test_what_it_refuses_and_asks_holds_in_every_mode(tmp_path: Path) -> None:
    def touched(n: int) -> Touches:
        return Touches(refuse="13 brings bad luck") if n == 13 else Touches(ask="it costs money")

    @tool(effects=touched)
    def buy(n: int) -> str:
        """Buys."""
        ran.append(n)
        return "bought"

    bypass = {"mode": "bypassPermissions", "allow_bypass": True, "allow": ["buy"]}
    assert one(tmp_path, buy, n=13, options=bypass)[2] == "denied"
    result, _ = run(tmp_path, (call("buy", n=1),), tools=[buy], **bypass)
    assert (result.kind, ran) == ("waiting", [])


def test_an_approvable_one_asks_whatever_rules_and_modes_say(tmp_path: Path) -> None:
    asking = approvable(double)
    assert (asking.name, asking.schema) == (double.name, double.schema)
    bypass = {"mode": "bypassPermissions", "allow_bypass": True, "allow": ["double"]}
    result, _ = run(tmp_path, (call("double", n=2),), tools=[asking], **bypass)
    assert (result.kind, ran) == ("waiting", [])
    assert one(tmp_path, double, n=2, options=bypass)[1] == "4"  # the first one stays what it was


def test_hooks_see_refuse_and_change_its_calls(tmp_path: Path) -> None:
    def guard(payload: dict[str, Any]) -> dict[str, Any] | None:
        n = payload["tool_input"]["n"]
        if n == 13:
            return {"decision": "block", "reason": "not 13"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"n": n + 1}}}

    hooks: Any = {"PreToolUse": [guard]}
    assert one(tmp_path, double, n=1, options={"hooks": hooks})[1].endswith("4")
    _, text, status = one(tmp_path, double, n=13, options={"hooks": hooks})
    assert (status, ran) == ("denied", [2]) and "not 13" in text


def test_calls_that_only_look_run_together_and_others_alone(tmp_path: Path) -> None:
    running, most = 0, 0

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1

    @tool(effects="none")
    async def look(n: int) -> None:
        """Looks."""
        await work()

    @tool
    async def act(n: int) -> None:
        """Acts."""
        await work()

    run(tmp_path, (call("look", "a", n=1), call("look", "b", n=2)), tools=[look])
    assert most == 2
    most = 0
    run(tmp_path, (call("act", "a", n=1), call("act", "b", n=2)), tools=[act], allow=["act"])
    assert most == 1


def test_it_gets_what_the_agent_was_made_with(tmp_path: Path) -> None:
    @tool(effects="none")
    def whose(ctx: ToolContext[dict[str, int]], name: str) -> str:
        """Whose."""
        return f"{ctx.deps[name]} {ctx.workspace} {bool(ctx.session_id)} {bool(ctx.call_id)}"

    assert "ctx" not in whose.schema["properties"]
    _, text, _ = one(tmp_path, whose, name="a", options={"deps": {"a": 7}})
    assert text == f"7 {place(tmp_path)} True True"


def test_a_path_that_was_not_declared_is_not_given(tmp_path: Path) -> None:
    @tool(effects=Touches(reads=["a.txt"]))
    def peek(ctx: ToolContext[Any], path: str) -> str:
        """Peeks."""
        return ctx.path(path)

    assert one(tmp_path, peek, path="a.txt")[1] == str(place(tmp_path) / "a.txt")
    _, text, status = one(tmp_path, peek, path="b.txt")
    assert status == "error" and "not declared" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(no output)"),
        ({"a": [1, 2.5, None]}, '{"a":[1,2.5,null]}'),
        ("\ud800", "�"),
        ({"\ud800": "\ud800"}, '{"�":"�"}'),
        (Path("/x"), '"/x"'),
    ],
)
def test_what_a_tool_gives_becomes_text(tmp_path: Path, value: Any, text: str) -> None:
    @tool(effects="none")
    def give() -> Any:
        """Gives."""
        return value

    assert one(tmp_path, give)[1] == text


def test_what_json_cannot_say_is_a_result(tmp_path: Path) -> None:
    @tool(effects="none")
    def give() -> Any:
        """Gives."""
        return object()

    _, text, status = one(tmp_path, give)
    assert status == "error" and "JSON" in text


def test_lists_of_paths_and_addresses_are_declared_by_name(tmp_path: Path) -> None:
    @tool(reads="paths", hosts="address")
    def send(paths: list[str], address: str = "") -> list[str]:
        """Sends files."""
        return paths

    for name in ("a", "b"):
        (place(tmp_path) / name).write_text(name, "utf-8")
    result, _ = run(tmp_path, (call("send", paths=["a", "b"], address="https://Up.example.org:8/x?y"),), tools=[send])
    (asked,) = result.waiting
    assert [ref.shown for ref in asked.effects.reads] == ["a", "b"]
    assert asked.effects.hosts == ("up.example.org",)
    options = {"allow": ["WebFetch(domain:up.example.org)"]}
    text = one(tmp_path, send, paths=["a", "b"], address="https://up.example.org/", options=options)[1]
    assert text == f'["{place(tmp_path) / "a"}","{place(tmp_path) / "b"}"]'


def test_files_that_it_declares_go_back_by_a_rewind(tmp_path: Path) -> None:
    (place(tmp_path) / "s.txt").write_text("before", "utf-8")
    result, _, _ = one(tmp_path, stamp, path="s.txt", options={"mode": "acceptEdits"})
    assert '"checkpoint"' in transcript(tmp_path, result.session_id)


def test_subagents_have_it_where_their_file_names_it_and_no_more_leave_than_their_parent(tmp_path: Path) -> None:
    agents = {"counter": {"description": "Counts", "prompt": "Count.", "tools": ["double", "note"]}}
    child = [calls(call("double", n=21), call("note", text="x")), say("counted")]
    parent = [calls(call("Task", description="count", agent="counter")), say("done")]

    class Both:
        binding = "both"

        def __init__(self) -> None:
            self.child, self.parent = Scripted(child), Scripted(parent)

        def stream(self, request: Any) -> Any:
            mine = self.parent if any(spec.name == "Task" for spec in request.tools) else self.child
            return mine.stream(request)

        async def close(self) -> None:
            pass

    both = Both()
    asyncio.run(_awaited(agent(tmp_path, both, tools=[double, note], agents=agents)))
    assert results(both.child.requests[-1])[0] == "42"
    assert statuses(both.child.requests[-1]) == ["ok", "denied"]
    assert ran == [21]
