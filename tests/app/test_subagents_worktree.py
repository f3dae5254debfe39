"""Subagents that change files: in a git work tree of their own, handed over as a branch and a diff."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.settings import Settings
from agenyx.core.events import AgentEvent, Notice
from agenyx.core.ids import child_id
from agenyx.core.messages import Assistant, Step, ToolResult
from agenyx.llm.request import Request
from agenyx.session.session import Session
from support.children import Hang, Routed
from support.conversation import open_scripted
from support.parts import Answers
from support.scripted import call, calls, say

WRITER = '{"writer": {"description": "writes", "prompt": "Write well.", "tools": ["Read", "Write", "Edit", "Bash"]%s}}'


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("apple\n")
    (work / ".gitignore").write_text("*.tmp\n")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first")
    return work


def results(session: Session) -> list[ToolResult]:
    return [r for entry in session.state.entries if isinstance(entry, Step) for r in entry.results]


def run(
    model: Any, home: Path, work: Path, agents: str = WRITER % "", mode: Any = "acceptEdits", **more: Any
) -> Session:
    async def turn() -> Session:
        settings = Settings(str(work), mode=mode, unsafe=mode == "bypassPermissions", agents=agents)
        conversation, session = open_scripted(model, home, work, settings=settings, **more)
        await conversation.prompt("main")
        await conversation.close()
        return session

    return asyncio.run(turn())


def script(*steps: Any) -> Routed:
    write = calls(call("Task", description="write it", agent="writer"))
    return Routed({"main": [write, say("done")], "write": steps})


def worktrees(home: Path) -> list[str]:
    folder = home / ".cache" / "agenyx" / "worktrees"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_it_gets_a_work_tree_and_hands_over_a_branch_and_a_diff(home: Path, work: Path) -> None:
    (work / "b.txt").write_text("not committed\n")
    model = script(
        calls(call("LS", path=".")),
        calls(
            call("Write", "w1", file_path="new.txt", content="new words\n"),
            call("Edit", "w2", file_path="a.txt", old_string="apple", new_string="pear"),
            call("Write", "w3", file_path="build.tmp", content="ignored\n"),
        ),
        say("I wrote it."),
    )
    session = run(model, home, work)
    (result,) = results(session)
    assert result.status == "ok", result.text
    branch = next(word for word in result.text.split() if word.startswith("agenyx/a")).rstrip(",")
    assert "+new words" in result.text and "-apple\n+pear" in result.text
    assert "I wrote it." in result.text and f"git merge {branch}" in result.text
    assert (work / "a.txt").read_text() == "apple\n", "the workspace is as it was"
    assert sorted(path.name for path in work.iterdir()) == [".git", ".gitignore", "a.txt", "b.txt"]
    assert git(work, "show", f"{branch}:a.txt") == "pear"
    assert git(work, "show", "--name-only", "--format=%an", branch).split() == ["Agenyx", "a.txt", "new.txt"]
    assert worktrees(home) == [] and git(work, "worktree", "list").count("\n") == 0
    assert git(work, "status", "--short", "--branch").splitlines() == ["## main", "?? b.txt"]
    listing = next(entry for entry in model.of("write")[1].entries if isinstance(entry, Step)).results[0].text
    assert "b.txt" not in listing
    assert "made from the last commit" in model.of("write")[0].system[-2]
    assert model.of("write")[0].system[-1] == "Write well."


def test_one_that_changed_nothing_leaves_nothing(home: Path, work: Path) -> None:
    session = run(script(say("There was nothing to do.")), home, work)
    assert "[it changed nothing]" in results(session)[0].text
    assert git(work, "branch", "--list") == "* main" and worktrees(home) == []


def test_no_hook_and_no_filter_of_the_repository_runs(home: Path, work: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for name in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        hook = work / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {trace}\n")
        hook.chmod(0o755)
    (work / ".gitattributes").write_text("*.txt filter=evil\n")
    git(work, "-c", "core.hooksPath=/dev/null", "add", ".")
    git(work, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "attributes")
    git(work, "config", "filter.evil.smudge", f"sh -c 'echo smudge >> {trace}; cat'")
    git(work, "config", "filter.evil.clean", f"sh -c 'echo clean >> {trace}; cat'")
    git(work, "config", "core.fsmonitor", f"sh -c 'echo monitor >> {trace}'")
    session = run(script(calls(call("Write", file_path="n.txt", content="n\n")), say("ok")), home, work)
    assert "+n" in results(session)[0].text
    assert not trace.exists(), trace.read_text()


def test_without_a_tree_or_a_commit_it_is_refused_with_the_reason(home: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    model = script(say("never"))
    (result,) = results(run(model, home, plain))
    assert (
        result.status == "error" and "needs a git work tree" in result.text and "not in a git repository" in result.text
    )
    git(plain, "init", "-q")
    (result,) = results(run(script(say("never")), home / "x", plain))
    assert "no commit yet" in result.text


@pytest.mark.parametrize(
    ("mode", "agents", "why"),
    [("plan", WRITER % "", "plan mode"), ("default", WRITER % ', "isolation": "none"', "in place")],
)
def test_neither_in_plan_mode_nor_in_place(home: Path, work: Path, mode: str, agents: str, why: str) -> None:
    (result,) = results(run(script(say("never")), home, work, agents, mode))
    assert result.status == "error" and why in result.text
    assert git(work, "branch", "--list") == "* main"


def test_what_it_may_is_judged_as_for_its_parent(home: Path, work: Path) -> None:
    (work / "secret.md").write_text("x\n")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "more")
    outside = str(work / "a.txt")
    model = script(
        calls(call("Write", "w1", file_path="new.txt", content="x")),
        calls(call("Bash", "w2", command="touch y")),
        calls(call("Write", "w3", file_path=outside, content="x")),
        calls(call("Read", "w4", file_path="secret.md")),
        say("ok"),
    )
    answers = Answers("deny", "deny")
    settings = f"Read(/{work}/secret.md)"
    session = run_denying(model, home, work, settings, answers)
    steps = [entry for entry in model.of("write")[-1].entries if isinstance(entry, Step)]
    assert [step.results[0].status for step in steps] == ["denied"] * 4
    assert [approval.call.name for approval in answers.asked] == ["Write", "Bash"]
    assert all(approval.agent.startswith("writer/a") for approval in answers.asked)
    assert "it changed nothing" in results(session)[0].text


def run_denying(model: Any, home: Path, work: Path, denied: str, answers: Answers) -> Session:
    from agenyx.app.policies import choose

    settings = Settings(str(work), agents=WRITER % "", disallowed=denied)
    chosen = choose(settings, str(home), str(work), str(home), {})

    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, settings=settings, approver=answers, chosen=chosen)
        await conversation.prompt("main")
        await conversation.close()
        return session

    return asyncio.run(turn())


def test_a_mode_in_its_file_is_only_ever_stricter(home: Path, work: Path) -> None:
    steps = (calls(call("Write", file_path="new.txt", content="x")), say("ok"))
    answers = Answers("deny")
    wide = WRITER % ', "permissionMode": "bypassPermissions", "hooks": {"PreToolUse": []}'
    run(script(*steps), home, work, wide, "default", approver=answers)
    assert [approval.call.name for approval in answers.asked] == ["Write"]
    model = script(*steps)
    run(model, home / "x", work, WRITER % ', "permissionMode": "plan"', "acceptEdits")
    step = next(entry for entry in model.of("write")[-1].entries if isinstance(entry, Step))
    assert step.results[0].status == "denied" and "plan mode" in step.results[0].text


def test_all_tools_are_all_but_those_of_the_main_agent(home: Path, work: Path) -> None:
    model = script(say("ok"))
    run(model, home, work, '{"writer": {"description": "all", "tools": "*", "disallowedTools": ["WebFetch"]}}')
    names = {tool.name for tool in model.of("write")[0].tools}
    assert {"Read", "Write", "Bash"} <= names
    assert names.isdisjoint({"Task", "TaskOutput", "TaskStop", "AskUserQuestion", "ExitPlanMode", "Memory", "WebFetch"})


DIES = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from agenyx.app.settings import Settings
from support.children import Routed
from support.conversation import open_scripted
from support.scripted import call, calls, say
async def before(name):
    if name == "write" and len(model.of("write")) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
model = Routed({{
    "main": [calls(call("Task", description="write it", agent="writer")), say("done")],
    "write": [calls(call("Write", file_path="one.txt", content="one")), say("?")],
}}, before)
async def main():
    settings = Settings({work!r}, mode="acceptEdits", agents={agents!r})
    conversation, session = open_scripted(model, Path({home!r}), Path({work!r}), settings=settings)
    await conversation.prompt("main")
asyncio.run(main())
"""


