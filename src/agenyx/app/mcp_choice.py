"""The servers that may start in a conversation, with the questions that have to be asked before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenyx.agent.ports import Approver
from agenyx.app.extensions import Extensions
from agenyx.app.mcp_approval import Approvals, approved
from agenyx.app.mcp_sources import Tell, configured, told
from agenyx.app.settings import Settings
from agenyx.ext.mcp.config import ServerConfig, secret_values


async def chosen(
    extensions: Extensions,
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    approver: Approver | None,
    tell: Tell,
) -> tuple[ServerConfig, ...]:
    """The servers that may start. A person is asked about those of the workspace that they have not approved."""
    read = configured(extensions, settings.mcp_config, env, home, strict=settings.mcp_strict)
    for problem in read.problems:
        tell(*told(problem))
    approvals = Approvals(home, settings.cwd)
    return await approved(read.servers, approvals, approver, tell, settings.cwd, trusted=settings.trust)


def with_secrets(secrets: tuple[str, ...], configs: Sequence[ServerConfig]) -> tuple[str, ...]:
    """The secrets to mask, those of servers' environments among them."""
    return tuple(dict.fromkeys((*secrets, *secret_values(configs))))
