"""The agents there are, as rows for people and as values for programs."""

from __future__ import annotations

from agenyx.app.leave import changes, tools_of
from agenyx.ext.agents.catalogue import Catalogue
from agenyx.ext.agents.definition import Agent
from agenyx.tools.registry import Registry

_DESCRIPTION = 100  # characters


def rows(found: Catalogue, registry: Registry) -> list[str]:
    """An agent a row, what is odd about it below; `registry` holds the tools that agents may have."""
    wide = max(len(agent.name) for agent in found.agents.values())
    lines: list[str] = []
    for agent in found.agents.values():
        text = agent.description
        text = text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 1]}…"
        tools, problems = tools_of(agent, registry)
        does = (
            "changes files in a work tree" if changes(tools) else "looks" if tools else "cannot work: it has no tools"
        )
        lines.append(f"{agent.name.ljust(wide)}  {text}")
        if agent.origin != "built-in" or does != "looks":
            lines.append(f"{' ' * wide}  {does}; {agent.origin}")
        lines += [f"{' ' * wide}  ! {problem}" for problem in (*agent.problems, *problems)]
    return [*lines, *(f"! {problem}" for problem in found.problems)]


def data(found: Catalogue, registry: Registry) -> dict[str, object]:
    return {
        "agents": [_agent(agent, registry) for agent in found.agents.values()],
        "problems": list(found.problems),
    }


def _agent(agent: Agent, registry: Registry) -> dict[str, object]:
    tools, problems = tools_of(agent, registry)
    return {
        "name": agent.name,
        "description": agent.description,
        "origin": agent.origin,
        "tools": [tool.name for tool in tools],
        "changes_files": changes(tools),
        "model": agent.model or None,
        "effort": agent.effort or None,
        "max_steps": agent.max_steps or None,
        "background": agent.background,
        "skills": list(agent.skills),
        "problems": [*agent.problems, *problems],
    }
