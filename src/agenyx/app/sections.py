"""What a person and a trusted workspace add to the system text of a new session, section by section, in one order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agenyx.app.extensions import Extensions

if TYPE_CHECKING:
    from agenyx.app.skills import Library


def sections(
    extensions: Extensions, library: Library | None = None, *, memory: str = "", style: str = ""
) -> tuple[str, ...]:
    """The sections behind our own; each is a whole, and none is there for nothing. `memory`, `style`: ready ones."""
    skills = library.section() if library else ""
    return tuple(text for text in (_instructions(extensions), memory, skills, style) if text)


def _instructions(extensions: Extensions) -> str:
    if not (extensions.sources("instructions") or extensions.sources("rules")):
        return ""
    from agenyx.app.instructed import instructed

    return instructed(extensions)
