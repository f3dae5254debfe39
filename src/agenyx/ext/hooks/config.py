"""Reads hooks in the JSON form that several agents share: events, in them groups with a matcher, in them hooks.

Pure. One entry that is wrong is left out with a phrase that says why, its neighbours stay. What this version does not
do is told, never passed over in silence. The form of other agents' settings: protocols reference, hooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast, get_args

from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.hooks import Event
from agenyx.ext.hooks.model import MOST_SECONDS, SECONDS, Entry, OnError, Origin, Problem
from agenyx.ext.sources import Source

EVENTS: tuple[Event, ...] = get_args(Event)
MOST = 256  # hooks of all files together
_MOST_TEXT = 64 << 10
_FOREIGN = ("settings.json", "settings.local.json")
_WORDS = re.compile(r"[A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)*")
_FIELDS = frozenset(
    [
        "type",
        "command",
        "args",
        "shell",
        "timeout",
        "if",
        "once",
        "on_error",
        "onFailure",
        "url",
        "headers",
        "allowedEnvVars",
        "allowed_env_vars",
        "statusMessage",
        "description",
        "name",
        "id",
    ]
)
_KINDS = {"prompt": "asks a model", "agent": "starts an agent", "mcp_tool": "calls a tool of an MCP server"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def read(sources: Iterable[Source]) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """All hooks of these files in their order, and what of them does not count. Scripts among the files are no JSON."""
    entries, problems = list[Entry](), list[Problem]()
    for source in sources:
        if source.path.endswith(".json"):
            reader = _Reader(source.shown, source.origin, imported=is_imported(source))
            reader.file(source.data)
            entries += reader.entries
            problems += [Problem(source.shown, text) for text in reader.problems]
    if len(entries) > MOST:
        problems.append(Problem(entries[MOST].source, f"there are more than {MOST} hooks; the later ones do not count"))
    return tuple(entries[:MOST]), tuple(problems)


def is_imported(source: Source) -> bool:
    """Whether a file is the settings file of another agent, of which only the hooks are taken."""
    return source.path in _FOREIGN and source.place.endswith(".claude")


class _Reader:
    def __init__(self, shown: str, origin: Origin, *, imported: bool) -> None:
        self._origin: Origin = origin
        self._shown, self._imported = shown, imported
        self.entries: list[Entry] = []
        self.problems: list[str] = []
        self._number = 0

    def file(self, data: bytes) -> None:
        try:
            whole: Any = json.strict(data.decode("utf-8-sig", "replace"), cast("type[Any]", Any))
        except json.JsonError as error:
            self.problems.append(f"it is not JSON: {error}")
            return
        hooks = cast("dict[str, Any]", whole).get("hooks") if isinstance(whole, dict) else None
        if hooks is None and self._imported and isinstance(whole, dict):
            return  # settings without hooks
        if not isinstance(hooks, dict):
            self.problems.append('it needs an object with a member "hooks" that holds the events')
            return
        for event, groups in cast("dict[str, Any]", hooks).items():
            if event not in EVENTS:
                self.problems.append(f"the event {_short(event)} does not occur in Agenyx; its hooks never run")
            elif not isinstance(groups, list):
                self.problems.append(f"{event}: it needs a list")
            else:
                for group in cast("list[Any]", groups):
                    self._group(event, group)

    def _group(self, event: Event, group: Any) -> None:
        if not isinstance(group, dict):
            self.problems.append(f"{event}: {_short(group)} is no object")
            return
        members = cast("dict[str, Any]", group)
        matcher, hooks = members.get("matcher", ""), members.get("hooks")
        if not isinstance(matcher, str):
            self.problems.append(f"{event}: the matcher {_short(matcher)} is no text")
            return
        if why := wrong_matcher(matcher):
            self.problems.append(f"{event}: {why}")
            return
        if not isinstance(hooks, list):
            self.problems.append(f'{event}: a group needs a list "hooks"')
            return
        for hook in cast("list[Any]", hooks):
            self._number += 1
            try:
                self.entries.append(self._hook(event, matcher, hook))
            except AgenyxError as error:
                self.problems.append(f"{event}, hook {self._number}: {error.message}")

    def _hook(self, event: Event, matcher: str, hook: Any) -> Entry:
        """Raises AgenyxError."""
        if not isinstance(hook, dict):
            raise AgenyxError(f"{_short(hook)} is no object")
        given = _Members(cast("dict[str, Any]", hook))
        kind = given.text("type") or ("http" if "url" in given.members else "command")
        if kind not in ("command", "http"):
            what = _KINDS.get(kind)
            raise AgenyxError(f"hooks of type {_short(kind)} are not supported{f' (it {what})' if what else ''}")
        if given.flag("async") or given.flag("asyncRewake"):
            raise AgenyxError("hooks that run on in the background (async) are not supported")
        strange = sorted(given.members.keys() - _FIELDS - {"async", "asyncRewake"})
        if strange:
            self.problems.append(f"{event}, hook {self._number}: {', '.join(map(_short, strange))} is not known here")
        if kind == "http" and event in ("SessionStart", "SessionEnd"):
            raise AgenyxError(f"{event} takes no http hooks")
        entry = Entry(
            event,
            kind,
            matcher,
            timeout=given.seconds(),
            condition=_condition(given.text("if")),
            once=given.flag("once"),
            on_error=self._on_error(event, given),
            source=self._shown,
            origin=self._origin,
            imported=self._imported,
            number=self._number,
            allowed=given.names("allowedEnvVars") or given.names("allowed_env_vars"),
        )
        return _command(entry, given) if kind == "command" else _http(entry, given)

    def _on_error(self, event: Event, given: _Members) -> OnError:
        said = given.text("on_error") or given.text("onFailure")
        if said not in ("", "block", "warn"):
            raise AgenyxError(f"on_error cannot be {_short(said)}; it is block or warn")
        return "block" if said == "block" or (not said and event == "PreToolUse" and not self._imported) else "warn"


class _Members:
    """The members of a hook, each of the kind that it has to be. The methods raise AgenyxError."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    def text(self, name: str) -> str:
        value = self.members.get(name, "")
        if not isinstance(value, str) or len(value) > _MOST_TEXT or "\0" in value:
            raise AgenyxError(f"{name} is no text, or too long")
        return value

    def flag(self, name: str) -> bool:
        value = self.members.get(name, False)
        if not isinstance(value, bool):
            raise AgenyxError(f"{name} is neither true nor false")
        return value

    def seconds(self) -> float:
        value = self.members.get("timeout", SECONDS)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise AgenyxError(f"timeout is a number of seconds, up to {MOST_SECONDS:g}")
        return min(float(value), MOST_SECONDS)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.members.get(name, [])
        items = cast("list[Any]", value) if isinstance(value, list) else None
        if items is None or not all(isinstance(item, str) and "\0" not in item for item in items):
            raise AgenyxError(f"{name} is no list of texts")
        return tuple(items)

    def names(self, name: str) -> tuple[str, ...]:
        found = self.texts(name)
        if wrong := [item for item in found if not _VARIABLE.fullmatch(item)]:
            raise AgenyxError(f"{name} holds {_short(wrong[0])}, which is no name of a variable")
        return found


