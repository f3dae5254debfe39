"""The section of the system text that lists the skills, within a number of tokens. Pure.

Descriptions are shortened first, then only names stand there, then as many of them as there is room for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agenyx.ext.skills.reading import Skill

HEADING = """\
# Skills
Instructions for kinds of tasks. Where one fits what you are to do, call Skill with its name first and follow it."""
FLOOR = 600  # tokens, also in small windows: some twenty names with a few words each
_LEAST = 24  # characters of a description below which it says nothing


def budget(window: int | None) -> int:
    """The tokens that the list may take: one percent of the window."""
    return max((window or 0) // 100, FLOOR)


def catalogue(skills: Iterable[Skill], most: int, weigh: Callable[[str], int]) -> str:
    """The section, "" where there is nothing to list. `weigh` tells how many tokens a text takes, about."""
    listed = [skill for skill in skills if skill.listed]
    if not listed:
        return ""
    longest = max(len(skill.description) for skill in listed)
    if weigh(whole := _with(listed, longest)) <= most:
        return whole
    if weigh(_with(listed, _LEAST)) <= most:
        low, high = _LEAST, longest  # low fits, high does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if weigh(_with(listed, middle)) <= most else (low, middle)
        return _with(listed, low)
    names = [skill.name for skill in listed]
    low, high = 0, len(names) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if weigh(_names(names, middle)) <= most else (low, middle)
    return _names(names, low)


def _with(skills: list[Skill], most: int) -> str:
    lines = [f"- {skill.name}: {_cut(skill.description, most)}" for skill in skills]
    return "\n".join((HEADING, *lines))


def _names(names: list[str], count: int) -> str:
    more = f" and {len(names) - count} more: agenyx skills list" if count < len(names) else ""
    return f"{HEADING}\n{', '.join(names[:count])}{more}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
