"""All agents of a conversation by name: the built-in ones, those of files, those that were given as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ext.agents.definition import Agent, NoAgent, of_file, of_values
from agenyx.ext.sources import Source

MOST = 200
JSON_BYTES = 4 << 20
GENERAL = Agent("general", "any task that needs looking only; the default")
BUILTIN = ("explore", "plan", "review")
_SHAPE = 'Write {"NAME": {"description": "...", "prompt": "..."}}, or name a file that holds it.'


class Catalogue(Struct, frozen=True):
    """`agents` by case-folded name, in their order. `problems` are sentences about what is no agent."""

    agents: Mapping[str, Agent]
    problems: tuple[str, ...] = ()

    def find(self, name: str) -> Agent | None:
        """An agent by its name in any letter case, the general one for "" and for the name that others give it."""
        folded = name.strip().casefold()
        if folded in ("", "general-purpose") and folded not in self.agents:
            folded = GENERAL.name
        return self.agents.get(folded)

    @property
    def names(self) -> list[str]:
        return [agent.name for agent in self.agents.values()]


def catalogue(sources: Iterable[Source] = (), given: str = "") -> Catalogue:
    """Of two agents with one name the later counts; `given` is JSON text that `given_text` found right."""
    agents: dict[str, Agent] = {GENERAL.name: GENERAL}
    problems: list[str] = []

    def add(agent: Agent) -> None:
        folded = agent.name.casefold()
        if folded not in agents and len(agents) >= MOST:
            problems.append(f"The agent {agent.name} was left out: there are more than {MOST}.")
            return
        agents[folded] = agent

    for name in BUILTIN:
        add(builtin(name))
    for source in sources:
        try:
            add(of_file(source.shown, source.data))
        except NoAgent as error:
            problems.append(f"{source.shown} is no agent: {error}.")
    for name, members in _members(given).items() if given else ():
        try:
            add(of_values(name, members, _text(members, "prompt"), "--agents"))
        except NoAgent as error:
            problems.append(f"The agent {name[:80]!r} of --agents was left out: {error}.")
    return Catalogue(agents, tuple(problems))


def builtin(name: str) -> Agent:
    """One of our own, from the file beside this module."""
    from msgspec.structs import replace

    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), "rb") as file:
        return replace(of_file(f"{name}.md", file.read()), origin="built-in")


def given_text(text: str) -> str:
    """The JSON text of --agents: what was written there, or what stands in the file that it names. Raises UsageError.

    The shape is that of other agents: a member a name, each with `description`, `prompt`, `tools`, `model` and so on.
    """
    if not text.lstrip().startswith("{"):
        try:
            with open(text, "rb") as file:
                data = file.read(JSON_BYTES + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"--agents {text[:200]!r} is no JSON object and no file: {why}", _SHAPE) from None
        if len(data) > JSON_BYTES:
            raise UsageError(f"--agents: the file has more than {JSON_BYTES >> 20} MiB", "Give a shorter one.")
        text = data.decode("utf-8", "replace")
    _members(text)
    return text


def _members(text: str) -> dict[str, dict[str, Any]]:
    try:
        value: Any = json.decode(text)
    except json.JsonError as error:
        raise UsageError(f"--agents holds no valid JSON: {error}", _SHAPE) from None
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in members.values()):
        raise UsageError("--agents has to be a JSON object that holds an object for each agent", _SHAPE)
    return members


def _text(members: Mapping[str, object], key: str) -> str:
    value = members.get(key, "")
    return value if isinstance(value, str) else ""
