"""The built-in tools in the order in which the model sees them."""

from __future__ import annotations

from typing import Any

from agenyx.tools.bash import Bash
from agenyx.tools.edit import Edit
from agenyx.tools.glob import Glob
from agenyx.tools.grep import Grep
from agenyx.tools.ls import LS
from agenyx.tools.read import Read
from agenyx.tools.spec import Tool
from agenyx.tools.write import Write


def builtin_tools() -> list[Tool[Any]]:
    """Fresh instances: tools hold no state, but a session may replace one."""
    return [Read(), Write(), Edit(), LS(), Glob(), Grep(), Bash()]
