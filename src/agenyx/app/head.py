"""When the stored head of a session's requests has to change, and to what. Pure but for
looking which shell there is."""

from __future__ import annotations

from msgspec.structs import replace

from agenyx.agent.prompt import make_prefix
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options
from agenyx.session.records import Prefix
from agenyx.shell.program import POSIX_NOTE
from agenyx.shell.system import Shell
from agenyx.tools.registry import Registry


def specs(registry: Registry, shell: Shell) -> tuple[ToolSpec, ...]:
    """The tools as the model is told of them; the text of Bash names the dialect where that is not bash."""
    found = registry.specs()
    if shell.dialect == "bash":
        return found
    return tuple(replace(spec, description=_noted(spec.description)) if spec.name == "Bash" else spec for spec in found)


def _noted(text: str) -> str:
    first, gap, rest = text.partition("\n\n")  # small models read the first paragraph only
    return f"{first} {POSIX_NOTE}{gap}{rest}"


def renewed(stored: Prefix, options: Options, tools: tuple[ToolSpec, ...] | None, *, moved: bool) -> Prefix | None:
    """The new head with its cause, None while the stored one holds.

    `options` are those that the model takes now; `moved` says that it is another model than the stored one. With the
    same model only the effort counts: the rest is replayed as it was stored, also by a newer version. `tools` is the
    set that was chosen for this run, None where none was.
    """
    wanted = options if moved else replace(stored.options, effort=options.effort)
    causes: list[str] = []
    if wanted.effort != stored.options.effort:
        was, now = stored.options.effort or "the default", wanted.effort or "the default"
        causes.append(f"the reasoning effort changed from {was} to {now}")
    elif wanted != stored.options:
        causes.append("the model has other limits")
    if tools is not None and _other(tools, stored.tools):
        causes.append("another set of tools was chosen")
    else:
        tools = stored.tools
    return make_prefix(wanted, stored.system, tools, "; ".join(causes)) if causes else None


def _other(tools: tuple[ToolSpec, ...], stored: tuple[ToolSpec, ...]) -> bool:
    """Whether it is another set, or a tool of the host is another one under its name: what is ours is replayed."""
    if [tool.name for tool in tools] != [tool.name for tool in stored]:
        return True
    return any(tool.origin == "host" and tool != was for tool, was in zip(tools, stored, strict=True))
