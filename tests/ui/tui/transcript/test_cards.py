"""Cards as rows: what one line tells, and what stands below it when it is opened."""

from __future__ import annotations

import pytest

from agenyx.core import json
from agenyx.core.events import EffectStarted, Output, TurnStarted
from agenyx.core.messages import Media, Status
from agenyx.core.tools import Command, Effects
from agenyx.ui.spans import Glyphs, Line, plain
from agenyx.ui.tui.transcript.render import Renderer
from support.scenes import Stage, agent_of, call, change, finished

DIFF = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-one\n+two\n same\n"


def rows(scene: Stage, *, opened: bool = False, width: int = 100) -> list[Line]:
    renderer = Renderer(Glyphs(), lambda _: opened, scene.time)
    return [row for block in scene.blocks for row in renderer.rendered(block, width).rows]


def shown(scene: Stage, *, opened: bool = False, width: int = 100) -> list[str]:
    return [plain(row).rstrip() for row in rows(scene, opened=opened, width=width)]


@pytest.mark.parametrize(
    ("status", "first", "second"),
    [
        ("ok", "✓ ▸ Bash make  3 lines, 2.5 s", ""),
        ("error", "✗ ▸ Bash make  error, 2.5 s", "one"),
        ("timed_out", "✗ ▸ Bash make  timed out, 2.5 s", "one"),
        ("malformed", "✗ ▸ Bash make  malformed, 2.5 s", "one"),
        ("unavailable", "✗ ▸ Bash make  not available, 2.5 s", "one"),
        ("denied", "⊘ ▸ Bash make  denied, 2.5 s", "one"),
        ("interrupted", "■ ▸ Bash make  interrupted, 2.5 s", "one"),
        ("cancelled", "■ ▸ Bash make  cancelled, 2.5 s", ""),
    ],
)
def test_one_line_tells_how_a_call_ended(status: Status, first: str, second: str) -> None:
    scene = Stage()
    scene.ran(call(args='{"command":"make"}'), "one\ntwo\nthree", status, effects=Effects(script="make"), seconds=2.5)
    told = shown(scene)
    assert told[0] == first
    assert (told[1].strip() if len(told) > 1 else "") == second


def test_a_long_time_is_told_in_minutes() -> None:
    scene = Stage()
    scene.ran(call(), "", seconds=135.0)
    assert "2 min 15 s" in shown(scene)[0]


def test_a_short_result_stands_in_the_line_without_its_colours() -> None:
    scene = Stage()
    scene.ran(call(args='{"command":"x"}'), "\x1b[32mall good\x1b[0m\n", effects=Effects(script="x"))
    assert shown(scene) == ["✓ ▸ Bash x  all good"]


def test_a_long_error_is_cut_while_closed_and_whole_when_opened() -> None:
    scene = Stage()
    scene.ran(call(), "\n".join(f"why {n}" for n in range(40)), "error")
    closed = shown(scene)
    assert closed[-1].strip() == "[… 34 more rows: Enter shows them]"
    assert [row.strip() for row in shown(scene, opened=True)[1:]] == [f"why {n}" for n in range(40)]


def test_an_edit_tells_its_lines_and_shows_its_change_once() -> None:
    scene = Stage()
    edit = call("Edit", '{"file_path":"a.py","old_string":"one","new_string":"two"}')
    scene.ran(edit, "Edited a.py: 1 replacement.\n@@ -1 +1 @@\n-one\n+two", effects=change("a.py", DIFF))
    assert shown(scene) == ["✓ ▸ Edit a.py  +1 -1"]
    assert [row.strip() for row in shown(scene, opened=True)[1:]] == [
        "@@ -1,2 +1,2 @@",
        "1 - one",
        "1 + two",
        "2   same",
        "Edited a.py: 1 replacement.",
    ]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"file_path": "a", "old_string": "one", "new_string": "two\nthree"}, "+2 -1"),
        ({"file_path": "a", "content": "x\ny\n"}, "+2 -0"),
        (
            {
                "file_path": "a",
                "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}],
            },
            "+1 -2",
        ),
    ],
)
def test_of_an_earlier_session_the_change_is_made_of_the_arguments(args: dict[str, object], expected: str) -> None:
    scene = Stage()
    scene.ran(call("Edit", json.encode(args).decode()), "done")
    scene.card().effects = None  # records do not hold them
    assert expected in shown(scene)[0]


