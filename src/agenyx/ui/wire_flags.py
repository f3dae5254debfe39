"""The rows of the table of flags that are for programs which talk with us in JSON lines."""

from __future__ import annotations

from agenyx.ui.flag import MODEL, PERMISSIONS, RUN, SESSION, Flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INPUTS = ("text", "stream-json")


def _uuid(value: str) -> str:
    parts = value.split("-")
    digits = set("".join(parts).lower())
    good = [len(part) for part in parts] == [8, 4, 4, 4, 12] and digits <= set("0123456789abcdef")
    return "" if good and value == value.lower() else "is not a UUID in small letters"


def _sources(value: str) -> str:
    strange = [name for name in value.split(",") if name.strip() not in ("user", "project", "local", "")]
    return f"names {strange[0]}, which is none of user, project and local" if strange else ""


def _tool(value: str) -> str:
    return "" if value == "stdio" else "is not stdio, the only place to ask at"


WIRE: Sequence[Flag] = (
    Flag(
        RUN,
        ("--input-format",),
        "input_format",
        "how the prompt comes: as text, or with --output-format stream-json as JSON lines on standard input",
        "FORMAT",
        choices=INPUTS,
        default="text",
        once=True,
    ),
    Flag(RUN, ("--include-partial-messages",), "partial", "with stream-json: also the answer while it is made"),
    Flag(RUN, ("--include-hook-events",), "hook_events", "with stream-json: also hooks as they run"),
    Flag(RUN, ("--replay-user-messages",), "replay_user", "with stream-json in and out: repeat each prompt taken up"),
    Flag(
        RUN,
        ("--system-prompt",),
        "system_prompt",
        "use this in place of the built-in instructions of a new session; an empty text leaves them out",
        "TEXT",
        once=True,
        empty=True,
    ),
    Flag(
        RUN,
        ("--append-system-prompt",),
        "append_system",
        "add this to the instructions of a new session",
        "TEXT",
        once=True,
        empty=True,
    ),
    Flag(
        PERMISSIONS,
        ("--permission-prompt-tool",),
        "prompt_tool",
        "with stream-json in and out: stdio asks the program that started us",
        "stdio",
        check=_tool,
        once=True,
    ),
    Flag(
        RUN,
        ("--tools",),
        "tools",
        "offer only these built-in tools, by name with commas between; an empty list offers none, default all",
        "NAMES",
        once=True,
        empty=True,
    ),
    Flag(
        RUN,
        ("--json-schema",),
        "json_schema",
        "with --output-format stream-json: the answer is one JSON value that fits this schema",
        "JSON",
        once=True,
    ),
    Flag(
        RUN,
        ("--setting-sources",),
        "sources",
        "whose files count: user, project, local, with commas between; an empty list means none, which is like --bare",
        "LIST",
        check=_sources,
        once=True,
        empty=True,
    ),
    Flag(
        RUN,
        ("--settings",),
        "settings",
        "settings for this run: JSON with permissions, hooks, env and model as other agents have them, or a file",
        "JSON",
        once=True,
    ),
    Flag(
        PERMISSIONS,
        ("--add-dir",),
        "add_dir",
        "add this folder to the workspace, with the same rules; may be given several times",
        "DIR",
        complete="directory",
        many="\0",
    ),
    Flag(
        MODEL,
        ("--fallback-model",),
        "fallback",
        "a model of the same server that goes on with a turn where the chosen one is overloaded or out of order",
        "NAME",
        once=True,
    ),
    Flag(RUN, ("--owned-process-tree",), "owned", "lead a process group of our own, so that a host can end all of it"),
    Flag(
        PERMISSIONS,
        ("--allow-dangerously-skip-permissions",),
        "allow_bypass",
        "permit the mode bypassPermissions, without beginning in it",
    ),
    Flag(
        SESSION,
        ("--resume-session-at",),
        "resume_at",
        "with --resume or --continue: go on after the message with this uuid, as it was told in JSON lines",
        "UUID",
        check=_uuid,
        once=True,
    ),
    Flag(
        SESSION,
        ("--resume-drops-turn",),
        "drops_turn",
        "with --resume-session-at: refuse to leave behind more than the turn of this prompt",
        "UUID",
        once=True,
    ),
    Flag(SESSION, ("--session-id",), "session_id", "the id of the new session, a UUID", "UUID", check=_uuid, once=True),
)
