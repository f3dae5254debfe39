"""The head of every request: fixed sections, the same bytes for every session of a version and tool set.

Nothing that changes stands here: date, branch, mode and the like come as recorded notices.
"""

from __future__ import annotations

import hashlib
import os

from agenyx.core import json
from agenyx.core.tools import ToolSet, ToolSpec
from agenyx.llm.request import Options
from agenyx.session.records import Prefix

_CODING = "# How you work"  # how software is written here; all else holds whatever the work is


def system_sections(size: ToolSet, *, coding: bool = True) -> tuple[str, ...]:
    """The sections of the system prompt: one a paragraph group of the prompt file, divided by lines of `---`.

    Without `coding` the instructions for coding are left out: an output style stands in their place.
    """
    name = "small.md" if size == "small" else "full.md"
    with open(os.path.join(os.path.dirname(__file__), "prompts", name), encoding="utf-8") as file:
        sections = (section.strip() for section in file.read().split("\n---\n"))
        return tuple(section for section in sections if coding or not section.startswith(_CODING))


def make_prefix(options: Options, system: tuple[str, ...], tools: tuple[ToolSpec, ...], cause: str = "") -> Prefix:
    """The record that is replayed on resume, with the hash that names it."""
    digest = hashlib.sha256(json.encode((options, system, tools))).hexdigest()
    return Prefix(digest, options, system, tools, cause)
