"""`--settings`: settings that a host gives on the command line, in the JSON form that several agents share.

They are the person's, like flags, and never a workspace's. What is not understood is told by name; what is understood
and cannot be read is an error, so that no rule is lost in silence. The form: protocols reference, §5.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from agenyx.config.secrets import SECRET_NAME
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.limits import MOST_RULES
from agenyx.core.verdict import Choice
from agenyx.policy.rules import parse_rule
from agenyx.shell.state import steers

if TYPE_CHECKING:
    from agenyx.ext.sources import Source

FLAG = "--settings"
MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
FILE_BYTES = 1 << 20
_SHAPE = 'Write JSON as {"permissions": {"deny": ["Bash(git push:*)"]}}, or name a file that holds it.'
_RULES: tuple[Choice, ...] = ("deny", "ask", "allow")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# Ours, those by which programs reach the network or an agent, and those that are set so that nobody is waited for.
_KEPT = re.compile(
    r"AGENYX_\w*|\w*_proxy|SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|TERM|USER|LOGNAME|TMPDIR|\w+_BASE_URL|\w+_ENDPOINT|"
    r"GH_PROMPT_DISABLED|DEBIAN_FRONTEND|TRACEPARENT|TRACESTATE|OTEL_\w+",
    re.IGNORECASE,
)


class HostSettings(Struct, frozen=True):
    """`rules` with the place of each, for messages; `hooks` is JSON text, "" for none; `env` is for commands alone.

    `no_bypass`: the mode bypassPermissions is forbidden. `warnings` are sentences about what does not count. Empty
    strings mean: not said.
    """

    rules: tuple[tuple[Choice, str, str], ...] = ()
    mode: str = ""
    no_bypass: bool = False
    folders: tuple[str, ...] = ()
    hooks: str = ""
    env: tuple[tuple[str, str], ...] = ()
    model: str = ""
    style: str = ""
    warnings: tuple[str, ...] = ()


def read(given: str) -> HostSettings:
    """`given` is what the flag says: a JSON object, or the name of a file with one. Raises UsageError."""
    members = _object(_text(given))
    unknown = list[str]()
    rules, mode, folders, no_bypass = _permissions(members, unknown)
    env, kept = _env(members.get("env", {}))
    warnings = list[str]()
    _sandbox(members.get("sandbox"), warnings)
    for name in members:
        if name not in ("permissions", "hooks", "env", "model", "outputStyle", "sandbox", "$schema"):
            unknown.append(name)
    if kept:
        warnings.append(f"variables in {FLAG} that commands do not get: {', '.join(kept)}")
    if unknown:
        shown = ", ".join(name[:60] for name in unknown)
        warnings.append(f"keys in {FLAG} that have no effect here: {shown}")
    hooks = members.get("hooks")
    text, problems = _hooks(hooks) if hooks not in (None, {}) else ("", ())
    model, style = (_word(members, name) for name in ("model", "outputStyle"))
    return HostSettings(rules, mode, no_bypass, folders, text, env, model, style, (*warnings, *problems))


def _text(given: str) -> str:
    if given.lstrip().startswith("{"):
        return given
    try:
        with open(os.open(os.path.expanduser(given), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{FLAG} {given[:200]!r} is no JSON object and no file: {why}", _SHAPE) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{FLAG} {given[:200]!r} is not UTF-8 text", "Write it again as UTF-8.") from None


def _object(text: str) -> dict[str, Any]:
    if len(text) > FILE_BYTES:
        raise UsageError(f"{FLAG} has more than {FILE_BYTES >> 20} MiB", "Give less.")
    try:
        return json.strict(text, dict[str, Any])
    except json.JsonError as error:
        raise UsageError(f"{FLAG} holds no JSON object: {error}", _SHAPE) from None


def _permissions(
    members: Mapping[str, Any], unknown: list[str]
) -> tuple[tuple[tuple[Choice, str, str], ...], str, tuple[str, ...], bool]:
    given = members.get("permissions", {})
    if not isinstance(given, dict):
        raise UsageError(f"permissions in {FLAG} is no object", _SHAPE)
    said = cast("dict[str, Any]", given)
    rules = list[tuple[Choice, str, str]]()
    for decision in _RULES:
        where = f"{FLAG}, permissions.{decision}"
        for text in _texts(said.get(decision, []), where):
            try:
                parse_rule(text, decision, "flag", where)
            except UsageError as error:
                raise UsageError(f"{where}: {error.message}", error.fix) from None
            rules.append((decision, text, where))
    if len(rules) > MOST_RULES:
        raise UsageError(f"{FLAG} has {len(rules):,} rules; at most {MOST_RULES:,} are read", "Use wider patterns.")
    mode = said.get("defaultMode", "default")
    if mode not in MODES:
        raise UsageError(
            f"permissions.defaultMode in {FLAG} cannot be {str(mode)[:40]!r}", f"It is {', '.join(MODES)}."
        )
    if (off := said.get("disableBypassPermissionsMode")) not in (None, "disable"):
        raise UsageError(
            f"permissions.disableBypassPermissionsMode in {FLAG} cannot be {str(off)[:40]!r}", "Or leave it."
        )
    if off and mode == "bypassPermissions":
        raise UsageError(f"{FLAG} asks for bypassPermissions and forbids it", "Leave one of the two out.")
    folders = _texts(said.get("additionalDirectories", []), f"{FLAG}, permissions.additionalDirectories")
    known = {*_RULES, "defaultMode", "additionalDirectories", "disableBypassPermissionsMode"}
    unknown += [f"permissions.{name}" for name in said if name not in known]
    return tuple(rules), mode if "defaultMode" in said else "", folders, bool(off)


def _texts(value: object, where: str) -> tuple[str, ...]:
    items = cast("list[Any]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) and item.strip() and "\0" not in item for item in items):
        raise UsageError(f"{where} is no list of texts", _SHAPE)
    return tuple(items)


def _word(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise UsageError(f"{name} in {FLAG} is no name", "Write it as a text, or leave it out.")
    return value.strip()


def _env(given: object) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The variables that commands get, and the names of those that they do not: what makes the same words run other
    code, holds keys, or leads elsewhere."""
    values = cast("dict[str, Any]", given) if isinstance(given, dict) else {"": None}
    kept, found = list[str](), list[tuple[str, str]]()
    for name, value in values.items():
        if not _VARIABLE.fullmatch(name) or not isinstance(value, str) or "\0" in value:
            raise UsageError(f"env in {FLAG} is no object of variables and their texts", 'Write {"NAME": "value"}.')
        if steers(name) or _KEPT.fullmatch(name) or SECRET_NAME.search(name):
            kept.append(name)
        else:
            found.append((name, value))
    return tuple(found), kept


