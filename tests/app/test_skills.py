"""Skills in a conversation: what the model is offered, what a turn is kept to, and what crosses the boundary."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.commands.spec import Reply
from agenyx.app.extensions import Extensions
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.app.trust import Gate
from agenyx.core.errors import AgenyxError
from agenyx.core.messages import Assistant, Step, User
from agenyx.llm.request import Request
from agenyx.session import load
from agenyx.session.session import Session
from agenyx.session.store import TRANSCRIPT
from support.conversation import open_scripted
from support.parts import Answers
from support.scripted import Scripted, call, calls, say

from .commands.places import Place

LIMITED = "---\nname: limited\ndescription: Looks at logs.\nallowed-tools: Read, Bash(echo:*)\n---\nLook at $1.\n"
FREE = "---\nname: free\ndescription: Does anything.\n---\nDo it.\n"


class Shelved(Place):
    """A place whose conversations have skills, as those of the program do."""

    bare = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.mode = "bypassPermissions"

    async def open(self) -> tuple[Conversation, Session]:
        work, home, person = map(os.path.realpath, (self.work, self.home, self.person))
        gate = Gate(Settings(work, trust=True, bare=self.bare), {}, home, work, None, lambda _: None)
        await gate.open()
        extensions = Extensions(gate, home, person, lambda _: None, bare=self.bare)
        return open_scripted(
            self.script,
            self.home,
            self.work,
            events=self.events,
            approver=self.approver,
            mode=self.mode,
            extensions=extensions,
        )

    def results(self, *prompts: str | User) -> list[list[tuple[str, str]]]:
        """Status and text of every result, turn by turn."""

        async def work(conversation: Conversation, session: Session) -> list[list[tuple[str, str]]]:
            turns: list[list[tuple[str, str]]] = []
            for prompt in prompts:
                typed: str | User | None = prompt
                if isinstance(prompt, str) and prompt.startswith("/"):
                    reply = await self.type(conversation, prompt)
                    assert isinstance(reply, Reply) and reply.prompt is not None, reply
                    typed = reply.prompt
                assert typed is not None
                start = len(session.state.entries)
                await conversation.prompt(typed)
                turns.append(_results(session, start))
            return turns

        return self.run(work)


def _results(session: Session, start: int = 0) -> list[tuple[str, str]]:
    steps = [entry for entry in session.state.entries[start:] if isinstance(entry, Step)]
    return [(result.status, result.text) for step in steps for result in step.results]


@pytest.fixture
def place(tmp_path: Path) -> Shelved:
    made = Shelved(tmp_path)
    made.write(".claude/skills/limited/SKILL.md", LIMITED)
    made.write(".agenyx/skills/free/SKILL.md", FREE)
    (made.work / "a.txt").write_text("the log\n")
    return made


WRITE = call("Write", "w", file_path="new.txt", content="x")
READ = call("Read", "r", file_path="a.txt")
LOAD, LOAD_FREE = call("Skill", "s", skill="limited", arguments=["a.txt"]), call("load_skill", "f", skill="free")


def test_the_model_is_told_of_skills_and_gets_their_text(place: Shelved) -> None:
    place.script = model = Scripted([calls(LOAD), say("done")])  # type: ignore[assignment]
    ((loaded,),) = place.results("look")
    assert (
        loaded[0] == "ok" and "Look at a.txt." in loaded[1] and str(place.work / ".claude/skills/limited") in loaded[1]
    )
    head = model.requests[0]
    assert head.system[-1].endswith("- free: Does anything.\n- limited: Looks at logs.")
    assert "Skill" in [tool.name for tool in head.tools]


def test_a_skill_keeps_the_rest_of_the_turn_to_its_tools(place: Shelved) -> None:
    place.script = [
        calls(LOAD),
        calls(READ, WRITE, call("Bash", "b", command="echo hi"), call("Bash", "c", command="echo hi; touch new.txt")),
        say("done"),
        calls(WRITE),
        say("done"),
    ]
    first, second = place.results("look", "now write")
    assert [status for status, _ in first] == ["ok", "ok", "denied", "ok", "denied"]
    assert "the skill limited keeps this turn to Read, Bash(echo:*)" in first[2][1]
    assert "touch new.txt lies outside of that" in first[4][1]
    assert [status for status, _ in second] == ["ok"], "it ends with the turn"
    assert (place.work / "new.txt").read_text() == "x"


def test_what_stands_behind_the_skill_in_the_same_response_is_kept_to_it_too(place: Shelved) -> None:
    place.script = [calls(LOAD, WRITE), say("done")]
    ((_, denied),) = place.results("look")
    assert denied[0] == "denied" and "the skill limited" in denied[1]


def test_the_next_skill_takes_the_place_of_the_one_before(place: Shelved) -> None:
    place.script = [calls(LOAD), calls(LOAD_FREE), calls(WRITE), calls(LOAD), calls(WRITE), say("done")]
    ((*first, _, last),) = place.results("go")
    assert [status for status, _ in first] == ["ok", "ok", "ok"] and last[0] == "denied"


def test_a_scope_grants_nothing(place: Shelved) -> None:
    place.mode, place.approver = "default", Answers("deny")
    place.script = [calls(LOAD), calls(call("Bash", "b", command="echo hi")), say("done")]
    ((_, refused),) = place.results("look")
    assert refused[0] == "denied"
    assert len(place.approver.asked) == 1


def test_the_scope_outlives_a_crash_in_the_middle_of_the_turn(place: Shelved) -> None:
    place.script = [calls(LOAD), calls(WRITE), say("done")]
    assert [status for status, _ in place.results("look")[0]] == ["ok", "denied"]
    (transcript,) = Path(load.sessions_of(str(place.home), str(place.work))).glob(f"*/{TRANSCRIPT}")
    lines = transcript.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["body"]["kind"] for line in lines]
    transcript.write_bytes(b"".join(lines[: kinds.index("result") + 1]))  # as kill -9 left it

    async def go_on(conversation: Conversation, session: Session) -> list[tuple[str, str]]:
        assert conversation.unfinished
        await conversation.go_on()
        return _results(session)

    _, (status, text) = place.run(go_on)
    assert status == "denied" and "the skill limited keeps this turn" in text
    assert not (place.work / "new.txt").exists()


def test_a_person_calls_a_skill_by_its_name(place: Shelved) -> None:
    place.script = model = Scripted([calls(READ, WRITE), say("done"), calls(WRITE), say("done")])  # type: ignore[assignment]
    first, second = place.results("/limited a.txt", "go on")
    assert [status for status, _ in first] == ["ok", "denied"] and [status for status, _ in second] == ["ok"]
    said = [entry for entry in model.requests[0].entries if isinstance(entry, User) and entry.origin == "typed"]
    assert "Look at a.txt." in said[0].text and said[0].said == "/limited a.txt"


def test_a_skill_for_the_person_alone_and_one_for_the_model_alone(place: Shelved) -> None:
    place.write(".claude/skills/mine/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nMine.\n")
    place.write(".claude/skills/its/SKILL.md", "---\ndescription: d\nuser-invocable: false\n---\nIts.\n")
    place.script = model = Scripted([calls(call("Skill", "m", skill="mine")), say("done")])  # type: ignore[assignment]
    (((status, text),),) = place.results("/mine")
    assert status == "denied" and "/mine" in text
    system = model.requests[0].system[-1]
    assert "- its: d" in system and "mine" not in system

    async def typed(conversation: Conversation, session: Session) -> Any:
        return await place.type(conversation, "/its")

    assert not isinstance(place.run(typed), Reply)


def test_commands_in_a_skill_are_judged_like_those_of_the_model(place: Shelved) -> None:
    place.write(".claude/skills/now/SKILL.md", "---\ndescription: d\n---\nThe time: !`touch ran; echo noon`.\n")
    place.mode, place.approver = "default", Answers("deny", "allow")
    place.script = [calls(call("Skill", "n", skill="now")), calls(call("Skill", "o", skill="now")), say("done")]
    ((refused, allowed),) = place.results("what time is it")
    assert [asked.call.name for asked in place.approver.asked] == ["Bash", "Bash"]
    assert refused[0] == "ok" and "[touch ran; echo noon was not run: Denied: because]" in refused[1]
    assert "The time: noon." in allowed[1]
    assert (place.work / "ran").exists()


def test_one_that_asks_for_it_runs_as_a_subagent_with_its_scope(place: Shelved) -> None:
    place.write(
        ".claude/skills/far/SKILL.md",
        "---\ndescription: d\ncontext: fork\nallowed-tools: LS\n---\nLook at $ARGUMENTS.\n",
    )

    def first(request: Request) -> Assistant:
        child = any("You are a subagent" in text for text in request.system)
        return calls(READ) if child else calls(call("Skill", "f", skill="far", arguments="a.txt"))

    def second(request: Request) -> Assistant:
        if any("You are a subagent" in text for text in request.system):
            assert "Skill" in [tool.name for tool in request.tools], "it can read the files of the skill"
            assert any(isinstance(entry, User) and "Look at a.txt." in entry.text for entry in request.entries)
            step = next(entry for entry in request.entries if isinstance(entry, Step))
            return say(f"the child says: {step.results[0].status} {step.results[0].text}")
        return calls(WRITE)

    place.script = [first, second, say("done")]
    ((answer, written),) = place.results("go")
    assert "the child says: denied" in answer[1] and "the skill far keeps this turn to LS" in answer[1]
    assert written[0] == "ok", "the turn of the parent is not kept to it"


def test_a_subagent_runs_nothing_by_a_skill_that_it_may_not_run_itself(place: Shelved) -> None:
    place.write(".claude/skills/now/SKILL.md", "---\ndescription: d\n---\nNow: !`touch ran`.\n")
    place.write(".claude/skills/far/SKILL.md", "---\ndescription: d\ncontext: fork\n---\nFar.\n")
    place.write(".claude/agents/reader.md", "---\nname: reader\ndescription: d\ntools: Read, Skill\n---\nRead.\n")

    def first(request: Request) -> Assistant:
        child = any("You are a subagent" in text for text in request.system)
        both = calls(call("Skill", "n", skill="now"), call("Skill", "f", skill="far"))
        return both if child else calls(call("Task", "t", description="look", agent="reader"))

    def second(request: Request) -> Assistant:
        step = next(entry for entry in request.entries if isinstance(entry, Step))
        return say(" | ".join(result.text for result in step.results))

    place.script = [first, second]
    (((_, text),),) = place.results("go")
    assert "[touch ran was not run: a subagent runs it by itself" in text and "there can be none here" in text
    assert not (place.work / "ran").exists()


def test_a_person_has_one_run_as_a_subagent(place: Shelved) -> None:
    place.write(".claude/skills/far/SKILL.md", "---\ndescription: d\ncontext: fork\n---\nLook.\n")
    prompt = place.reply("/far at this").prompt
    assert prompt is not None and "Call Skill with the skill far and these arguments: at this." in prompt.text
    place.write(
        ".claude/skills/far/SKILL.md",
        "---\ndescription: d\ncontext: fork\ndisable-model-invocation: true\n---\nLook.\n",
    )
    prompt = place.reply("/far").prompt
    assert prompt is not None and "Look." in prompt.text


def test_without_skills_and_bare_there_is_no_tool_and_no_list(place: Shelved) -> None:
    place.bare = True
    place.script = model = Scripted([say("done")])  # type: ignore[assignment]
    place.results("hello")
    head = model.requests[0]
    assert "Skill" not in [tool.name for tool in head.tools] and not any("# Skills" in text for text in head.system)


def test_skills_of_others_in_the_tree_are_not_looked_for(place: Shelved) -> None:
    """Attack S46: what lies in dependencies, deeper folders and folders above is none of ours."""
    for path in ("node_modules/x/.claude/skills/evil", "sub/.claude/skills/evil", ".claude/skills/node_modules/evil"):
        place.write(f"{path}/SKILL.md", "---\ndescription: evil\n---\nx")
    above = place.work.parent / ".claude" / "skills" / "evil" / "SKILL.md"
    above.parent.mkdir(parents=True)
    above.write_text("---\ndescription: evil\n---\nx")
    os.symlink(place.work / "sub" / ".claude" / "skills" / "evil", place.work / ".claude" / "skills" / "linked")

    async def names(conversation: Conversation, session: Session) -> list[str]:
        assert conversation.library is not None
        return list(conversation.library.skills().found)

    assert place.run(names) == ["free", "limited"]


def test_the_list_of_skills_says_why_one_is_missing(place: Shelved) -> None:
    place.write(".claude/skills/broken/SKILL.md", "---\nname: broken\n---\nx")
    place.write(".claude/skills/free/SKILL.md", FREE)
    place.write(".claude/skills/help/SKILL.md", FREE)
    reply = place.reply("/skills")
    assert (
        f"broken  it has no description\n  of the workspace, {place.work}/.claude/skills/broken/SKILL.md" in reply.text
    )
    assert "/help is a command of Agenyx itself" in reply.text
    assert f"{place.work}/.agenyx/skills/free/SKILL.md has the same name and counts before it" in reply.text
    one = place.reply("/skills limited")
    assert "keeps a turn to Read, Bash(echo:*)" in one.text and "broken" not in one.text
    assert one.data["skills"][0]["usable"] is True
    with pytest.raises(AgenyxError):
        place.reply("/skills nothing")


def test_a_built_in_command_is_never_shadowed(place: Shelved) -> None:
    place.write(".claude/skills/status/SKILL.md", "---\ndescription: evil\n---\nEvil.\n")
    reply = place.reply("/status")
    assert reply.prompt is None and "evil" not in reply.text
    assert "/status of" in place.reply("/help").text
