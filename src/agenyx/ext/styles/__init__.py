"""Output styles: how the model is to write and work, chosen by the person. Two lie beside this module, others in files.

Pure but for reading our own two. Knows neither where files lie nor when a style is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from agenyx.core.json import scrub
from agenyx.core.tty import safe
from agenyx.ext.frontmatter import read
from agenyx.ext.sources import Source

DEFAULT = "default"
_BUILT_IN = ("explanatory", "learning")
_NAME_CHARS, _DESCRIPTION_CHARS, _CHARS = 64, 500, 60_000


class Style(Struct, frozen=True):
    """`text` is what the model gets, "" for the default. `coding`: our own instructions for coding stay beside it.

    `origin` is "built-in" or the path of its file.
    """

    name: str
    description: str
    text: str
    coding: bool
    origin: str


def styles(sources: Iterable[Source]) -> tuple[dict[str, Style], tuple[str, ...]]:
    """By name in small letters; of two with one name the later counts. And a phrase for each that was left out."""
    found = {DEFAULT: Style(DEFAULT, "As Agenyx works by itself", "", True, "built-in")}
    for name in _BUILT_IN:
        with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
            found[name] = _style(file.read(), name, "built-in")
    problems: list[str] = []
    for source in sources:
        text = scrub(source.data.decode("utf-8-sig", "replace"))
        style = _style(text, os.path.splitext(os.path.basename(source.path))[0], source.shown)
        problems += [f"{source.shown}: {problem}" for problem in read(text).problems]
        if why := _wrong(style):
            problems.append(f"{source.shown} was left out: {why}")
        else:
            found[style.name.casefold()] = style
    return found, tuple(problems)


def _style(text: str, fallback: str, origin: str) -> Style:
    front = read(text)
    body = front.body.strip()
    first = next((line.strip("# ") for line in body.splitlines() if line.strip("# ")), "")
    return Style(
        front.text("name", fallback).strip() or fallback,
        safe(front.text("description", first).strip().replace("\n", " "))[:_DESCRIPTION_CHARS],
        safe(body),
        front.flag("keep-coding-instructions", False),
        origin,
    )


def _wrong(style: Style) -> str:
    if style.name.casefold() in (DEFAULT, *_BUILT_IN):
        return f"{style.name} is a style of Agenyx itself"
    if not style.name.isprintable() or len(style.name) > _NAME_CHARS:
        return f"its name is longer than {_NAME_CHARS} characters or cannot be printed"
    if not style.text:
        return "it says nothing"
    return f"it has more than {_CHARS:,} characters" if len(style.text) > _CHARS else ""