def _sandbox(given: object, warnings: list[str]) -> None:
    """There is no sandbox yet: who cannot do without one must not run without."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise UsageError(f"sandbox in {FLAG} is no object", 'Write {"enabled": false}, or leave it out.')
    said = cast("dict[str, Any]", given)
    if said.get("enabled") is True and said.get("failIfUnavailable") is True:
        raise UsageError(
            f"{FLAG} requires a sandbox, and this version has none",
            "Leave sandbox out: commands are then asked about, as the permission mode and the rules say.",
        )
    if said.get("enabled") is True:
        warnings.append(f"{FLAG} asks for a sandbox, and this version has none: commands are asked about as ever")


def hooks_of(text: str) -> Source:
    """The hooks of a host, as if they stood in a file of the person's."""
    from agenyx.ext.sources import Source

    return Source("hooks", "user", FLAG, "settings.json", FLAG, text.encode())


def _hooks(given: object) -> tuple[str, tuple[str, ...]]:
    """The hooks as text, and what of them never runs. Raises UsageError: a hook may be there to refuse."""
    from agenyx.ext.hooks.config import EVENTS, read

    if not isinstance(given, dict):
        raise UsageError(f"hooks in {FLAG} is no object", "Write events, in them groups with a matcher, in them hooks.")
    events = cast("dict[str, Any]", given)
    strange = [name for name in events if name not in EVENTS]
    text = json.encode({"hooks": {name: events[name] for name in events if name not in strange}}).decode()
    entries, problems = read([hooks_of(text)])
    if len(entries) < sum(1 for _ in _written(events, strange)):
        lost = [one.text for one in problems if not one.text.endswith("is not known here")]
        raise UsageError(f"hooks in {FLAG} cannot be read: {'; '.join(lost)}", "Mend it, or leave the hook out.")
    told = [f"{one.source}: {one.text}" for one in problems]
    if strange:
        told.append(f"events in {FLAG} that do not occur here: {', '.join(name[:60] for name in strange)}")
    return text, tuple(told)


def _written(events: Mapping[str, Any], strange: list[str]) -> Iterator[object]:
    """Each hook that should be there; what has not the shape of one counts as one."""
    for name, groups in events.items():
        if name in strange:
            continue
        for group in cast("list[Any]", groups) if isinstance(groups, list) else [None]:
            members = cast("dict[str, Any]", group) if isinstance(group, dict) else {}
            hooks = members.get("hooks")
            yield from cast("list[Any]", hooks) if isinstance(hooks, list) else [None]
