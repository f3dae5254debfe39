"""The built-in tools in the order in which the model sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenyx.tools.askuserquestion import AskUserQuestion
from agenyx.tools.bash import Bash
from agenyx.tools.edit import Edit
from agenyx.tools.git import GitCommit, GitDiff, GitLog, GitStatus
from agenyx.tools.glob import Glob
from agenyx.tools.grep import Grep
from agenyx.tools.ls import LS
from agenyx.tools.multiedit import MultiEdit
from agenyx.tools.picker import Picker
from agenyx.tools.read import Read
from agenyx.tools.spec import Tool
from agenyx.tools.taskoutput import TaskOutput
from agenyx.tools.tasks import TaskCreate, TaskGet, TaskList, TaskUpdate
from agenyx.tools.taskstop import TaskStop
from agenyx.tools.todowrite import TodoWrite
from agenyx.tools.toolresultread import ToolResultRead
from agenyx.tools.webfetch import WebFetch
from agenyx.tools.write import Write


def builtin_tools(env: Mapping[str, str] | None = None) -> list[Tool[Any]]:
    """Fresh instances: tools hold no state, but a session may replace one. `env` may name a proxy for WebFetch."""
    return [
        Read(),
        Write(),
        Edit(),
        MultiEdit(),
        LS(),
        Picker(),
        Glob(),
        Grep(),
        Bash(),
        WebFetch(env),
        GitStatus(),
        GitDiff(),
        GitLog(),
        GitCommit(),
        TodoWrite(),
        TaskCreate(),
        TaskGet(),
        TaskList(),
        TaskUpdate(),
        TaskOutput(),
        TaskStop(),
        ToolResultRead(),
        AskUserQuestion(),
    ]
