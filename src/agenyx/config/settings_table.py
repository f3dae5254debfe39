"""Every key of settings.toml, as one table: its type, its limits, where it may stand, and what outranks it."""

from __future__ import annotations

from typing import Any, Literal, cast

from msgspec import Struct

from agenyx.config.profiles import EFFORTS
from agenyx.core.limits import MOST_RULES


class RuleText(Struct, frozen=True):
    """A permission rule as it is written, with calls that it must and must not match."""

    rule: str
    matches: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()


Value = str | int | tuple[RuleText, ...]
Ceiling = Literal["home", "workspace"]
RULE_CHARS = 4096


class Key(Struct, frozen=True):
    """One key. A dot in its name separates table and key. `kind` is its type in the file; `choices` the values it may
    have, () for any; `low` and `high` bound an integer. `ceiling` "home" means that a workspace may not set it.
    `variable` outranks the file, `flag` both; `default` says in words what holds without any of them. `rules` are a
    list of texts, or of tables with `rule`, `matches` and `spares`: all places that set them count together. `keys`
    are a text, or a list of texts; what is wrong with them is told by the surface that has the keys.
    """

    name: str
    kind: Literal["string", "integer", "rules", "keys"]
    help: str
    flag: str
    default: str
    variable: str = ""
    ceiling: Ceiling = "home"
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    def wrong(self, value: object) -> str:
        """What is wrong with a value, "" when nothing is."""
        if self.kind == "rules":
            return _wrong_rules(value)
        if self.kind == "keys":
            return ""
        if self.kind == "integer":
            if not isinstance(value, int) or isinstance(value, bool):
                return "must be a whole number, without quotes"
            return "" if self.low <= value <= self.high else f"must be from {self.low} to {self.high}"
        if not isinstance(value, str):
            return "must be a text in quotes"
        if self.choices:
            return "" if value in self.choices else f"must be one of: {', '.join(self.choices)}"
        if not value or value != value.strip() or not value.isprintable():
            return "must not be empty, nor begin or end with white space, nor hold control characters"
        return ""


def rules_of(value: object) -> tuple[RuleText, ...]:
    """The rules of a list that `Key.wrong` found right."""
    found: list[RuleText] = []
    for item in cast("list[object]", value):
        if isinstance(item, str):
            found.append(RuleText(item.strip()))
        else:
            table = cast("dict[str, Any]", item)
            examples = (tuple(cast("list[str]", table.get(name, []))) for name in ("matches", "spares"))
            found.append(RuleText(table["rule"].strip(), *examples))
    return tuple(found)


def _wrong_rules(value: object) -> str:
    if not isinstance(value, list):
        return 'must be a list of rules, as in ["Bash(npm test)"]'
    items = cast("list[object]", value)
    if len(items) > MOST_RULES:
        return f"holds more than {MOST_RULES} rules"
    for item in items:
        table = cast("dict[str, object]", item) if isinstance(item, dict) else {"rule": item}
        if unknown := set(table) - {"rule", "matches", "spares"}:
            return f"has a rule with the unknown key {min(unknown)!r}: a rule has rule, matches and spares"
        rule = table.get("rule")
        if not isinstance(rule, str) or not rule.strip() or not rule.isprintable() or len(rule) > RULE_CHARS:
            return 'must hold rules as texts in quotes, such as "Bash(npm test)"'
        for name in ("matches", "spares"):
            examples = table.get(name, [])
            if not isinstance(examples, list) or not all(isinstance(e, str) for e in cast("list[object]", examples)):
                return f'has a rule whose {name} is not a list of texts, such as ["Bash(npm test)"]'
    return ""


THEMES = ("default", "light", "contrast", "ansi", "mono")
KEYS_TABLE = "keys."

