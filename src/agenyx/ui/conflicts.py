"""Which flags exclude each other: one table, read by the parser and by the tests."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agenyx.ui.flags import Options


class Conflict:
    """Two flags that exclude each other; the rule holds when `applies` says so, for the parsed options."""

    __slots__ = ("applies", "fix", "message")

    def __init__(self, applies: Callable[[Options], bool], message: str, fix: str) -> None:
        self.applies, self.message, self.fix = applies, message, fix


CONFLICTS = (
    Conflict(
        lambda o: bool(o.session_page_size or o.session_page_token) and not o.list_sessions,
        "--session-page-size and --session-page-token need --list-sessions",
        "Add it, with the --cwd of the workspace.",
    ),
    Conflict(
        lambda o: bool(o.session_revision) and not o.delete_session,
        "--session-revision needs --delete-session ID",
        "Name the session to delete.",
    ),
    Conflict(
        lambda o: bool(o.replay and (o.record or o.provider or o.base_url or o.model or o.effort)),
        "--replay excludes --record, --provider, --base-url, --model and --effort",
        "The recording says which model was asked, and how: leave the others out.",
    ),
    Conflict(
        lambda o: bool(o.replay and o.fallback),
        "--replay and --fallback-model exclude each other",
        "A recording has its answers: leave one of the two out.",
    ),
    Conflict(
        lambda o: o.replay_loose and not o.replay,
        "--replay-loose needs --replay FILE",
        "Name the recording.",
    ),
    Conflict(
        lambda o: o.bare and o.trust,
        "--bare and --trust-workspace exclude each other",
        "Leave one of the two out.",
    ),
    Conflict(
        lambda o: o.plain and o.print_,
        "--plain is for a conversation, so it does not go with -p",
        "Leave it out: what -p prints are plain lines.",
    ),
    Conflict(
        lambda o: o.mcp_strict and not o.mcp_config and o.input_format != "stream-json",
        "--strict-mcp-config needs --mcp-config",
        "Name the servers that may start, or use --bare for none.",
    ),
    Conflict(
        lambda o: o.continue_ and bool(o.resume),
        "--continue and --resume exclude each other",
        "Use --continue for the latest session, or --resume ID for a certain one.",
    ),
    Conflict(
        lambda o: o.fork and not (o.continue_ or o.resume),
        "--fork-session needs --continue or --resume",
        "Say which session to copy: --continue for the latest of this directory, or --resume ID.",
    ),
    Conflict(
        lambda o: bool(o.resume_at) and not (o.continue_ or o.resume),
        "--resume-session-at needs --continue or --resume",
        "Say which session holds the message.",
    ),
    Conflict(
        lambda o: bool(o.drops_turn) and not o.resume_at,
        "--resume-drops-turn needs --resume-session-at",
        "Name the message after which the session goes on.",
    ),
    Conflict(
        lambda o: o.rebind and not (o.continue_ or o.resume),
        "--rebind needs --continue or --resume",
        "Say which session is to go on with another provider.",
    ),
    Conflict(
        lambda o: o.no_persistence and o.continue_,
        "--no-session-persistence and --continue exclude each other",
        "A session that goes on has to be stored: leave one of the two out.",
    ),
    Conflict(
        lambda o: o.no_persistence and bool(o.resume),
        "--no-session-persistence and --resume exclude each other",
        "A session that goes on has to be stored: leave one of the two out.",
    ),
    Conflict(
        lambda o: o.no_persistence and o.approvals == "defer",
        "--no-session-persistence and --approvals defer exclude each other",
        "What waits for an answer has to be stored: leave one of the two out.",
    ),
    Conflict(
        lambda o: o.dangerous and o.permission_mode not in ("", "bypassPermissions"),
        "--dangerously-skip-permissions excludes another --permission-mode",
        "Leave one of the two out.",
    ),
    Conflict(
        lambda o: o.permission_mode == "bypassPermissions" and not (o.dangerous or o.allow_bypass),
        "--permission-mode bypassPermissions needs --dangerously-skip-permissions",
        "Give that flag as well, if nothing here can be damaged; otherwise try --permission-mode acceptEdits.",
    ),
    Conflict(
        lambda o: o.provider == "local" and bool(o.base_url),
        "--provider local and --base-url exclude each other",
        "Leave one of the two out.",
    ),
    Conflict(
        lambda o: o.input_format == "stream-json" and o.output_format != "stream-json",
        "--input-format stream-json needs --output-format stream-json",
        "Add it: what is answered to JSON lines are JSON lines.",
    ),
    Conflict(
        lambda o: (o.partial or o.hook_events) and o.output_format != "stream-json",
        "--include-partial-messages and --include-hook-events need --output-format stream-json",
        "Add it, or leave the flag out.",
    ),
    Conflict(
        lambda o: (o.replay_user or bool(o.prompt_tool)) and o.input_format != "stream-json",
        "--replay-user-messages and --permission-prompt-tool need --input-format stream-json",
        "They are for programs that write JSON lines to standard input.",
    ),
    Conflict(
        lambda o: bool(o.json_schema) and o.output_format != "stream-json",
        "--json-schema needs --output-format stream-json",
        "Add it: the value stands in the record result, as structured_output.",
    ),
    Conflict(
        lambda o: o.bare and "sources" in o.given,
        "--bare and --setting-sources exclude each other",
        "Leave one of the two out.",
    ),
    Conflict(
        lambda o: bool(o.session_id) and bool(o.continue_ or o.resume),
        "--session-id excludes --continue and --resume",
        "It names a new session: leave one of them out.",
    ),
)
