"""The help text and the flag reference of the documentation, both made from the table of flags."""

from __future__ import annotations

from agenyx.ui.flags import FLAGS, GROUPS, SHELLS, Flag

_WIDTH = 88
_COLUMN = 30

_USAGE = """\
Agenyx, a coding agent: you say what to do, a model plans, Agenyx reads, edits, runs and checks code under your rules.

Usage:
  agenyx [flags]                  a conversation on the full screen; agenyx chat [PROMPT...] is one in plain lines
  agenyx -p [flags] PROMPT...     do one task and print the answer
  agenyx run [flags] PROMPT...    the same
  agenyx login [ID]               store the key of a model provider (agenyx login --help); agenyx logout ID removes it
  agenyx doctor                   say what is set up, try the model, and what to do where something is wrong
  agenyx config ...               show, explain and change settings (agenyx config --help)
  agenyx permissions ...          what would happen to a call and why; the rules (agenyx permissions --help)
  agenyx approvals ...            calls that wait for your yes: list, show, allow, deny (agenyx approvals --help)
  agenyx sessions ...             list, show, search, name and delete stored sessions (agenyx sessions --help)
  agenyx skills ...               the skills there are, and why one is missing (agenyx skills --help)
  agenyx hooks ...                what hangs on events: list it, try it (agenyx hooks --help)
  agenyx mcp ...                  programs that offer tools: list, add, try, approve (agenyx mcp --help)
  agenyx trust ...                show, give and take back trust in what workspaces bring (agenyx trust --help)
  agenyx memory ...               notes about a project that each session is told (agenyx memory --help)
  agenyx agents ...               list the subagents that the model can hand tasks to (agenyx agents --help)
  agenyx local ...                install and manage the small offline model (agenyx local --help)
  agenyx completion SHELL         print a completion script for {shells}

Examples:
  agenyx -p "why does tests/test_api.py fail?"
  agenyx -p --permission-mode acceptEdits "rename the function load to read_config everywhere"
  git diff | agenyx -p "review this change" -
  agenyx -p --output-format json "list the public functions" | jq -r .result
  agenyx -p --continue "now add a test for it"

Prompt:
  The words that are no flags, joined by one space. Piped input that is there when the run begins is added below them;
  a lone - waits for all of it. Flags end at --. A run without a terminal refuses what it would have to ask.
  A prompt that begins with / and a name is a command, which no model is asked about: agenyx -p /help lists them.
"""

_END = """
Exit codes:
  0    the task was done              75   the provider is busy: try again later
  1    it failed                      129  ended by SIGHUP
  2    the command line is wrong      130  interrupted (Ctrl+C)
  3    a call waits for your yes      143  ended by SIGTERM
  5    the step limit was reached
  6    the budget was reached

Environment:
  AGENYX_MODEL               the model when --model is not given
  AGENYX_REASONING_EFFORT    the effort when --effort is not given
  AGENYX_HOME                where auth.json, settings and sessions are kept, instead of ~/.agenyx

Providers, where there is no auth.json; the first that is set is used, --provider chooses another:
  OPENAI_API_KEY (with OPENAI_BASE_URL), ANTHROPIC_API_KEY (with ANTHROPIC_BASE_URL), AZURE_OPENAI_API_KEY (with
  AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT, AZURE_OPENAI_API_VERSION), OPENROUTER_API_KEY, DEEPSEEK_API_KEY,
  MOONSHOT_API_KEY, MISTRAL_API_KEY, GROQ_API_KEY; else Ollama, llama.cpp, LM Studio or vLLM running on this machine;
  else the model of agenyx local.
"""


def help_text() -> str:
    """What `agenyx --help` prints."""
    parts = [_USAGE.format(shells=", ".join(SHELLS))]
    for group in GROUPS:
        parts.append(f"\n{group}:\n")
        parts.extend(_rows(flag) for flag in FLAGS if flag.group == group)
    return "".join(parts) + _END


def markdown() -> str:
    """The flag reference as Markdown, one table a group."""
    lines: list[str] = []
    for group in GROUPS:
        lines += [f"### {group}", "", "| Flag | Meaning |", "|---|---|"]
        for flag in FLAGS:
            if flag.group == group:
                names = ", ".join(f"`{name}{_value(flag)}`" for name in flag.names)
                lines.append(f"| {names} | {_meaning(flag)} |")
        lines.append("")
    return "\n".join(lines)


def _value(flag: Flag) -> str:
    return f" {flag.value}" if flag.value else ""


def _meaning(flag: Flag) -> str:
    text = flag.text[:1].upper() + flag.text[1:] + "."
    if flag.choices:
        text += f" One of {', '.join(flag.choices)}."
    return f"{text} Default: {flag.default}." if flag.default else text


def _rows(flag: Flag) -> str:
    head = "  " + ", ".join(flag.names) + _value(flag)
    lines = [head] if len(head) > _COLUMN - 2 else []
    lead = " " * _COLUMN if lines else head.ljust(_COLUMN)
    for word in _meaning(flag).split():
        if len(lead) + len(word) > _WIDTH and lead.strip():
            lines.append(lead.rstrip())
            lead = " " * _COLUMN
        lead += word + " "
    return "\n".join([*lines, lead.rstrip()]) + "\n"