def test_the_output_of_a_command_keeps_its_colours() -> None:
    scene = Stage()
    scene.ran(call(args='{"command":"x"}'), "\x1b[31mred\x1b[0m\nplain\n", effects=Effects(script="x"))
    assert (("", "    "), ("fg=1", "red")) in rows(scene, opened=True)


def test_a_command_of_several_lines_is_shown_whole() -> None:
    scene = Stage()
    scene.ran(
        call(args='{"command":"cd x\\nmake"}'), "", effects=Effects(script="cd x\nmake", commands=(Command(("make",)),))
    )
    assert shown(scene)[0] == "✓ ▸ Bash cd x make"
    assert [row.strip() for row in shown(scene, opened=True)[1:3]] == ["$ cd x", "$ make"]


def test_other_arguments_stand_below_by_name() -> None:
    scene = Stage()
    scene.ran(call("mcp__db__query", '{"query":"select 1","limit":5,"tags":["a"]}'), "1 row")
    told = [row.strip() for row in shown(scene, opened=True)]
    assert told[0].startswith("✓ ▾ mcp__db__query select 1")
    assert "limit: 5" in told
    assert told.count("query: select 1") == 0


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    scene = Stage()
    scene.ran(call("Read", '{"file_path": oops'), "not JSON", "malformed")
    assert any("oops" in row for row in shown(scene, opened=True)[1:])


def test_a_list_of_things_to_do_is_a_list() -> None:
    scene = Stage()
    todos = [{"content": "first", "status": "completed"}, {"content": "second", "status": "in_progress"}]
    todos.append({"content": "third", "status": "pending"})
    scene.ran(call("TodoWrite", json.encode({"todos": todos}).decode()), "The list has 3 items.")
    assert [row.strip() for row in shown(scene, opened=True)[1:4]] == ["[x] first", "[>] second", "[ ] third"]


def test_an_image_is_a_line() -> None:
    scene = Stage()
    scene.ran(call("Read", '{"file_path":"p.png"}'), media=(Media("image", "image/png", "0" * 64, 2048, "p.png"),))
    assert shown(scene) == ["✓ ▸ Read p.png  image p.png"]
    assert shown(scene, opened=True)[1].strip() == "[image p.png, image/png, 2,048 bytes]"


def test_a_subagent_tells_its_calls_and_what_it_does_now() -> None:
    scene, task = Stage(), call("Task", '{"description":"look around"}', "call_task0001")
    child = agent_of(task)
    scene.calls(task)
    scene.events(EffectStarted((task.id,)), TurnStarted("x", "m", "default"))
    scene.events(TurnStarted("look around", "m", "default"), agent=child)
    scene.ran(call("Grep", '{"pattern":"a"}', "call_in000001"), "x", agent=child)
    scene.calls(call("Bash", '{"command":"make"}', "call_in000002"), agent=child)
    scene.events(EffectStarted(("call_in000002",)), agent=child)
    scene.time.now += 12
    assert shown(scene) == [
        "▶ ▸ Task look around  running, 2 calls, 12 s",
        "    ↪ ▶   Bash make  running, 12 s",
    ]
    scene.events(finished(task, "sent", seconds=0.1))
    assert "works in the background" in shown(scene)[0]


def test_a_call_that_waits_or_is_asked_about_says_so() -> None:
    scene = Stage()
    scene.calls(call(args='{"command":"make"}'))
    assert shown(scene) == ["○   Bash make  waits"]


def test_output_that_begins_in_the_middle_of_a_line_begins_with_the_next() -> None:
    scene, one = Stage(), call(args='{"command":"make"}')
    scene.calls(one)
    scene.events(EffectStarted((one.id,)), Output(one.id, b"x" * 5000 + b"\nwhole line\n"))
    assert [row.strip() for row in shown(scene)[1:]] == ["whole line"]


@pytest.mark.parametrize("width", [8, 20, 59, 300])
def test_the_line_fits_any_width(width: int) -> None:
    from agenyx.ui.spans import cells

    scene = Stage()
    scene.ran(
        call("a_tool_with_a_long_name" * 3, json.encode({"query": "日本語 " * 50}).decode()), "x\n" * 1234, seconds=5.0
    )
    assert cells(shown(scene, width=width)[0]) <= max(width, 8)
