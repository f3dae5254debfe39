"""The one table of the command line: parser, help, completion, documentation and conflicts are read from it.

It owns names, value rules and which flags exclude each other. It must stay importable in a few milliseconds
(`--help` needs it), so it uses neither typing nor msgspec.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
FORMATS = ("text", "json")
EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
APPROVALS = ("ask", "defer")
SHELLS = ("bash", "zsh", "fish")
MOST_STEPS = 100_000
MOST_SESSIONS = 500  # of one page (reference: AgentX §1.3)


class Flag:
    """One flag. `value` is the placeholder shown for its value, "" for a boolean flag.

    `check` returns what is wrong with a value, or "". `once`: two different values are an error; `many`: all values
    count, joined by commas; else the last wins.
    """

    __slots__ = ("check", "choices", "complete", "default", "field", "group", "many", "names", "once", "text", "value")

    def __init__(
        self,
        group: str,
        names: tuple[str, ...],
        field: str,
        text: str,
        value: str = "",
        *,
        choices: tuple[str, ...] = (),
        default: str = "",
        check: Callable[[str], str] | None = None,
        complete: str = "",
        once: bool = False,
        many: bool = False,
    ) -> None:
        self.many = many
        self.group, self.names, self.field, self.text, self.value = group, names, field, text, value
        self.choices, self.default, self.check, self.complete, self.once = choices, default, check, complete, once

    @property
    def name(self) -> str:
        """The name used in messages: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])


class Options:
    """What the command line said. Fields bear the names of the table; `prompt` is the positionals, joined."""

    def __init__(self) -> None:
        self.print_ = False
        self.output_format = ""
        self.model = ""
        self.provider = ""
        self.base_url = ""
        self.effort = ""
        self.record = ""
        self.replay = ""
        self.replay_loose = False
        self.list_providers = False
        self.permission_mode = ""
        self.dangerous = False
        self.allowed_tools = ""
        self.disallowed_tools = ""
        self.tool_set = ""
        self.approvals = ""
        self.max_steps = ""
        self.max_budget_usd = ""
        self.max_tokens = ""
        self.cwd = ""
        self.trust = False
        self.bare = False
        self.continue_ = False
        self.resume = ""
        self.fork = False
        self.rebind = False
        self.no_persistence = False
        self.list_sessions = False
        self.delete_session = ""
        self.session_revision = ""
        self.session_page_size = ""
        self.session_page_token = ""
        self.verbose = False
        self.debug = False
        self.help = False
        self.version = False
        self.prompt = ""
        self.yielding: tuple[str, ...] = ()  # fields that settings.toml of the home filled in
        self.stdin = False  # a lone "-" was given: read standard input to its end

    @property
    def mode(self) -> str:
        """The permission mode that follows from the flags."""
        return "bypassPermissions" if self.dangerous else self.permission_mode or "default"

    @property
    def steps(self) -> int:
        """`--max-steps` as a number, 0 when it was not given."""
        return int(self.max_steps or 0)


class Conflict:
    """Two flags that exclude each other; the rule holds when `applies` says so, for the parsed options."""

    __slots__ = ("applies", "fix", "message")

    def __init__(self, applies: Callable[[Options], bool], message: str, fix: str) -> None:
        self.applies, self.message, self.fix = applies, message, fix


def _steps(value: str) -> str:
    if value.isascii() and value.isdigit() and 0 < int(value[:9]) <= MOST_STEPS and len(value) <= 9:
        return ""
    return f"is not a whole number from 1 to {MOST_STEPS}"


def _dollars(value: str) -> str:
    whole, dot, part = value.partition(".")
    digits = whole + part
    if digits.isascii() and digits.isdigit() and len(value) <= 12 and float(value) > 0 and (part or not dot):
        return ""
    return "is not an amount of US dollars above 0"


def _tokens(value: str) -> str:
    if value.isascii() and value.isdigit() and len(value) <= 12 and int(value) > 0:
        return ""
    return "is not a whole number of tokens above 0"


def _page_size(value: str) -> str:
    good = value.isascii() and value.isdigit() and len(value) < 5 and 0 < int(value) <= MOST_SESSIONS
    return "" if good else f"is not a whole number from 1 to {MOST_SESSIONS}"


RUN, MODEL, PERMISSIONS, SESSION, OTHER = "Run", "Model", "Permissions", "Sessions", "Diagnostics"
GROUPS = (RUN, MODEL, PERMISSIONS, SESSION, OTHER)

