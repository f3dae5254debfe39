"""The two contracts that one wire serves, and how the host's first `initialize` tells which one it speaks. Pure.

`sdk` is that of the Agent SDKs, `agentx` that of AgentX hosts. Where they agree nobody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Dialect = Literal["sdk", "agentx"]

STARTERS = ("CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_ENTRYPOINT")
"""Variables of an Agent SDK: such a host says `initialize` first, and nothing is to be written before."""


def of_initialize(request: Mapping[str, Any]) -> Dialect:
    """`initialize` of an AgentX host has no fields; the Agent SDKs always send some."""
    return "sdk" if set(request) - {"subtype"} else "agentx"


def by_environment(env: Mapping[str, str]) -> bool:
    """Whether an Agent SDK has started us."""
    return any(env.get(name) for name in STARTERS)
