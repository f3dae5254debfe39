"""/skills: the skills there are, where each comes from, and why one is missing."""

from __future__ import annotations

import os

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.shelf import data, rows, shelf
from agenyx.core.errors import UsageError


async def run(desk: Desk, args: str) -> Reply:
    """`args` is the name of a skill, or "" for all."""
    conversation, source = desk.conversation, desk.conversation.parts.source
    extensions = conversation.extensions
    person = os.path.realpath(source.env["HOME"]) if source.env.get("HOME") else ""
    sources = extensions.sources("skills") if extensions else ()
    found = shelf(
        sources,
        desk.home,
        source.root.path,
        person,
        conversation.parts.registry.aliases(),
        bare=source.settings.bare,
    )
    if args:
        name = args.removeprefix("/").casefold()
        skills = tuple(skill for skill in found.skills if skill.name.casefold() == name)
        missing = tuple(one for one in found.missing if one.name.casefold() == name)
        if not (skills or missing):
            raise UsageError(f"there is no skill {args}", "/skills lists them all.")
        found = type(found)(skills, missing, ())
    return Reply("\n".join(rows(found)), data(found))
