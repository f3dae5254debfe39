"""What the result of a hook means for its event, and what several hooks say together. Pure; runs nothing.

The contract of exit codes and of the JSON on standard output is that of the protocols reference, hooks. A hook that
fails is never taken for a yes, and never for nothing: it blocks or it is told, as its `on_error` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast

from msgspec import Struct, field
from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.hooks import NOTHING, Event, Said
from agenyx.core.json import scrub
from agenyx.core.tty import safe
from agenyx.ext.hooks.model import Entry, HookResult

CONTEXT_CHARS = 10_000  # of what one hook tells the model
REASON_CHARS = 2_000
MESSAGE_CHARS = 1_000
HOLDS: frozenset[Event] = frozenset(
    {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop"}
)
"""The events at which "deny" holds something back."""
_TOLD: frozenset[Event] = frozenset({"PostToolUse", "PostToolUseFailure"})  # at which it is told to the model
FAILS: frozenset[Event] = HOLDS - {"Stop", "SubagentStop"}
"""The events that a hook which fails can hold back: a turn always ends."""
_PLAIN: frozenset[Event] = frozenset({"UserPromptSubmit", "SessionStart"})  # whose plain output is context
_UNUSED = [
    "updatedToolOutput",
    "updatedMCPToolOutput",
    "suppressOriginalPrompt",
    "initialUserMessage",
    "sessionTitle",
    "watchPaths",
    "reloadSkills",
    "retry",
]
_RANK = {"": 0, "allow": 1, "ask": 2, "deny": 3}


class _Decision(Struct, frozen=True):
    behavior: Literal["allow", "deny"]
    updatedInput: dict[str, Any] | None = None
    message: str = ""
    interrupt: bool = False


class _Specific(Struct, frozen=True):
    """What is said for one event. Members that are not here are looked at as `_UNUSED`."""

    hookEventName: str = ""
    hook_event_name: str = ""
    permissionDecision: Literal["allow", "ask", "deny", "defer"] | None = None
    permissionDecisionReason: str | None = None
    updatedInput: dict[str, Any] | None = None
    additionalContext: str | None = None
    decision: _Decision | None = None


class _Answer(Struct, frozen=True):
    go_on: bool = field(default=True, name="continue")
    stopReason: str | None = None
    suppressOutput: bool = False
    systemMessage: str | None = None
    decision: Literal["approve", "allow", "block", "deny", "ask"] | None = None
    reason: str | None = None
    hookSpecificOutput: _Specific = _Specific()
    runs_on: bool = field(default=False, name="async")


def said(event: Event, entry: Entry, result: HookResult) -> Said:
    """What one hook said."""
    if result.failure:
        return _failed(event, entry, result.failure)
    if result.code == 2:
        return _blocked(event, entry, result)
    if result.code:
        why = f"it ended with exit code {result.code}" if result.code > 0 else f"signal {-result.code} ended it"
        last = _line(result.errors) or _line(result.output)
        return _failed(event, entry, f"{why}{f': {last}' if last else ''}")
    text = result.output.strip()
    if not text.startswith("{"):
        context = (_cut(text, CONTEXT_CHARS),) if text and event in _PLAIN else ()
        return Said(context=context, ran=1)
    try:
        value: Any = json.decode(text)
        answer = json.convert(value, _Answer)
    except json.JsonError as error:
        return _failed(event, entry, f"its answer does not have the agreed form: {error}")
    return _answered(event, entry, answer, value)


def together(event: Event, heard: Sequence[tuple[Entry, Said]]) -> Said:
    """What all hooks of an event said, in their order: deny wins over ask, ask over allow.

    Of several that change the arguments the last counts, and then only its own yes: the others judged other arguments.
    """
    if not heard:
        return NOTHING
    said = [one for _, one in heard]
    messages = tuple(text for one in said for text in one.messages)
    problems = [text for one in said for text in one.problems]
    changing = [one for one in said if one.args is not None]
    args = changing[-1].args if changing else None
    if len({one.args for one in changing}) > 1:
        problems.append(f"{len(changing)} hooks of {event} changed the arguments; those of the last count")
    deciding = [one for one in said if one.decision != "allow" or args is None or one is changing[-1]]
    best = max(deciding, key=lambda one: _RANK[one.decision], default=NOTHING).decision
    stops = [one for one in said if one.stop]
    reasons = dict.fromkeys(one.reason for one in (stops or [o for o in deciding if o.decision == best]) if one.reason)
    return Said(
        best,
        "; ".join(reasons)[: 2 * REASON_CHARS],
        None if best == "deny" else args,
        tuple(text for one in said for text in one.context),
        bool(stops),
        messages,
        tuple(problems),
        len(said),
    )


def meaning(event: Event, said: Said) -> str:
    """What a run would follow from it, in a sentence, for people who try a hook."""
    if said.stop:
        return f"the turn would stop: {said.reason or 'no reason given'}"
    parts: list[str] = []
    match said.decision:
        case "deny" if event in HOLDS:
            what = {"Stop": "the turn would go on", "SubagentStop": "the subagent would go on"}
            parts.append(f"{what.get(event, 'it would be blocked')}: {said.reason or 'no reason given'}")
        case "deny":
            parts.append(f"it would be told: {said.reason or 'no reason given'}")
        case "ask":
            parts.append("the person would be asked" + (f": {said.reason}" if said.reason else ""))
        case "allow":
            parts.append("it would not be asked about for want of a rule" + (f": {said.reason}" if said.reason else ""))
        case _:
            parts.append("nothing would be held back")
    if said.args is not None:
        parts.append(f"the arguments would become {said.args}")
    parts += [f"the model would read: {text}" for text in said.context]
    return "; ".join(parts)


def _failed(event: Event, entry: Entry, why: str) -> Said:
    what = f"The hook {shown(entry)} for {event} failed: {_cut(why, REASON_CHARS)}"
    if entry.on_error == "block" and event in FAILS:
        return Said("deny", f"{what}. It has to work for this to go on (on_error = block)", problems=(what,), ran=1)
    return Said(problems=(f"{what}. Nothing was held back (on_error = warn)",), ran=1)


def _blocked(event: Event, entry: Entry, result: HookResult) -> Said:
    """Exit code 2. A reason that is missing does not make it a yes."""
    reason = _cut(result.errors.strip(), REASON_CHARS)
    if not reason and result.output.strip().startswith("{"):
        try:
            answer = json.convert(json.decode(result.output), _Answer)
            given = answer.hookSpecificOutput.permissionDecisionReason or answer.reason or ""
            reason = _cut(given.strip(), REASON_CHARS)
        except json.JsonError:
            pass
    reason = reason or f"the hook {shown(entry)} blocked it and gave no reason"
    if event in HOLDS or event in _TOLD:
        return Said("deny", reason, ran=1)
    return Said(
        problems=(f"The hook {shown(entry)} for {event} blocks, which holds nothing back here: {reason}",), ran=1
    )


def _answered(event: Event, entry: Entry, answer: _Answer, value: Any) -> Said:
    own, problems = answer.hookSpecificOutput, list[str]()
    told = own.hookEventName or own.hook_event_name
    if told and told != event:
        return _failed(event, entry, f"its answer is for {_cut(told, 60)!r}")
    if answer.runs_on:
        return _failed(event, entry, "it wants to run on in the background, which is not supported")
    inside = cast("dict[str, dict[str, Any]]", value).get("hookSpecificOutput", {})
    unused = [name for name in _UNUSED if inside.get(name)]
    unused += ["updatedPermissions"] if "updatedPermissions" in (inside.get("decision") or {}) else []
    if unused:
        problems.append(f"The hook {shown(entry)} for {event} gave {', '.join(unused)}, which Agenyx does not use")
    decision = _decision(event, answer)
    reason = own.permissionDecisionReason or answer.reason or ""
    changed, stop = own.updatedInput if event == "PreToolUse" else None, not answer.go_on
    if event == "PermissionRequest" and own.decision is not None:
        decision, reason = own.decision.behavior, own.decision.message or reason
        changed, stop = own.decision.updatedInput, stop or own.decision.interrupt
    if decision in ("allow", "ask") and event not in ("PreToolUse", "PermissionRequest"):
        decision = ""
    if stop:
        reason = answer.stopReason or reason or f"the hook {shown(entry)} stopped the turn"
    elif decision == "deny" and not reason:
        reason = f"the hook {shown(entry)} blocked it and gave no reason"
    if decision == "deny" and event not in HOLDS | _TOLD:
        problems.append(f"The hook {shown(entry)} for {event} blocks, which holds nothing back here: {_line(reason)}")
        decision, reason = "", ""
    context, message = own.additionalContext or "", answer.systemMessage or ""
    return Said(
        decision,
        _cut(reason, REASON_CHARS),
        None if changed is None else json.encode(changed).decode(),
        (_cut(context, CONTEXT_CHARS),) if context.strip() else (),
        stop,
        (_cut(message, MESSAGE_CHARS),) if message.strip() else (),
        tuple(problems),
        1,
    )


def _decision(event: Event, answer: _Answer) -> Literal["", "allow", "ask", "deny"]:
    match answer.hookSpecificOutput.permissionDecision if event == "PreToolUse" else None, answer.decision:
        case ("deny", _) | (None, "block" | "deny"):
            return "deny"
        case ("ask", _) | (None, "ask"):
            return "ask"
        case ("allow", _) | (None, "approve" | "allow"):
            return "allow"
        case _:
            return ""


def shown(entry: Entry) -> str:
    """A hook in a sentence: what it does and where it stands."""
    where = f" ({entry.source})" if entry.source else ""
    return f"{_line(entry.name)!r}{where}"


def masked(result: HookResult, mask: Iterable[Any]) -> HookResult:
    """The result without secrets; `mask` are functions of text."""
    for hide in mask:
        output, errors, failure = hide(result.output), hide(result.errors), hide(result.failure)
        result = replace(result, output=output, errors=errors, failure=failure)
    return result


def _cut(text: str, limit: int) -> str:
    text = safe(scrub(text.replace("\r\n", "\n"))).strip()
    return text if len(text) <= limit else f"{text[:limit]} [… {len(text) - limit} characters left out]"


def _line(text: str) -> str:
    """The last line that says something, short."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _cut(lines[-1], 200) if lines else ""