FLAGS = (
    Flag(RUN, ("-p", "--print"), "print_", "do one task without a conversation, print the answer and exit"),
    Flag(
        RUN,
        ("--output-format",),
        "output_format",
        "what standard output gets: the answer as text, or one JSON result record",
        "FORMAT",
        choices=FORMATS,
        default="text",
    ),
    Flag(RUN, ("--cwd",), "cwd", "work in this directory instead of the current one", "DIR", complete="directory"),
    Flag(
        RUN,
        ("--max-steps", "--max-turns"),
        "max_steps",
        "end the run after so many model responses",
        "N",
        check=_steps,
        default="100",
    ),
    Flag(
        RUN,
        ("--max-budget-usd",),
        "max_budget_usd",
        "end the run once its responses have cost so much (exit code 6); the price of the model must be known",
        "USD",
        check=_dollars,
    ),
    Flag(
        RUN,
        ("--max-tokens",),
        "max_tokens",
        "end the run once it has used so many tokens, input and output together (exit code 6)",
        "N",
        check=_tokens,
    ),
    Flag(MODEL, ("--model",), "model", "the model to use", "NAME"),
    Flag(MODEL, ("--provider",), "provider", "the provider to use (see --list-providers)", "ID", once=True),
    Flag(MODEL, ("--base-url",), "base_url", "address of an OpenAI-compatible server", "URL"),
    Flag(
        MODEL,
        ("--effort",),
        "effort",
        "how much the model thinks before it answers",
        "LEVEL",
        choices=EFFORTS,
    ),
    Flag(
        MODEL,
        ("--list-providers",),
        "list_providers",
        "show what is configured, as a table or with --output-format json; asks no server",
    ),
    Flag(
        OTHER,
        ("--record",),
        "record",
        "write what goes to and from the model server to this new file, credentials masked",
        "FILE",
        once=True,
    ),
    Flag(OTHER, ("--replay",), "replay", "play such a recording in place of a model server", "FILE", once=True),
    Flag(
        OTHER,
        ("--replay-loose",),
        "replay_loose",
        "with --replay: answer by order alone, whatever is asked",
    ),
    Flag(
        PERMISSIONS,
        ("--permission-mode",),
        "permission_mode",
        "what happens unasked: in default only looking; acceptEdits also edits files of the workspace; "
        "plan refuses everything but looking; dontAsk refuses what would be asked",
        "MODE",
        choices=MODES,
        default="default",
        once=True,
    ),
    Flag(
        PERMISSIONS,
        ("--allowed-tools", "--allowedTools"),
        "allowed_tools",
        'rules for calls that run unasked, between commas or blanks, such as "Bash(npm test),Edit(src/**)"',
        "RULES",
        many=True,
    ),
    Flag(
        PERMISSIONS,
        ("--disallowed-tools", "--disallowedTools"),
        "disallowed_tools",
        'rules for calls that are refused, such as "Bash(git push:*),Read(.env)"',
        "RULES",
        many=True,
    ),
    Flag(
        PERMISSIONS,
        ("--dangerously-skip-permissions", "--bypass-permissions"),
        "dangerous",
        "ask for almost nothing (bypassPermissions); only where nothing can be damaged, such as a container",
    ),
    Flag(
        PERMISSIONS,
        ("--trust-workspace",),
        "trust",
        "let what acts in the workspace (AGENTS.md, CLAUDE.md, .agenyx/settings.toml) in for this run without asking",
    ),
    Flag(
        PERMISSIONS,
        ("--approvals",),
        "approvals",
        "what a single task does with a call that needs a yes: ask at the terminal, refusing it where there is none, "
        "or defer: end with exit code 3 and wait for agenyx approvals",
        "HOW",
        choices=APPROVALS,
        default="ask",
        once=True,
    ),
    Flag(RUN, ("--bare",), "bare", "leave out all instructions and settings of the workspace"),
    Flag(
        MODEL,
        ("--tool-set",),
        "tool_set",
        "which tools the model gets: all, the core of them (files, search, shell), or the least",
        "SET",
        choices=("default", "full", "core", "small"),
    ),
    Flag(SESSION, ("-c", "--continue"), "continue_", "go on with the latest session of this directory"),
    Flag(SESSION, ("--resume",), "resume", "go on with the session of this id, or title", "ID", once=True),
    Flag(
        SESSION,
        ("--fork-session",),
        "fork",
        "with --continue or --resume: go on with a copy, and leave the session as it is",
    ),
    Flag(
        SESSION,
        ("--rebind",),
        "rebind",
        "with --continue or --resume: go on with another provider, without what only the one before could read",
    ),
    Flag(SESSION, ("--no-session-persistence",), "no_persistence", "keep the session in memory only"),
    Flag(SESSION, ("--list-sessions",), "list_sessions", "for programs: sessions of --cwd DIR with their revisions"),
    Flag(
        SESSION,
        ("--session-page-size",),
        "session_page_size",
        "with --list-sessions: so many at once",
        "N",
        check=_page_size,
        default="100",
        once=True,
    ),
    Flag(
        SESSION, ("--session-page-token",), "session_page_token", "with --list-sessions: the next page", "T", once=True
    ),
    Flag(
        SESSION, ("--delete-session",), "delete_session", "for programs: delete it, if it is unchanged", "ID", once=True
    ),
    Flag(
        SESSION,
        ("--session-revision",),
        "session_revision",
        "with --delete-session: as it was listed",
        "REV",
        once=True,
    ),
    Flag(OTHER, ("--verbose",), "verbose", "show activity on standard error, also when that is not a terminal"),
    Flag(OTHER, ("-d", "--debug"), "debug", "write diagnostics to standard error, one JSON object a line"),
    Flag(OTHER, ("-h", "--help"), "help", "show this help"),
    Flag(OTHER, ("-v", "--version"), "version", "show the version"),
)

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
        lambda o: o.permission_mode == "bypassPermissions" and not o.dangerous,
        "--permission-mode bypassPermissions needs --dangerously-skip-permissions",
        "Give that flag as well, if nothing here can be damaged; otherwise try --permission-mode acceptEdits.",
    ),
    Conflict(
        lambda o: o.provider == "local" and bool(o.base_url),
        "--provider local and --base-url exclude each other",
        "Leave one of the two out.",
    ),
)
