"""A scene with one of everything, for snapshots, and an app that shows only a transcript."""

from __future__ import annotations

from textual.app import App, ComposeResult

from agenyx.core.events import (
    ApprovalAsked,
    CallDraft,
    Compacted,
    Done,
    EffectStarted,
    Notice,
    Outcome,
    Output,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.core.messages import Assistant, Media, Text
from agenyx.core.tools import Effects
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import ASCII, Glyphs
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.transcript.view import TranscriptView
from support.scenes import Stage, agent_of, asked, call, change, finished

BEGUN = TurnStarted("go", "m", "default")
DIFF = """--- src/area.py
+++ src/area.py
@@ -3,4 +3,5 @@
 class Shape:
-    def area(self):
-        return self.width * self.height
+    def area(self) -> float:
+        \"\"\"Square metres.\"\"\"
+        return self.width * self.length
     name = "shape"
"""
ANSWER = """## What I found
The **area** is wrong, see `src/area.py`:

```python
def area(self) -> float:
    return self.width * self.length  # was height
```

1. first, a point that is long enough to be wrapped where the screen is small or narrow
2. second

| case | before | now |
| --- | --- | --- |
| square | 4 | 4 |
| door | 3 | 2 |
"""


def rich() -> Stage:
    scene = Stage()
    scene.typed("Why is the area of a door wrong?\nLook into src/area.py.")
    scene.events(Notice("warning", "This session is kept in memory only.", "Free space on the disk."))
    scene.events(BEGUN, StepStarted(), ReasoningDelta(0, "I should look for the word area first.\nThen read."))
    scene.time.now += 3
    grep = call("Grep", '{"pattern":"area","path":"src"}', "call_00000001")
    scene.ran(grep, "src/area.py:4:    def area(self):\nsrc/room.py:9:        return door.area()\n[2 results]")
    scene.ran(call("Read", '{"file_path":"src/area.py"}', "call_00000002"), "class Shape:\n    ...\n", seconds=0.2)
    edit = call("Edit", '{"file_path":"src/area.py","old_string":"height","new_string":"length"}', "call_00000003")
    scene.ran(edit, "Edited src/area.py: 1 replacement.", effects=change("src/area.py", DIFF), seconds=0.3)
    run = call("Bash", '{"command":"pytest -q tests/test_area.py"}', "call_00000004")
    ran = Effects(script="pytest -q tests/test_area.py")
    scene.ran(run, "\x1b[32m2 passed\x1b[0m in 0.1 s", effects=ran, seconds=12.4)
    scene.ran(
        call("Bash", '{"command":"make nothing"}', "call_00000005"), "make: no rule\nexit 2", "error", effects=ran
    )
    scene.ran(call("Bash", '{"command":"rm -rf build"}', "call_00000006"), "Denied: not that", "denied")
    scene.ran(call("WebFetch", '{"url":"http://x"}', "call_00000007"), "", "cancelled")
    picture = (Media("image", "image/png", "0" * 64, 1234, "plan.png"),)
    scene.ran(call("Read", '{"file_path":"plan.png"}', "call_00000008"), media=picture)
    task = call("Task", '{"description":"look at every room"}', "call_task0001")
    scene.calls(task)
    scene.events(EffectStarted((task.id,)))
    scene.events(BEGUN, agent=agent_of(task))
    scene.ran(call("Grep", '{"pattern":"door"}', "call_inner001"), "a.py:1:door", agent=agent_of(task))
    scene.ran(call("Read", '{"file_path":"a.py"}', "call_inner002"), "door\n", agent=agent_of(task))
    scene.events(TextDelta(0, "Two rooms have **doors**."), agent=agent_of(task))
    scene.events(Done(Assistant((Text("Two rooms have **doors**."),), "end")), agent=agent_of(task))
    scene.events(TurnFinished(Outcome("done"), "", 2, 1.0), agent=agent_of(task))
    scene.events(finished(task, "The subagent said: two rooms.", seconds=12.0))
    scene.events(StepStarted(), TextDelta(0, ANSWER), Done(Assistant((Text(ANSWER),), "end")))
    scene.events(TurnFinished(Outcome("done"), ANSWER, 4, 18.0, Usage(100, 900, 0, 210, 0), 0.0123))
    scene.events(Compacted("The area was wrong."))
    scene.say("name      what it does\n/help     shows commands and keys")
    scene.complain("there is no command /hepl", "Did you mean /help?")
    return scene


def running() -> Stage:
    """In the middle of a turn: one call runs, one waits for an answer, one is being written."""
    scene = Stage()
    scene.typed("Build it")
    build, ask = call("Bash", '{"command":"make"}', "call_1"), call("Bash", '{"command":"make install"}', "call_2")
    scene.events(BEGUN)
    scene.calls(build, ask, effects=Effects(script="make"))
    scene.events(ApprovalAsked(asked(ask)), EffectStarted((build.id,)))
    scene.time.now += 7
    scene.events(Output(build.id, b"compiling a.c\ncompiling b.c\n\x1b[31mwarning\x1b[0m: x\n 10%\r 50%"))
    scene.events(CallDraft(0, "Write", '{"file_path":"src/new.py","content":"def one():\\n    return 1\\n\\ndef tw'))
    return scene


class Shown(App[None]):
    """`theme` is a name of settings.toml."""

    def __init__(self, scene: Scene, theme: str = "default", *, plain: bool = False) -> None:
        super().__init__()
        self.scene = scene
        self.view = TranscriptView(scene, ASCII if plain else Glyphs())
        self.told: list[tuple[str, str]] = []
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + theme

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.refresh_scene()

    def on_transcript_view_told(self, told: TranscriptView.Told) -> None:
        self.told.append((told.level, told.text))
