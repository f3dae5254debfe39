"""ExitPlanMode: puts the model's plan before the person, whose answer ends plan mode or keeps it.

The mode is the person's: it comes with their decision about the call and is never an argument of the model. Which tools
plan mode refuses is the policy's.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Protocol, cast

from msgspec import Meta, Struct

from agenyx.core import json
from agenyx.core.messages import Step
from agenyx.core.tools import Effects, Inquiry, Option, Question, ToolSet
from agenyx.core.verdict import Mode
from agenyx.session.state import State
from agenyx.tools.spec import Context, Look, Outcome

_NOBODY = "nobody is here to approve a plan. Present the plan as your final answer"
_OFF = "Plan mode is not on, so there is nothing to leave: go on with the task."
_ASKING, _EDITING = "Yes, and ask me before changes", "Yes, and accept edits of workspace files"
_GOES_ON: dict[str, tuple[Mode, str]] = {
    "default": ("default", "You may change things now; the user is asked as usual."),
    "acceptEdits": ("acceptEdits", "You may edit files of the workspace now; for other changes the user is asked."),
}
_NEVER: dict[str, Any] = {"sets": ()}  # no model is told of it


class ExitPlanModeArgs(Struct, frozen=True, forbid_unknown_fields=True):
    plan: Annotated[str, Meta(description="Markdown")]
    mode: Annotated[Any, Meta(extra_json_schema=_NEVER)] = None


class Modes(Protocol):
    """Whose mode it is."""

    mode: Mode

    def set_mode(self, mode: Mode, *, told: bool = False) -> None: ...


class Standing:
    """The mode where calls are only looked at."""

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode

    def set_mode(self, mode: Mode, *, told: bool = False) -> None:
        self.mode = mode


class ExitPlanMode:
    """It is there in every mode, so that the head of the requests stays as it is."""

    name: ClassVar[str] = "ExitPlanMode"
    aliases: ClassVar[tuple[str, ...]] = ("exit_plan_mode",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[ExitPlanModeArgs]] = ExitPlanModeArgs

    def __init__(self, modes: Modes) -> None:
        self._modes = modes

    async def project(self, args: ExitPlanModeArgs, look: Look) -> Effects:
        if self._modes.mode != "plan" or not args.plan.strip():
            return Effects(parallel=True)
        options = (Option(_ASKING, value="default"), Option(_EDITING, value="acceptEdits"))
        inquiry = Inquiry((Question("Go ahead with this plan?", options),), "mode", _NOBODY)
        return Effects(interact=True, parallel=True, preview=args.plan, inquiry=inquiry)

    async def run(self, args: ExitPlanModeArgs, ctx: Context) -> Outcome:
        """What was judged counts: a person who goes into plan mode meanwhile has not been asked. After a crash the mode
        may have been left already."""
        from agenyx.tools.answers import value_in  # most sessions plan nothing

        asked, chosen = ctx.effects.interact, value_in(ctx.answer, "mode")
        if self._modes.mode == "plan":
            if not args.plan.strip():
                return Outcome.error("The plan is empty: there is nothing that the user could approve.")
            if not asked:
                return Outcome.error("The user switched to plan mode just now. Present the plan again.")
            self._modes.set_mode(_GOES_ON.get(chosen or "default", _GOES_ON["default"])[0], told=True)
        elif not asked and chosen is None:
            return Outcome.ok(_OFF)
        mode = self._modes.mode
        how = _GOES_ON[mode][1] if mode in _GOES_ON else "The user's rules hold as usual."
        return Outcome.ok(f"The user approved the plan. The mode is {mode} now. {how}")


def last_plan(state: State) -> str:
    """The plan that was presented last, "" where there is none."""
    calls = [call.call for call in state.pending.values()]
    for entry in reversed(state.entries):
        calls = [*entry.assistant.calls, *calls] if isinstance(entry, Step) else calls
        for call in reversed(calls):
            if call.name.casefold() in {name.casefold() for name in (ExitPlanMode.name, *ExitPlanMode.aliases)}:
                value = _plan(call.args)
                if value:
                    return value
        calls = []
    return ""


def _plan(args: str) -> str:
    try:
        value: Any = json.decode(args)
    except json.JsonError:
        return ""
    plan = cast("dict[str, Any]", value).get("plan") if isinstance(value, dict) else None
    return plan if isinstance(plan, str) else ""
