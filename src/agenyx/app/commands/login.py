"""/login and /logout: whose key is in use, and where keys are stored and removed. A conversation stores none itself."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    profile = desk.conversation.parts.source.model.profile
    text = (
        f"this conversation uses {profile.id} ({profile.type}), known by {profile.origin or 'a flag'}\n"
        "agenyx login ID stores the key of a provider and agenyx logout ID removes it, after /exit or in another "
        "terminal.\n"
        "It counts from the next start on: agenyx --continue goes on with this session then."
    )
    return Reply(text, {"provider": profile.id, "provider_type": profile.type, "origin": profile.origin})
