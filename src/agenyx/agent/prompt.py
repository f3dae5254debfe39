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


def system_sections(size: ToolSet) -> tuple[str, ...]:
    """The sections of the system prompt: one a paragraph group of the prompt file, divided by lines of `---`."""
    name = "small.md" if size == "small" else "full.md"
    with open(os.path.join(os.path.dirname(__file__), "prompts", name), encoding="utf-8") as file:
        return tuple(section.strip() for section in file.read().split("\n---\n"))


def make_prefix(options: Options, system: tuple[str, ...], tools: tuple[ToolSpec, ...], cause: str = "") -> Prefix:
    """The record that is replayed on resume, with the hash that names it."""
    digest = hashlib.sha256(json.encode((options, system, tools))).hexdigest()
    return Prefix(digest, options, system, tools, cause)