def _command(entry: Entry, given: _Members) -> Entry:
    from msgspec.structs import replace

    command, shell = given.text("command").strip(), given.text("shell")
    if not command:
        raise AgenyxError("it has no command")
    if shell not in ("", "bash", "sh"):
        raise AgenyxError(f"the shell {_short(shell)} is not supported; it is bash or sh")
    args = given.texts("args") if "args" in given.members else None
    return replace(entry, command=command, shell=shell, args=args)


def _http(entry: Entry, given: _Members) -> Entry:
    from msgspec.structs import replace

    headers: Any = given.members.get("headers", {})
    pairs = cast("dict[str, Any]", headers) if isinstance(headers, dict) else {"": None}
    for name, value in pairs.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", name) or not isinstance(value, str):
            raise AgenyxError("headers is no object of texts")
        if not value.isprintable() or not value.isascii():
            raise AgenyxError(f"the header {name} holds what a header cannot")
    return replace(entry, url=given.text("url").strip(), headers=dict(pairs))


def _condition(text: str) -> str:
    if text:
        from agenyx.policy.rules import parse_rule

        parse_rule(text, "ask", "user")
    return text


def wrong_matcher(matcher: str) -> str:
    """Why a matcher cannot be used, or ""."""
    if matcher in ("", "*") or _WORDS.fullmatch(matcher):
        return ""
    if len(matcher) > 1000:
        return "the matcher is longer than 1,000 characters"
    try:
        re.compile(matcher)
    except re.error as error:
        return f"the matcher {_short(matcher)} is no regular expression: {error}"
    return ""


def matches(matcher: str, *subjects: str) -> bool:
    """Whether a matcher is for one of these: "" and * are for all, names with | for just these, others are expressions.

    Letter case counts. An expression may match anywhere in the subject.
    """
    if matcher in ("", "*"):
        return True
    if _WORDS.fullmatch(matcher):
        return bool(set(matcher.split("|")) & set(subjects))
    return any(re.search(matcher, subject) for subject in subjects)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return repr(text if len(text) <= 60 else text[:59] + "…")
