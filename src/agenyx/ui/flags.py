"""The one table of the command line: parser, help, completion and documentation are read from it.

It owns names and value rules; which flags exclude each other stands in `conflicts`. It must stay importable
in a few milliseconds (`--help` needs it), so it uses neither typing nor msgspec.
"""

from __future__ import annotations

from agenyx.ui.flag import GROUPS as GROUPS
from agenyx.ui.flag import MODEL, OTHER, PERMISSIONS, RUN, SESSION, Flag
from agenyx.ui.wire_flags import WIRE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agenyx.app.host_settings import HostSettings

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
FORMATS = ("text", "json", "stream-json")
EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
APPROVALS = ("ask", "defer")
SHELLS = ("bash", "zsh", "fish")
MOST_STEPS = 100_000
MOST_SESSIONS = 500  # of one page (reference: AgentX §1.3)


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
        self.agents = ""
        self.image = ""
        self.output_style = ""
        self.mcp_config = ""
        self.mcp_strict = False
        self.approvals = ""
        self.max_steps = ""
        self.max_budget_usd = ""
        self.max_tokens = ""
        self.cwd = ""
        self.trust = False
        self.bare = False
        self.plain = False
        self.screen = self.mouse = ""  # settings alone say
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
        self.input_format = ""
        self.partial = False
        self.replay_user = False
        self.prompt_tool = ""
        self.session_id = ""
        self.system_prompt = ""
        self.append_system = ""
        self.tools = ""
        self.sources = ""
        self.json_schema = ""
        self.owned = False
        self.hook_events = False
        self.settings = ""
        self.add_dir = ""
        self.fallback = ""
        self.resume_at = ""
        self.drops_turn = ""
        self.host: HostSettings | None = None  # what --settings says
        self.allow_bypass = False
        self.unknown: tuple[str, ...] = ()  # flags that a program gave and that are not ours
        self.given: frozenset[str] = frozenset()  # fields whose flags were given, also with an empty value
        self.yielding: tuple[str, ...] = ()  # fields that settings.toml of the home filled in
        self.stdin = False  # a lone "-" was given: read standard input to its end

    @property
    def mode(self) -> str:
        """The permission mode that follows from the flags."""
        return "bypassPermissions" if self.dangerous else self.permission_mode or "default"

    @property
    def base_tools(self) -> tuple[str, ...] | None:
        """`--tools` as names, None where it was not given or names the usual ones."""
        names = tuple(filter(None, (name.strip() for name in self.tools.split(","))))
        return None if "tools" not in self.given or names == ("default",) else names

    @property
    def steps(self) -> int:
        """`--max-steps` as a number, 0 when it was not given."""
        return int(self.max_steps or 0)


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


FLAGS = (
    Flag(RUN, ("-p", "--print"), "print_", "do one task without a conversation, print the answer and exit"),
    Flag(
        RUN,
        ("--output-format",),
        "output_format",
        "what standard output gets: the answer as text, one JSON result record, or all that happens as JSON lines",
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
    Flag(
        RUN,
        ("--output-style",),
        "output_style",
        "how the model writes and works: default, Explanatory, Learning, or a style of your own",
        "NAME",
        once=True,
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
        many=",",
    ),
    Flag(
        PERMISSIONS,
        ("--disallowed-tools", "--disallowedTools"),
        "disallowed_tools",
        'rules for calls that are refused, such as "Bash(git push:*),Read(.env)"',
        "RULES",
        many=",",
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
    Flag(
        RUN,
        ("--image", "--attachment"),
        "image",
        "show this image (PNG, JPEG, GIF, WebP) or PDF to the model with the prompt; may be given several times",
        "FILE",
        many="\0",  # which no name of a file holds
    ),
    Flag(
        RUN,
        ("--agents",),
        "agents",
        'subagents for this run: JSON as {"NAME": {"description": "...", "prompt": "...", "tools": [...]}}, or a file '
        "that holds it; see agenyx agents --help",
        "JSON",
        once=True,
    ),
    Flag(
        RUN,
        ("--mcp-config",),
        "mcp_config",
        'MCP servers for this run: JSON as {"mcpServers": {"NAME": {"command": "...", "args": [...]}}}, or a file that '
        "holds it; see agenyx mcp --help",
        "JSON",
        once=True,
    ),
    Flag(RUN, ("--strict-mcp-config",), "mcp_strict", "with --mcp-config: start no other MCP servers"),
    Flag(
        RUN,
        ("--plain",),
        "plain",
        "a conversation in plain lines in place of the full screen: for screen readers, and for logs of a terminal",
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
    *WIRE,
    Flag(OTHER, ("--verbose",), "verbose", "show activity on standard error, also when that is not a terminal"),
    Flag(
        OTHER,
        ("-d", "--debug"),
        "debug",
        "write diagnostics, one JSON object a line: to standard error, of a conversation into a file in the home",
    ),
    Flag(OTHER, ("-h", "--help"), "help", "show this help"),
    Flag(OTHER, ("-v", "--version"), "version", "show the version"),
)
