"""One agent: what a Markdown file with a head, or a member of a JSON object, says it is. Read leniently.

Knows no tool and no model: names are kept as they were written. Nothing an agent says about itself gives it leave for
anything; what does not count is told in `problems`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core.tty import visible

PROMPT_CHARS = 100_000
DESCRIPTION_CHARS = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST = 256  # items of one list
_STEPS = 100_000
_ISOLATION = ("", "none", "worktree")
_MODES = ("", "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
_NAMES_OF_OTHERS = frozenset({"sonnet", "opus", "haiku", "fable", "best"})
_LEFT_OUT = ("hooks", "mcpServers", "memory", "initialPrompt")


class Agent(Struct, frozen=True):
    """`tools` None means the default: those that only look. `without` are left out of them. `model` "" is the parent's;
    `max_steps` 0 its limit. `mode` can only make the session's stricter. `origin` is a path, "--agents" or "built-in".
    """

    name: str
    description: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    max_steps: int = 0
    skills: tuple[str, ...] = ()
    mode: str = ""
    background: bool = False
    isolation: str = ""
    origin: str = "built-in"
    problems: tuple[str, ...] = ()


class NoAgent(Exception):
    """What was read is no agent; the text says why, as a phrase."""


def of_file(path: str, data: bytes) -> Agent:
    """From a Markdown file; the name of the file counts where the head has none. Raises NoAgent."""
    from agenyx.ext.frontmatter import read

    front = read(data.decode("utf-8", "replace"))
    name = front.text("name") or os.path.basename(path).removesuffix(".md")
    agent = of_values(name, dict(front.values), front.body, path)
    return replace(agent, problems=(*front.problems, *agent.problems))


def of_values(name: str, given: Mapping[str, object], prompt: str, origin: str) -> Agent:
    """From members that were read elsewhere: texts, booleans, numbers and lists of texts. Raises NoAgent."""
    if not _NAME.fullmatch(name.strip()):
        raise NoAgent(f"its name {visible(name[:80])!r} is not made of letters, digits, '-', '_' and '.'")
    problems: list[str] = []

    def text(key: str) -> str:
        value = given.get(key, "")
        return value.strip() if isinstance(value, str) else ""

    def items(key: str) -> tuple[str, ...]:
        value = given.get(key)
        if isinstance(value, str):
            value = value.split(",")
        words = [str(item).strip() for item in cast("list[object]", value)] if isinstance(value, list) else []
        return tuple(dict.fromkeys(word for word in words if word))[:_MOST]

    def one_of(key: str, allowed: tuple[str, ...]) -> str:
        if (value := text(key)) in allowed:
            return value
        problems.append(f"{key} cannot be {visible(value[:40])!r}")
        return ""

    steps = str(given.get("maxTurns", "") or given.get("max_steps", "") or "0").strip()
    if not (steps.isascii() and steps.isdigit() and int(steps[:9]) <= _STEPS):
        problems.append("maxTurns is not a number of steps")
        steps = "0"
    mode = one_of("permissionMode", _MODES)
    if mode in ("acceptEdits", "bypassPermissions"):
        problems.append(f"permissionMode {mode} does not count: an agent never has more leave than the session")
    problems += [f"{key} does not count: agents have none of their own here" for key in _LEFT_OUT if given.get(key)]
    prompt, model = prompt.strip(), text("model")
    if model.lower() in _NAMES_OF_OTHERS:
        problems.append(f"model {model} is another program's name for a model: that of the conversation is used")
        model = ""
    if len(prompt) > PROMPT_CHARS:
        problems.append(f"its prompt is cut at {PROMPT_CHARS:,} characters")
    description = " ".join(text("description").split()) or next(iter(prompt.splitlines()), "")
    if not description:
        raise NoAgent("it has neither a description nor a prompt")
    return Agent(
        name.strip(),
        visible(description)[:DESCRIPTION_CHARS],
        visible(prompt)[:PROMPT_CHARS],
        None if given.get("tools") in (None, "") else items("tools"),
        items("disallowedTools"),
        "" if model == "inherit" else model,
        text("effort"),
        int(steps),
        items("skills"),
        mode,
        given.get("background") is True or text("background").lower() == "true",
        one_of("isolation", _ISOLATION),
        origin,
        tuple(problems),
    )