def test_after_kill_9_it_goes_on_in_the_same_work_tree(home: Path, work: Path) -> None:
    tests = str(Path(__file__).parent.parent)
    code = DIES.format(tests=tests, home=str(home), work=str(work), agents=WRITER % "")
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -signal.SIGKILL
    model = script(say("?"), calls(call("Write", file_path="two.txt", content="two")), say("both"))

    async def turn() -> Session:
        settings = Settings(str(work), mode="acceptEdits", agents=WRITER % "")
        conversation, session = open_scripted(model, home, work, settings=settings)
        await conversation.go_on()
        await conversation.close()
        return session

    (result,) = results(asyncio.run(turn()))
    assert result.status == "ok" and "+one" in result.text and "+two" in result.text and "both" in result.text
    assert worktrees(home) == []


def test_after_kill_9_in_the_background_its_tree_stays_and_is_named(home: Path, work: Path) -> None:
    tests = str(Path(__file__).parent.parent)
    code = DIES.format(tests=tests, home=str(home), work=str(work), agents=WRITER % "")
    code = code.replace('agent="writer")', 'agent="writer", background=True)').replace(
        'await conversation.prompt("main")', 'await conversation.prompt("main"); await asyncio.sleep(30)'
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -signal.SIGKILL

    def read(request: Request) -> Assistant:
        step = next(entry for entry in request.entries if isinstance(entry, Step))
        return calls(call("TaskOutput", task_id=child_id(step.assistant.calls[0].id)))

    model = Routed({"main": [say("?"), say("?"), read, say("done")]})

    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, mode="default")
        await conversation.prompt("and now?")
        await conversation.close()
        return session

    text = results(asyncio.run(turn()))[-1].text
    (name,) = [name for name in worktrees(home) if not name.endswith(".base")]
    assert f"its work tree stays in {home}/.cache/agenyx/worktrees/{name}" in text
    assert (home / ".cache" / "agenyx" / "worktrees" / name / "one.txt").read_text() == "one"


