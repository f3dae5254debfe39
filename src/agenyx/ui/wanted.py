"""The options of the command line as the app takes them."""

from __future__ import annotations

import os
from typing import cast

from agenyx.app.settings import Settings
from agenyx.core.verdict import Mode
from agenyx.ui.flags import Options


def settings(options: Options) -> Settings:
    """The options as the app takes them."""
    host = options.host
    return Settings(
        cwd=os.path.abspath(options.cwd or os.curdir),
        model=options.model,
        provider=options.provider,
        base_url=options.base_url,
        effort=options.effort,
        record=options.record,
        replay=options.replay,
        replay_loose=options.replay_loose,
        mode=cast("Mode", options.mode),
        unsafe=options.dangerous or options.allow_bypass,
        mode_given=bool(options.dangerous or options.permission_mode) and "permission_mode" not in options.yielding,
        max_steps=options.steps,
        max_usd=float(options.max_budget_usd or 0),
        max_tokens=int(options.max_tokens or 0),
        resume=options.resume,
        continue_=options.continue_,
        fork=options.fork,
        rebind=options.rebind,
        placed=bool(options.cwd),
        persist=not options.no_persistence,
        trust=options.trust,
        bare=options.bare,
        defer=options.approvals == "defer",
        yielding=options.yielding,
        allowed=options.allowed_tools,
        disallowed=options.disallowed_tools,
        tool_set=options.tool_set,
        agents=options.agents,
        output_style=options.output_style,
        mcp_config=options.mcp_config,
        mcp_strict=options.mcp_strict,
        session_id=options.session_id,
        system_prompt=options.system_prompt if "system_prompt" in options.given else None,
        append_system=options.append_system,
        tools=options.base_tools,
        sources=tuple(options.sources.split(",")) if "sources" in options.given else None,
        resume_at=options.resume_at,
        drops_turn=options.drops_turn,
        fallback=tuple(dict.fromkeys(filter(None, map(str.strip, options.fallback.split(","))))),
        add_dirs=tuple(filter(None, options.add_dir.split("\0"))),
        rules=host.rules if host else (),
        hooks=host.hooks if host else "",
        variables=host.env if host else (),
        style_given=bool(options.output_style) and "output_style" not in options.yielding,
    )
