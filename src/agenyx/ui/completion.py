"""Completion scripts for bash, zsh and fish, made from the table of flags."""

from __future__ import annotations

from agenyx.core.errors import UsageError
from agenyx.ui.flags import FLAGS, SHELLS, Flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    "chat",
    "run",
    "login",
    "logout",
    "doctor",
    "config",
    "trust",
    "permissions",
    "approvals",
    "sessions",
    "agents",
    "memory",
    "skills",
    "hooks",
    "mcp",
    "local",
    "completion",
)


def completion(argv: Sequence[str]) -> str:
    """The script for `agenyx completion SHELL`. Raises UsageError."""
    match list(argv):
        case ["bash"]:
            return _bash()
        case ["zsh"]:
            return _zsh()
        case ["fish"]:
            return _fish()
        case _:
            raise UsageError(
                f"agenyx completion needs one of: {', '.join(SHELLS)}",
                'For bash, put into ~/.bashrc: eval "$(agenyx completion bash)"',
            )


def _bash() -> str:
    cases: list[str] = []
    for flag in FLAGS:
        if flag.value:
            if flag.complete == "directory":
                words = 'COMPREPLY=($(compgen -d -- "$cur"))'
            elif flag.choices:
                words = f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$cur"))'
            else:
                words = "COMPREPLY=()"
            cases.append(f"    {'|'.join(flag.names)}) {words}; return ;;")
    names = " ".join(name for flag in FLAGS for name in flag.names)
    return f"""\
_agenyx() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  case $prev in
{chr(10).join(cases)}
    completion) COMPREPLY=($(compgen -W "{" ".join(SHELLS)}" -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "{names}" -- "$cur"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{" ".join(COMMANDS)}" -- "$cur"))
  fi
}}
complete -o default -F _agenyx agenyx
"""


def _zsh() -> str:
    def quoted(text: str) -> str:
        return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")

    def action(flag: Flag) -> str:
        if not flag.value:
            return ""
        kind = "_files -/" if flag.complete else f"({' '.join(flag.choices)})" if flag.choices else " "
        return f":{flag.value}:{kind}"

    specs = [f"    '{name}[{quoted(flag.text)}]{action(flag)}'" for flag in FLAGS for name in flag.names]
    return f"""\
#compdef agenyx
_agenyx() {{
  _arguments -S \\
{" ".join(spec + chr(92) + chr(10) for spec in specs)}    '1::command:({" ".join(COMMANDS)})' \\
    '*::prompt:_files'
}}
compdef _agenyx agenyx
"""


def _fish() -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["complete -c agenyx -f"]
    for command in COMMANDS:
        lines.append(f"complete -c agenyx -n __fish_use_subcommand -a {command}")
    lines.append(f"complete -c agenyx -n '__fish_seen_subcommand_from completion' -a {quoted(' '.join(SHELLS))}")
    for flag in FLAGS:
        parts = ["complete -c agenyx"]
        parts += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
        if flag.value:
            parts.append("-x")
        if flag.choices:
            parts.append(f"-a {quoted(' '.join(flag.choices))}")
        if flag.complete:
            parts.append("-a '(__fish_complete_directories)'")
        lines.append(" ".join([*parts, f"-d {quoted(flag.text)}"]))
    return "\n".join(lines) + "\n"
