"""What a subagent may do: never more than its parent at that moment, whatever its file says. And which tools it gets.

Pure but for the tools it picks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from agenyx.core.verdict import Mode, Rule
from agenyx.ext.agents.definition import Agent
from agenyx.policy.decide import Policy
from agenyx.policy.rules import CHANGERS, LOOKERS
from agenyx.tools.registry import Registry
from agenyx.tools.spec import Tool

LOOKS = ("Read", "LS", "Glob", "Grep", "WebFetch", "ToolResultRead")
"""What a subagent has unless its file says otherwise."""

CHANGES = frozenset({*CHANGERS, "Bash", "GitCommit"})
"""What needs a work tree of its own."""

NEVER = frozenset(
    [
        "Task",
        "AskUserQuestion",
        "ExitPlanMode",
        "EnterPlanMode",
        "Memory",
        "TaskOutput",
        "TaskStop",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "McpCall",
    ]
)
"""What no subagent has: it asks nobody, delegates nothing, and what is kept or runs beside is its parent's."""

_STRICT: dict[str, int] = {"bypassPermissions": 0, "acceptEdits": 1, "default": 2, "dontAsk": 3, "plan": 3}


def tools_of(
    agent: Agent, registry: Registry, more: Sequence[str] = ()
) -> tuple[tuple[Tool[Any], ...], tuple[str, ...]]:
    """The tools of an agent and `more`, out of those of its parent, and a phrase for each name that stands for none."""
    wanted = LOOKS if agent.tools is None else tuple(registry.names()) if "*" in agent.tools else agent.tools
    problems: list[str] = []
    found: dict[str, Tool[Any]] = {}
    for name in (one for wish in (*wanted, *more) for one in _of_server(wish, registry)):
        tool = registry.find(name)
        if "(" in name:
            problems.append(f"{name} is left out: a tool is named whole here, and rules say what it may do")
        elif tool is None:
            if agent.tools is not None:
                problems.append(f"there is no tool {name} here")
        elif tool.name not in NEVER:
            found[tool.name] = _alone(tool)
    for name in agent.without:
        tool = registry.find(name)
        found.pop(tool.name if tool is not None else name, None)
    pages = registry.find("ToolResultRead")
    if found and pages is not None:
        found.setdefault(pages.name, pages)
    return tuple(found.values()), tuple(problems)


def _of_server(name: str, registry: Registry) -> Sequence[str]:
    """The tools of an MCP server that is named whole, `mcp__server` or `mcp__server__*`; else the name itself."""
    if not name.startswith("mcp__") or registry.find(name) is not None:
        return (name,)
    head = f"{name.removesuffix('*').rstrip('_')}__"
    found = [one for one in (*registry.names(), *registry.hidden()) if one.startswith(head) and "." not in one]
    return found or (name,)


def _alone(tool: Tool[Any]) -> Tool[Any]:
    """The tool without what it would have its parent do, where it has such a form."""
    alone: Callable[[], Tool[Any]] | None = getattr(tool, "alone", None)
    return alone() if alone is not None else tool


def changes(tools: Sequence[Tool[Any]]) -> bool:
    """Whether one of them is made to change files."""
    return any(tool.name in CHANGES for tool in tools)


def narrowed(parent: Policy, own: Policy, mode: str, workspace: str) -> Policy:
    """The parent's policy as it is now, with what a person said to the child (`own`), in the stricter of the modes.

    In a work tree of its own (`workspace`) the rules of the workspace hold as well; those that refuse or ask about
    absolute paths in the parent's workspace hold for the same places there.
    """
    chosen: Mode = parent.mode
    if mode in _STRICT and _STRICT[mode] > _STRICT[parent.mode]:
        chosen = mode  # type: ignore[assignment]
    rules = (*parent.rules, *own.rules)
    if workspace != parent.workspace:
        rules = (*rules, *_moved(rules, parent.workspace, workspace, parent.home_dir))
    scopes = (*parent.scopes, *own.scopes)
    folders = parent.folders if workspace == parent.workspace else ()
    return replace(parent, mode=chosen, rules=rules, scopes=scopes, workspace=workspace, folders=folders)


def _moved(rules: Sequence[Rule], before: str, now: str, home: str) -> list[Rule]:
    moved: list[Rule] = []
    for rule in rules:
        if rule.decision == "allow" or rule.tool not in (*CHANGERS, *LOOKERS):
            continue
        path = rule.pattern
        if path.startswith("~/") and home:
            path = f"//{os.path.join(home, path[2:]).lstrip('/')}"
        inside = f"//{before.strip('/')}/"
        if path.startswith(inside):
            moved.append(replace(rule, pattern=f"//{now.strip('/')}/{path[len(inside) :]}"))
    return moved
