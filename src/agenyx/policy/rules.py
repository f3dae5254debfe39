"""The grammar of rules: `Tool` or `Tool(pattern)`, and what a rule of a workspace may not say.

Owns spelling, names and limits. Knows no call: what a rule matches is told by `policy.match`. Names and most limits
follow AgentX §6.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.limits import MOST_RULES
from agenyx.core.verdict import Choice, Rule, RuleSource

RULE_BYTES = 64 << 10
PATH_PATTERN_BYTES = 4096  # no path is longer

CHANGERS = ("Edit", "MultiEdit", "Write")  # one family: a rule for one of them is a rule for what any tool changes
LOOKERS = ("GitDiff", "GitLog", "GitStatus", "Glob", "Grep", "LS", "Picker", "Read")
_HARMLESS = frozenset({*LOOKERS, "TaskOutput", "TodoWrite", "ToolResultRead"})
_NAMES = (*CHANGERS, *LOOKERS, "Bash", "GitCommit", "Skill", "Task", "TaskOutput", "TaskStop", "TodoWrite")
_KNOWN = {name.casefold(): name for name in (*_NAMES, "ToolResultRead", "WebFetch")} | {
    "agent": "Task",
    "agentoutputtool": "TaskOutput",
    "bashoutput": "TaskOutput",
    "bashoutputtool": "TaskOutput",
    "edit_file": "Edit",
    "fetch": "WebFetch",
    "killbash": "TaskStop",
    "killshell": "TaskStop",
    "list_dir": "LS",
    "list_files": "LS",
    "load_skill": "Skill",
    "read_file": "Read",
    "run_command": "Bash",
    "shell": "Bash",
    "web_fetch": "WebFetch",
    "write_file": "Write",
}
_SHAPE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*\*?)(?:\((.*)\))?", re.DOTALL)
_WHOLE = ("", "*", ":*")

# What runs the code or the program that its words name, so that a rule for it would be a rule for anything.
_START = """
ash awk bash bun bunx busybox chroot command csh dash deno doas env eval exec fish gawk gdb ionice java ksh lua mawk
nice nix node nodejs nohup npx nsenter osascript parallel perl php pipx poetry pwsh pypy python rscript ruby run-parts
runuser script setsid sh source ssh stdbuf strace su sudo tclsh time timeout toybox unshare uv uvx watch xargs zsh .
"""
_STARTERS = frozenset(_START.split())
# What does something else with each of its sub-commands, some of which start programs.
_RUN = "cargo docker go just kubectl make npm pip pnpm podman rake yarn"
_RUNNERS = frozenset(_RUN.split())
_VERSION = re.compile(r"[0-9.]+$")


def spellings() -> Mapping[str, str]:
    """The names that rules know beside those of the tools that are there: the tool by its case-folded spelling."""
    return _KNOWN


def parse_rule(
    text: str,
    decision: Choice,
    source: RuleSource,
    where: str = "",
    aliases: Mapping[str, str] | None = None,
) -> Rule:
    """The rule that `text` spells. `aliases` maps case-folded names of tools to their names. Raises UsageError."""
    shown = repr(text if len(text) <= 80 else text[:79] + "…")
    spelled = text.strip()
    if len(spelled.encode("utf-8", "surrogatepass")) > RULE_BYTES or "\0" in spelled:
        raise UsageError(f"The rule {shown} is longer than {RULE_BYTES >> 10} KiB or holds a NUL", "Shorten it.")
    match = _SHAPE.fullmatch(spelled)
    if match is None:
        raise UsageError(f"The rule {shown} is not valid", "Write Tool or Tool(pattern), such as Bash(git status:*).")
    name, pattern = match[1], match[2] or ""
    if "(" in pattern or ")" in pattern:
        raise UsageError(f"The pattern of the rule {shown} holds a parenthesis", "Write * in its place.")
    tool = _tool(name, aliases or {}, shown)
    if pattern in _WHOLE:
        pattern = ""
    elif tool.startswith("mcp__"):
        raise UsageError(f"The rule {shown} has a pattern, and tools of MCP servers take none", f"Write only {tool}.")
    try:
        return Rule(decision, tool, _checked(tool, pattern), source, where)
    except AgenyxError as error:
        raise UsageError(f"In the rule {shown}: {error.message}", error.fix) from None


def parse_rules(
    texts: Iterable[str],
    decision: Choice,
    source: RuleSource,
    where: str = "",
    aliases: Mapping[str, str] | None = None,
) -> tuple[Rule, ...]:
    """Several rules of one place. Raises UsageError, also for more than 4,096."""
    rules = tuple(parse_rule(text, decision, source, where, aliases) for text in texts)
    if len(rules) > MOST_RULES:
        raise UsageError(f"There are {len(rules):,} rules; at most {MOST_RULES:,} are read", "Use wider patterns.")
    return rules


def split_rules(text: str) -> list[str]:
    """The rules of a list as flags take it: commas or white space between them, but not within parentheses."""
    found, start, depth = list[str](), 0, 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif not depth and (char == "," or char.isspace()):
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return [part for part in found if part]


def split_call(text: str) -> tuple[str, str]:
    """Tool and argument of an example such as `Bash(git push && (true))`; the argument may hold parentheses."""
    name, opened, rest = text.strip().partition("(")
    if opened and not rest.endswith(")"):
        raise UsageError(f"{text!r} has no ) at its end", "Write it as Bash(git push).")
    return name.strip(), rest[:-1]


def unknown_tool(rule: Rule, names: Iterable[str]) -> str | None:
    """None if the rule's tool is among `names` or an MCP server's; else the name that is nearest to it, or ""."""
    import difflib  # only for a mistake

    known = list(names)
    if rule.tool in known or rule.tool.startswith("mcp__"):
        return None
    folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(rule.tool.casefold(), folded, 1)
    return folded[near[0]] if near else ""


def ceiling(rule: Rule) -> str:
    """Why a rule does not count where it stands, or "". Only what a workspace allows has limits: it may be hostile."""
    if rule.source != "workspace" or rule.decision != "allow":
        return ""
    tool, pattern = rule.tool, rule.pattern
    if not pattern:
        return "" if tool in _HARMLESS else f"a workspace may not allow all of {tool}"
    if tool == "Bash":
        return _shell_ceiling(pattern)
    if tool in CHANGERS or tool in LOOKERS:
        if pattern.startswith(("~", "//")):
            return "a workspace may not allow paths outside itself"
        if tool in CHANGERS and not pattern.strip("*/"):
            return "a workspace may not allow every change"
    if tool == "WebFetch" and pattern.startswith("domain:*.") and pattern.count(".") == 1:
        return "a workspace may not allow a whole top-level domain"
    return ""


def _shell_ceiling(pattern: str) -> str:
    words = pattern.removesuffix(":*").split(" ")
    program = words[0]
    if "*" in program or not program:
        return "a workspace may not allow commands whose program is a wildcard"
    name = program.rpartition("/")[2].casefold()
    if "=" in program or any(mark in program for mark in "'\"\\$`"):
        return "a workspace may not allow commands that begin with an assignment or a quote"
    if name in _STARTERS or _VERSION.sub("", name) in _STARTERS:
        return f"a workspace may not allow {name}: it starts other programs"
    if name in _RUNNERS and (pattern.endswith(":*") or len(words) > 1) and "*" in (words[1:2] or ["*"])[0]:
        return f"a workspace may not allow all of {name}: some of its commands start other programs"
    return ""


def _tool(name: str, aliases: Mapping[str, str], shown: str) -> str:
    if name.startswith("mcp__"):
        server, _, rest = name[5:].partition("__")
        if not server or "*" in server or ("*" in rest and rest != "*"):
            raise UsageError(
                f"The rule {shown} names no MCP server", "Write mcp__server, mcp__server__* or mcp__server__tool."
            )
        return f"mcp__{server}" if rest in ("", "*") else name
    if name.endswith("*"):
        raise UsageError(f"The rule {shown} has a wildcard in the name of the tool", "Name each tool.")
    folded = name.casefold()
    return aliases.get(folded) or _KNOWN.get(folded) or name


def _checked(tool: str, pattern: str) -> str:
    """The pattern in its plain form; raises AgenyxError if no call can be compared with it."""
    if not pattern:
        return ""
    if tool == "WebFetch":
        from agenyx.policy.match_host import checked

        return checked(pattern)
    if tool in CHANGERS or tool in LOOKERS:
        from agenyx.policy.match_path import place

        if len(pattern.encode("utf-8", "surrogatepass")) > PATH_PATTERN_BYTES:
            raise UsageError("A path pattern is longer than 4096 bytes", "Use a shorter one.")
        place(pattern)
    return pattern
