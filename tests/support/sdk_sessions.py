"""Runs in the environment of the Python Agent SDK: what its readers make of the sessions of a directory, as JSON."""

from __future__ import annotations

import json
import sys

from claude_agent_sdk import get_session_messages, list_sessions  # type: ignore[import-not-found]
from claude_agent_sdk._internal.sessions import get_subagent_messages, list_subagents  # type: ignore[import-not-found]

directory = sys.argv[1]
found = []
for one in list_sessions(directory=directory):
    agents = list_subagents(one.session_id, directory=directory)
    found.append(
        {
            "id": one.session_id,
            "title": one.summary,
            "cwd": one.cwd,
            "messages": [[m.type, m.message] for m in get_session_messages(one.session_id, directory=directory)],
            "agents": {
                agent: [
                    [m.type, m.parent_tool_use_id]
                    for m in get_subagent_messages(one.session_id, agent, directory=directory)
                ]
                for agent in agents
            },
        }
    )
print(json.dumps(found))