def test_stopped_in_the_middle_its_work_is_on_the_branch(home: Path, work: Path) -> None:
    hang = Hang()
    model = script(calls(call("Write", file_path="one.txt", content="one")), say("?"))

    async def before(name: str) -> None:
        if name == "write" and len(model.of("write")) == 2:
            hang.hanging.set()
            await asyncio.Event().wait()

    model.before = before

    events: list[AgentEvent] = []

    async def turn() -> None:
        settings = Settings(str(work), mode="acceptEdits", agents=WRITER % "")
        conversation, _ = open_scripted(model, home, work, settings=settings, events=events)
        running = asyncio.create_task(conversation.prompt("main"))
        await asyncio.wait_for(hang.hanging.wait(), 20)
        running.cancel()
        assert (await running).outcome.kind == "cancelled"
        await conversation.close()

    asyncio.run(turn())
    branch = git(work, "branch", "--list", "agenyx/*")
    assert git(work, "show", f"{branch.strip()}:one.txt") == "one"
    (told,) = [event.body.text for event in events if isinstance(event.body, Notice)]
    assert branch.strip() in told
    assert worktrees(home) == []


def test_protected_files_are_not_in_the_diff(home: Path, work: Path) -> None:
    model = script(
        calls(call("Bash", command="printf 'KEY=hush\\n' > .env; printf 'x\\n' > open.txt")),
        say("ok"),
    )
    session = run(model, home, work, mode="bypassPermissions", approver=Answers("allow"))
    (result,) = results(session)
    assert "+x" in result.text and "hush" not in result.text
    assert "changes to 1 protected files are not shown" in result.text
