"""Events as lines of a transcript: what is finished is taken once; what still changes is drawn anew.

Pure but for the clock it is given. It knows no terminal; every text of others is made safe here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    Body,
    CallAccepted,
    CallDraft,
    CallFinished,
    Done,
    EffectStarted,
    Failure,
    Notice,
    Output,
    ReasoningDelta,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.messages import ToolResult
from agenyx.core.tty import safe
from agenyx.ui.activity import call_line, child_line, clip, line
from agenyx.ui.chat.status import turn_text
from agenyx.ui.markdown import Markdown, render
from agenyx.ui.result import reason
from agenyx.ui.reveal import reveal
from agenyx.ui.scene.pulse import Pulse
from agenyx.ui.spans import Glyphs, Line, Span, cells, wrap
from agenyx.ui.spans import line as styled

_TAIL_ROWS = 3
_CHILD_ROWS = 8
_DIFF_ROWS = 40
_COLUMN = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
_STYLES = {"+": "ok", "-": "error", "@": "code"}


class Transcript:
    """`columns` tells the width. `take` gives the finished lines, `live` what is going on."""

    def __init__(self, columns: Callable[[], int], glyphs: Glyphs, clock: Callable[[], float]) -> None:
        self._columns, self._glyphs, self._clock = columns, glyphs, clock
        self._lines: list[Line] = []
        self._markdown: Markdown | None = None
        self._streamed = False  # text of the current step was shown
        self._kind = ""  # of what was shown last
        self._pulse = Pulse(clock)

    def take(self) -> list[Line]:
        """The lines that were finished since the last time."""
        lines, self._lines = self._lines, list[Line]()
        return lines

    def live(self, rows: int) -> list[Line]:
        """At most `rows` lines, each of them fits the width: unfinished text, running output, what is being done."""
        if (self._pulse.since is None and not self._pulse.running) or rows < 1:
            return []
        width = max(self._columns() - 1, 1)
        doing = styled(_fit(self._now_doing(), width), "dim")
        children = [styled(_fit(f"  {text}", width), "dim") for text in self._pulse.children.values()]
        children = children[-max(min(_CHILD_ROWS, rows - 2), 0) :] if rows > 2 else []
        left = rows - 2 - len(children)
        tail = self._tail(width)[-min(_TAIL_ROWS, left) :] if left > 0 else []
        left -= len(tail)
        text = self._markdown.live(left) if self._markdown is not None and left > 0 else []
        return [*text, (), *tail, *children, doing][-rows:]

    # --- what the person and the program say -------------------------------------------------------------------------

    def typed(self, text: str, *, steer: bool = False) -> None:
        """The input of the person, as it was sent."""
        head, *others = safe(text).split("\n")
        self._gap("typed")
        self._lines.append((("prompt", "> "), ("bold", head)))
        self._lines += [(("prompt", "  "), ("bold", other)) for other in others]
        self._kind = "typed"
        if steer:
            self.say("The model reads this at its next step.", "dim")

    def say(self, text: str, style: str = "") -> None:
        """Words of the program, line by line; columns are two blanks apart, and what is wrapped stays in its own."""
        self._gap("said")
        for row in safe(text).rstrip("\n").split("\n"):
            lead = _COLUMN.match(row)
            indent = " " * (lead.end() if lead and lead.end() < self._columns() // 2 else 0)
            self._lines += wrap(styled(row, style), self._columns(), indent)

    def complain(self, message: str, fix: str = "") -> None:
        self._gap("said")
        self._lines += wrap(styled(safe(f"! {clip(message, 2000)}"), "error"), self._columns(), "  ")
        if fix:
            self._lines += wrap(styled(safe(f"  {clip(fix, 2000)}")), self._columns(), "  ")

    def restart(self, talk: object) -> None:
        """Lines that were written stay."""

    def diff(self, text: str) -> None:
        """A difference, coloured by the first sign of each line."""
        self._gap("said")
        self._lines += [_diff_line(row) for row in safe(text).rstrip("\n").split("\n")]

    # --- what happens ------------------------------------------------------------------------------------------------

    def apply(self, event: AgentEvent) -> None:
        """Take one event in."""
        body = event.body
        known = isinstance(body, CallFinished) and body.result.call in self._pulse.calls
        self._pulse.apply(event)
        if event.agent and not isinstance(body, ApprovalAsked | ApprovalSettled):
            self._child(event.agent, body)
            return
        match body:
            case TextDelta(_, text):
                self._text(text)
            case TurnStarted():
                self._streamed = False
            case StepStarted():
                self._end_text()
                self._streamed = False
            case Done() | Failure():
                self._end_text()
            case Retrying():
                self._end_text()
                self._activity(line(body), "warn")
            case CallAccepted(call):
                self._activity(call_line(call), "tool")
            case ApprovalSettled():
                self._kind = "asked"  # the question stands on the screen
            case EffectStarted(calls):
                self._started(calls)
            case CallFinished(result, name, _):
                self._finished_call(result, name, line(body), known=known)
            case TurnFinished():
                self._finished(body)
            case ApprovalAsked() | ReasoningDelta() | CallDraft() | Output():
                pass
            case _:
                self._activity(line(body), "warn")

    def _child(self, agent: str, body: Body) -> None:
        """Of what a subagent does only what a person has to know."""
        match body:
            case TurnFinished(outcome) if self._pulse.since is None:  # it worked beside the conversation
                self._activity(f"  {agent}: {outcome.kind.replace('_', ' ')}\n", "dim")
            case Notice("warning" | "error"):
                self._activity(child_line(agent, body), "warn")
            case _:
                pass

    def _text(self, text: str) -> None:
        if self._markdown is None:
            self._markdown = Markdown(self._columns(), self._glyphs)
        self._add_text(self._markdown.feed(text))

    def _add_text(self, lines: list[Line]) -> None:
        if lines:
            self._gap("text")
            self._lines += lines
            self._streamed = True

    def _end_text(self) -> None:
        if self._markdown is not None:
            self._add_text(self._markdown.end())
            self._markdown = None

    def _started(self, calls: tuple[str, ...]) -> None:
        for call in calls:
            _, effects = self._pulse.calls.get(call, (None, None))
            if effects and effects.writes and effects.preview and call not in self._pulse.seen:
                rows = reveal(effects.preview).text.rstrip("\n").split("\n")
                self._lines += [_diff_line(f"  {row}", 2) for row in rows[:_DIFF_ROWS]]
                if len(rows) > _DIFF_ROWS:
                    self._lines.append(styled(f"  ... {len(rows) - _DIFF_ROWS} more lines", "dim"))

    def _finished_call(self, result: ToolResult, name: str, text: str, *, known: bool) -> None:
        if not known:  # it was refused before it was taken on
            self._activity(f"* {name}\n", "tool")
        self._activity(text, "dim" if result.status == "ok" else "error")

    def _finished(self, finished: TurnFinished) -> None:
        self._end_text()
        if finished.text.strip() and not self._streamed:
            self._add_text(render(finished.text, self._columns(), self._glyphs))
        if finished.outcome.kind != "done":
            self.complain(*reason(finished))
        self._gap("end")
        self._lines.append(styled(turn_text(finished), "dim"))

    def _activity(self, text: str, style: str) -> None:
        if text:
            self._end_text()
            self._gap("activity")
            for row in safe(text).rstrip("\n").split("\n"):
                self._lines += wrap(styled(row, style), self._columns(), "    ")

    def _gap(self, kind: str) -> None:
        """One blank line between things of different kinds."""
        if self._kind and self._kind != kind:
            self._lines.append(())
        self._kind = kind

    def _now_doing(self) -> str:
        pulse = self._pulse
        seconds = self._clock() - (pulse.since or 0.0)
        if pulse.running:
            call, begun = next(iter(pulse.running.items()))
            seconds = self._clock() - begun
            known = pulse.calls.get(call)
            name = call_line(known[0]).strip().removeprefix("* ") if known else "a call"
            others = f" and {len(pulse.running) - 1} more" if len(pulse.running) > 1 else ""
            doing = f"running {name}{others}"
        else:
            doing = pulse.doing or "working"
        return f"{seconds:.0f} s{self._glyphs.dot}Ctrl+C stops{self._glyphs.dot}{doing}"

    def _tail(self, width: int) -> list[Line]:
        """The last output of the running call that printed last."""
        data = next(reversed(self._pulse.output.values()), b"")
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        rows = [row for row in islice(reversed(text.split("\n")), _TAIL_ROWS + 1) if row.strip()]
        return [styled("  " + _fit(safe(row.expandtabs(4)), width - 2), "dim") for row in reversed(rows)]


def _fit(text: str, width: int) -> str:
    """The beginning of a text on one line, at most `width` columns."""
    text = safe(" ".join(text.split("\n")))
    while cells(text) > width:
        text = text[: max(len(text) - max((cells(text) - width) // 2, 1), 0)]
    return text


def _diff_line(row: str, skip: int = 0) -> Line:
    style = _STYLES.get(row[skip : skip + 1], "")
    span: Span = (style, row)
    return (span,) if row else ()