KEYS = (
    Key("provider", "string", "the id of the provider to use", "--provider", "the default profile"),
    Key(
        "model",
        "string",
        "the model to use; passed over when --provider or --base-url names another provider",
        "--model",
        "the profile's, the catalogue's, or the only one that the server lists",
        "AGENYX_MODEL",
        "workspace",
    ),
    Key(
        "effort",
        "string",
        "how much the model thinks before it answers",
        "--effort",
        "the profile's, or the server's own",
        "AGENYX_REASONING_EFFORT",
        "workspace",
        EFFORTS,
    ),
    Key(
        "permission_mode",
        "string",
        "what happens unasked",
        "--permission-mode",
        "default",
        choices=("default", "acceptEdits", "plan", "dontAsk"),
    ),
    Key(
        "max_steps",
        "integer",
        "end a run after so many model responses",
        "--max-steps",
        "100",
        ceiling="workspace",
        low=1,
        high=100_000,
    ),
    Key(
        "output_format",
        "string",
        "what standard output of agenyx -p gets",
        "--output-format",
        "text",
        choices=("text", "json", "stream-json"),
    ),
    Key(
        "output_style",
        "string",
        "how the model writes and works: default, Explanatory, Learning, or a style of your own",
        "--output-style",
        "default",
        ceiling="workspace",
    ),
    Key(
        "tool_set",
        "string",
        "which tools the model gets: full, core (files, search, shell) or small (the least)",
        "--tool-set",
        "full, and small for a small model",
        choices=("default", "full", "core", "small"),
    ),
    Key(
        "images",
        "string",
        "whether the model is shown images and documents, where Agenyx does not know it or knows it wrong",
        "",
        "auto: what the catalogue says, else yes for OpenAI, Azure and Anthropic, no for others",
        choices=("auto", "yes", "no"),
    ),
    Key("permissions.allow", "rules", "calls that run unasked", "--allowed-tools", "none", ceiling="workspace"),
    Key("permissions.ask", "rules", "calls that are always asked about", "", "none", ceiling="workspace"),
    Key("permissions.deny", "rules", "calls that are refused", "--disallowed-tools", "none", ceiling="workspace"),
    Key(
        "permissions.read_only_shell",
        "string",
        "whether commands that only look run unasked: sandboxed runs them where a sandbox holds them to it",
        "",
        "sandboxed",
        choices=("sandboxed", "ask"),
    ),
    Key(
        "context.window",
        "integer",
        "tokens that the model takes in all, where Agenyx does not know it or knows it wrong",
        "",
        "what the server or the catalogue says",
        low=2_000,
        high=100_000_000,
    ),
    Key(
        "context.warn",
        "integer",
        "percent of the usable window from which on you are told that it fills up",
        "",
        "80, or more in a large window: 20,000 tokens before its end",
        low=10,
        high=100,
    ),
    Key(
        "context.auto",
        "integer",
        "percent of the usable window from which on room is made, by leaving out old results or by a summary",
        "",
        "87, or more in a large window: 13,000 tokens before its end",
        low=20,
        high=100,
    ),
    Key(
        "context.history",
        "string",
        "what of earlier turns goes into a request: full (all), or final (what was said, without calls and results)",
        "",
        "full, and final for a small model",
        choices=("full", "final"),
    ),
    Key(
        "agents.deadline",
        "integer",
        "seconds after which a subagent is stopped; the time in which you are asked does not count",
        "",
        "600",
        low=10,
        high=86_400,
    ),
    Key(
        "agents.silence",
        "integer",
        "seconds after which a subagent is stopped of which nothing is heard",
        "",
        "360",
        low=10,
        high=86_400,
    ),
    Key(
        "mcp.wait",
        "integer",
        "milliseconds that the first request waits for MCP servers to be ready; slower ones join later",
        "",
        "1500",
        high=60_000,
    ),
    Key(
        "telemetry.otel",
        "string",
        "whether traces and metrics are sent to a collector by OpenTelemetry; the variable AGENYX_OTEL (1 or 0) wins",
        "",
        "off",
        choices=("off", "on"),
    ),
    Key(
        "telemetry.content",
        "string",
        "whether prompts, answers, arguments and results are in what telemetry sends",
        "",
        "off",
        choices=("off", "on"),
    ),
    Key(
        "theme",
        "string",
        "the colours of the conversation at the terminal: light is for a light background, contrast is easiest to tell "
        "apart, ansi takes the terminal's own, mono has none",
        "",
        "default",
        choices=THEMES,
    ),
    Key(
        "editor_mode",
        "string",
        "the keys that edit the input on the full screen: those of readline and emacs, or those of vi",
        "",
        "emacs",
        choices=("emacs", "vim"),
    ),
    Key(
        "screen",
        "string",
        "how agenyx shows a conversation: on the full screen, or in plain lines (as --plain and AGENYX_PLAIN=1)",
        "",
        "full, and plain where the terminal can do no more",
        "AGENYX_PLAIN",
        choices=("full", "plain"),
    ),
    Key(
        "mouse",
        "string",
        "whether the full screen listens to the mouse; off leaves selecting text to the terminal",
        "",
        "on",
        choices=("on", "off"),
    ),
    Key(
        "notify",
        "string",
        "how the full screen calls you when it is asked something and you look elsewhere: auto is a notification of "
        "the terminal and the bell, bell only that, off neither",
        "",
        "auto",
        choices=("auto", "bell", "off"),
    ),
    Key(
        "side_panel",
        "string",
        "when the full screen shows tasks and changed files at its side: by its key, or by itself from 120 columns on",
        "",
        "key",
        choices=("key", "wide"),
    ),
    Key(
        "shell.program",
        "string",
        "the shell that runs commands; auto is bash, and sh where there is no bash",
        "",
        "auto",
        choices=("auto", "bash", "sh"),
    ),
)
BY_NAME = {key.name: key for key in KEYS}


def key_of(name: str) -> Key | None:
    """The key of this name; under `keys.` there is one for every action of the full screen (docs/keys.md)."""
    if name.startswith(KEYS_TABLE):
        return Key(name, "keys", "the keys of an action of the full screen", "", "see docs/keys.md")
    return BY_NAME.get(name)


def keys_text(value: object) -> str:
    """Keys of an action as one text, separated by blanks."""
    return " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
