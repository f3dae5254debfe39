"""Commands from Markdown files: what the model gets, what a person is shown, and what is refused."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from agenyx.agent.ports import Deferred
from agenyx.app.commands.custom import DATA
from agenyx.app.commands.spec import Reply
from agenyx.app.runtime import Conversation
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import AgenyxError
from agenyx.core.events import CallFinished
from agenyx.core.hooks import Fired, Said
from agenyx.core.messages import Step, User
from agenyx.session.session import Session
from support.parts import Answers
from support.scripted import call, calls, say

from .places import Place


def test_a_command_becomes_a_prompt_that_shows_what_was_typed(place: Place) -> None:
    place.write(".agenyx/commands/fix.md", "---\ndescription: Fix one\nargument-hint: [issue]\n---\nFix issue $1.\n")

    async def work(conversation: Conversation, session: Session) -> None:
        reply = await place.type(conversation, "/fix 12")
        assert isinstance(reply, Reply) and reply.prompt is not None
        await conversation.prompt(reply.prompt)
        said = [entry for entry in session.state.entries if isinstance(entry, User) and entry.origin == "typed"]
        assert [(entry.text, entry.said) for entry in said] == [("Fix issue 12.", "/fix 12")]
        assert conversation.title() == "/fix 12"
        assert [turn.text for turn in conversation.tree().turns] == ["/fix 12"]

    place.run(work)


def sent(place: Place, text: str) -> str:
    """What the model gets for an input."""
    reply = place.reply(text)
    assert reply.prompt is not None
    return reply.prompt.text


def refused(place: Place, text: str) -> AgenyxError:
    with pytest.raises(AgenyxError) as caught:
        place.reply(text)
    return caught.value


def test_arguments_stand_where_the_text_wants_them(place: Place) -> None:
    place.write(".claude/commands/a.md", "all: $ARGUMENTS; second: $2; tenth: $10; price \\$1 and $1,000; none: [$3]")
    assert sent(place, '/a one "two words"') == (
        'all: one "two words"; second: two words; tenth: ; price $1 and $1,000; none: []'
    )
    place.write(".claude/commands/a.md", "Just do it.")
    assert sent(place, "/a now") == "Just do it.\n\nArguments: now"
    assert sent(place, "/a") == "Just do it."


def test_folders_are_namespaces_and_the_nearest_file_wins(place: Place) -> None:
    place.write(".claude/commands/git/Log.md", "person, other agent", person=True)
    place.write(".agenyx/commands/git/Log.md", "person", person=True)
    assert sent(place, "/git:log") == "person"
    place.write(".claude/commands/git/Log.md", "workspace, other agent")
    assert sent(place, "/git:log") == "workspace, other agent"
    place.write(".agenyx/commands/git/Log.md", "workspace")
    assert sent(place, "/git:log") == "workspace"
    told = place.reply("/help").text
    assert "/git:Log" in told and "is not used:" in told and "has the same name" in told


def test_built_in_names_win_and_help_says_so(place: Place) -> None:
    place.write(".agenyx/commands/cost.md", "Tell me about costs")
    place.write(".agenyx/commands/usage.md", "An alias of ours")
    place.write(".agenyx/commands/a b.md", "No name")
    place.write(".agenyx/commands/empty.md", "---\ndescription: nothing\n---\n")
    told = place.reply("/help").text
    assert "/cost of " in told and "/usage of " in told and "a built-in command has the name" in told
    assert "a b.md is no command: its name can hold" in told and "empty.md is no command: it has no text" in told
    assert place.reply("/cost").text == "no tokens were counted yet"


def test_what_cannot_be_seen_in_a_file_is_shown_to_the_model(place: Place) -> None:
    place.write(".agenyx/commands/go.md", "Go\u200b on\U000e0041")
    assert sent(place, "/go") == "Go\\u200b on\\U000e0041"


def test_help_explains_a_command_of_a_file(place: Place) -> None:
    file = place.write(
        ".agenyx/commands/fix.md", "---\ndescription: Fix \x1b[2J\u202eone\nargument-hint: <issue>\n---\nDo"
    )
    told = place.reply("/help fix").text
    assert told.splitlines()[0] == "/fix <issue>" and str(file) in told
    assert "\x1b" not in told and "\u202e" not in told


def test_output_of_commands_is_put_in_and_not_looked_at_again(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.write("out.txt", "!`touch hacked` $ARGUMENTS @secret.txt")
    place.write("secret.txt", "hidden words")
    place.write(".agenyx/commands/show.md", "Now:\n!`cat out.txt`\nfor $1")
    assert sent(place, "/show me") == "Now:\n!`touch hacked` $ARGUMENTS @secret.txt\nfor me" + DATA
    assert not (place.work / "hacked").exists()


@pytest.mark.parametrize("line", ["echo [$1]", 'echo "[$1]"', "echo '['\"$1\"']'", "printf '%s\\n' '['$1']'"])
def test_an_argument_in_a_command_is_one_word_whatever_it_holds(place: Place, line: str) -> None:
    place.mode = "bypassPermissions"
    place.write(".agenyx/commands/say.md", f"!`{line}`")
    for hostile in (
        "$(touch hacked)",
        "`touch hacked`",
        "; touch hacked #",
        "'; touch hacked; '",
        '"; touch hacked; "',
    ):
        quoted = "'" + hostile.replace("'", "'\\''") + "'"
        assert f"[{hostile}]" in sent(place, f"/say {quoted}")
    assert not (place.work / "hacked").exists()


@pytest.mark.parametrize("line", ["cat <<< $1", "echo $((1 + $1))", "echo ${x:-$1}", "true # $1", "echo $'a$1'"])
def test_an_argument_where_quoting_is_not_sure_is_refused(place: Place, line: str) -> None:
    place.mode = "bypassPermissions"
    place.write(".agenyx/commands/say.md", f"!`{line}`")
    assert "arguments cannot be put safely" in refused(place, "/say x").message


def test_a_command_in_a_command_is_asked_about_and_a_no_gives_it_up(place: Place) -> None:
    place.approver = Answers("deny")
    place.write(".agenyx/commands/go.md", "Look: !`touch made`")
    error = refused(place, "/go")
    assert "a part of it was refused: touch made" in error.message and "Denied" in error.fix
    assert not (place.work / "made").exists() and len(place.approver.asked) == 1
    assert place.approver.asked[0].call.name == "Bash"
    place.approver = Answers("allow")
    assert sent(place, "/go") == "Look: (no output)" + DATA
    assert (place.work / "made").exists()


def test_a_deny_rule_and_plan_mode_hold_for_it(place: Place) -> None:
    place.approver, place.mode = Answers("allow"), "plan"
    place.write(".agenyx/commands/go.md", "!`touch made`")
    assert "plan" in refused(place, "/go").fix and not (place.work / "made").exists()
    assert place.approver.asked == []


def test_allowed_tools_keep_the_model_to_them_for_the_turn(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.write(".agenyx/commands/log.md", "---\nallowed-tools: Read Glob\n---\nLook around: !`echo here`")
    place.script = [calls(call("Write", file_path="a.txt", content="x")), say("done"), say("later")]

    async def work(conversation: Conversation, session: Session) -> None:
        reply = await place.type(conversation, "/log")
        assert isinstance(reply, Reply) and reply.prompt is not None and reply.prompt.text == f"Look around: here{DATA}"
        await conversation.prompt(reply.prompt)
        step = next(entry for entry in session.state.entries if isinstance(entry, Step))
        assert step.results[0].status == "denied" and "the command /log keeps this turn to" in step.results[0].text

    place.run(work)
    assert not (place.work / "a.txt").exists()


def test_a_scope_grants_nothing(place: Place) -> None:
    place.approver = Answers("deny")
    place.write(".agenyx/commands/go.md", "---\nallowed-tools: Bash\n---\n!`touch made`")
    assert "refused" in refused(place, "/go").message and len(place.approver.asked) == 1


def test_files_are_taken_along_below_the_text(place: Place) -> None:
    place.write("src/a.py", "print(1)\n")
    place.write("src/with space.py", "print(2)\n")
    place.write(".agenyx/commands/look.md", "Look at @src/a.py, @$1 and ask @alice or `@src/a.py`. In: @src")
    text = sent(place, "/look 'src/with space.py'")
    assert text.startswith("Look at @src/a.py, @src/with space.py and ask @alice")
    assert text.count("print(1)") == 1 and text.count("print(2)") == 1 and "alice>" not in text
    assert '<file path="src">' in text and "a.py" in text.partition('<file path="src">')[2]


def test_files_outside_are_refused(place: Place) -> None:
    (place.work.parent / "outside.txt").write_text("out there", "utf-8")
    place.write(".agenyx/commands/look.md", "Look at @$1")
    for path in ("../outside.txt", str(place.work.parent / "outside.txt")):
        error = refused(place, f"/look {path}")
        assert f"@{path} was refused" in error.message and "out there" not in error.message + error.fix


def test_what_a_command_changed_can_be_put_back(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.write("a.txt", "old\n")
    place.write(".agenyx/commands/go.md", "!`rm a.txt` Go on")

    async def work(conversation: Conversation, session: Session) -> None:
        reply = await place.type(conversation, "/go")
        assert isinstance(reply, Reply) and reply.prompt is not None
        await conversation.prompt(reply.prompt)
        assert not (place.work / "a.txt").exists()
        files = conversation.files()
        files.apply(files.plan("1"))

    place.run(work)
    assert (place.work / "a.txt").read_text() == "old\n"


def test_a_stopped_command_ends_what_it_runs_and_what_it_changed_can_be_put_back(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.write("a.txt", "old")
    place.write(".agenyx/commands/go.md", "!`echo $$ > pid; rm a.txt; sleep 600`")

    async def work(conversation: Conversation, session: Session) -> None:
        task = asyncio.create_task(place.type(conversation, "/go"))
        while (place.work / "a.txt").exists():  # noqa: ASYNC110 - a file tells of it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        finished = [body for body in place.bodies if isinstance(body, CallFinished)]
        assert [one.result.status for one in finished] == ["cancelled"]
        with pytest.raises(ProcessLookupError):
            os.kill(int((place.work / "pid").read_text()), 0)
        await conversation.prompt("hello")
        files = conversation.files()
        files.apply(files.plan("1"))

    place.run(work)
    assert (place.work / "a.txt").read_text() == "old"


class OneHook:
    """Answers PreToolUse, and keeps what it was told."""

    def __init__(self, said: Said) -> None:
        self.said, self.told = said, list[Fired]()

    def wants(self, event: str) -> bool:
        return event in ("PreToolUse", "PostToolUse")

    async def fire(self, fired: Fired, effects: Any = None) -> Said:
        self.told.append(fired)
        return self.said if fired.event == "PreToolUse" else Said(ran=1)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (Said("deny", "not today", ran=1), "Denied by a hook: not today"),
        (Said(args='{"command":"echo other"}', ran=1), "other"),
        (Said("allow", ran=1), "one"),
    ],
)
def test_hooks_are_asked_about_what_a_command_runs(place: Place, said: Said, text: str) -> None:
    place.mode = "bypassPermissions"
    place.write(".agenyx/commands/go.md", "!`echo one`")
    hook = OneHook(said)

    async def work(conversation: Conversation, session: Session) -> str:
        ports = replace(conversation.parts.ports, hooks=hook)
        conversation.parts = replace(conversation.parts, ports=ports)
        try:
            reply = await place.type(conversation, "/go")
        except AgenyxError as error:
            return error.fix
        assert isinstance(reply, Reply) and reply.prompt is not None
        return reply.prompt.text.removesuffix(DATA)

    assert place.run(work) == text
    ran = [] if said.decision == "deny" else ["PostToolUse"]
    assert [one.event for one in hook.told] == ["PreToolUse", *ran]
    assert hook.told[0].data["tool_input"] == {"command": "echo one"}


def test_another_model_is_not_taken_but_told(place: Place) -> None:
    place.write(".agenyx/commands/go.md", "---\nmodel: opus\n---\nGo")
    assert place.reply("/go").text == "/go asks for the model opus; scripted-model answers it."
    place.write(".agenyx/commands/go.md", "---\nmodel: inherit\n---\nGo")
    assert place.reply("/go").text == ""


def test_a_failing_command_is_told_and_not_fatal(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.write(".agenyx/commands/go.md", "!`echo oh; exit 3`")
    assert sent(place, "/go") == "oh\n[exit code 3]" + DATA


class Once:
    """Says yes for the session, once; later questions are for another day."""

    def __init__(self, scope: Literal["once", "session", "saved"], args: str | None = None) -> None:
        self.scope: Literal["once", "session", "saved"] = scope
        self.args, self.asked = args, list[Approval]()

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        if len(self.asked) > 1 + (self.args is not None):
            raise Deferred
        args = self.args if len(self.asked) == 1 else None
        return Decision(approval.id, "allow", self.scope, args)


def test_a_yes_for_the_session_spares_the_next_question_and_one_for_later_is_a_no(place: Place) -> None:
    place.approver = Once("session")
    place.write(".agenyx/commands/a.md", "!`touch one`")
    place.write(".agenyx/commands/b.md", "!`touch two`")

    async def work(conversation: Conversation, session: Session) -> None:
        await place.type(conversation, "/a")
        await place.type(conversation, "/a")
        assert len(place.approver.asked) == 1 and [rule.text for rule in conversation.rules()] == ["Bash(touch one)"]
        with pytest.raises(AgenyxError) as caught:
            await place.type(conversation, "/b")
        assert "a command cannot wait for one" in caught.value.fix

    place.run(work)
    assert not (place.work / "two").exists()


def test_what_a_person_changes_in_the_question_is_judged_again_and_runs(place: Place) -> None:
    place.approver = Once("once", '{"command":"touch other"}')
    place.write(".agenyx/commands/a.md", "!`touch one`")
    place.reply("/a")
    assert [one.args for one in place.approver.asked] in ([None], [None, '{"command":"touch other"}'])
    assert (place.work / "other").exists() and not (place.work / "one").exists()
