"""What guides the model beyond the request: instructions, project memory, output style. In the head of a new session;
what comes or changes later comes as a notice at the tail, and is told again where a summary took it away.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agenyx.agent.notices import notice
from agenyx.agent.prompt import system_sections
from agenyx.app.compose import Source
from agenyx.app.extensions import Extensions
from agenyx.app.sections import sections
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.messages import Entry, User
from agenyx.core.tools import Effects
from agenyx.tools.registry import Registry

if TYPE_CHECKING:
    from agenyx.app.skills import Library
    from agenyx.app.surroundings import Surroundings
    from agenyx.ext.styles import Style

DEFAULT = "default"
_HEAD = "# Output style: "
_SWITCHED = "The user switched the output style to "


class Guidance:
    """`persistent`: the session is kept, so that memory has a place. Nothing is read before it is needed."""

    def __init__(self, source: Source, extensions: Extensions | None, *, persistent: bool) -> None:
        self._source, self._extensions = source, extensions
        self._small = source.model.size == "small"
        self._remembers = persistent and not source.settings.bare and not self._small
        self._waiting: list[User] = []
        self._styles: dict[str, Style] | None = None
        state = source.session.state
        given = source.settings.output_style
        resumed = state.prefix is not None and not source.settings.style_given
        self._style = (_told(state.entries, self._head()) if resumed else given) or DEFAULT
        self._of: object = None
        self._surroundings: Surroundings | None = None

    # --- the head --------------------------------------------------------------------------------------------------

    def system(self, library: Library | None) -> tuple[str, ...]:
        """The whole system text of a new session."""
        given = self._source.settings
        behind = (given.append_system,) if given.append_system.strip() else ()
        return (*self._system(library, given.system_prompt), *behind)

    def _system(self, library: Library | None, own: str | None) -> tuple[str, ...]:
        """`own` stands in place of what is built in, "" for nothing; what the user and the workspace add stays."""
        size, extensions = self._source.model.size, self._extensions
        style = self._chosen()
        replaced = None if own is None else (own,) if own.strip() else ()
        if self._small or extensions is None:
            return system_sections(size) if replaced is None else replaced
        text = f"{_HEAD}{style.name}\n{style.text}" if style is not None and style.text else ""
        core = replaced if replaced is not None else system_sections(size, coding=style is None or style.coding)
        return (*core, *sections(extensions, library, memory=self._memory(), style=text))

    def _chosen(self) -> Style | None:
        """The style to begin with, None for the default. An unknown one is told, and the default holds."""
        if self._style.casefold() == DEFAULT:
            return None
        if self._small:
            self._tell(f"The output style {self._style} is left out: a small model gets the shortest instructions.")
            self._style = DEFAULT
            return None
        style = self.styles().get(self._style.casefold())
        if style is None:
            names = ", ".join(one.name for one in self.styles().values())
            self._tell(f"There is no output style {self._style!r}, so the default holds.", f"There are: {names}.")
        self._style = style.name if style else DEFAULT
        return style

    def _memory(self) -> str:
        home = home_path(self._source.env)
        if not self._remembers or not os.path.isdir(os.path.join(home, "memory")):
            return ""
        from agenyx.ext.memory import open_memory  # most homes hold none

        memory = open_memory(home, self._source.root.path)
        return memory.section() if memory.there() else ""

    def add_tools(self, registry: Registry) -> None:
        """The tool for project memory, where there can be one."""
        if self._remembers:
            from agenyx.ext.memory_tool import Memory

            registry.add(Memory(home_path(self._source.env), self._source.root.path))

    # --- the tail --------------------------------------------------------------------------------------------------

    async def touched(self, effects: Effects) -> None:
        """Bring the instructions that belong to what a call touched."""
        if self._extensions is None or self._small:
            return
        if self._surroundings is None:
            from agenyx.app.surroundings import Surroundings  # not needed before the first call

            source, tell = self._source, self._waiting.append
            self._surroundings = Surroundings(
                self._extensions, source.session, source.root, source.processes, source.env, tell
            )
        await self._surroundings(effects)

    def notices(self) -> list[User]:
        """What the model is to be told now, each once."""
        state = self._source.session.state
        if state.prefix is None:
            return []
        told, self._waiting[:] = list(self._waiting), []
        period = id(state.view), state.view.ids[0] if state.view.ids else "", self._style
        if period != self._of:
            self._of = period
            if (_told(state.view.entries, self._head()) or DEFAULT).casefold() != self._style.casefold():
                told.append(self._switched())
        return told

    def _switched(self) -> User:
        style = self.styles().get(self._style.casefold())
        if style is None or not style.text:
            self._style = DEFAULT
            return notice(f"{_SWITCHED}{DEFAULT}.\nNo style from before holds any more.")
        follow = "From now on follow this, in place of any style from before:"
        return notice(f"{_SWITCHED}{style.name}.\n{follow}\n\n{style.text}")

    def _head(self) -> str:
        prefix = self._source.session.state.prefix
        return next((text for text in prefix.system if text.startswith(_HEAD)), "") if prefix else ""

    # --- styles ----------------------------------------------------------------------------------------------------

    @property
    def style(self) -> str:
        """The name of the style that holds."""
        return self._style

    def styles(self) -> dict[str, Style]:
        """All styles by name in small letters."""
        if self._styles is None:
            from agenyx.ext.styles import styles

            extensions = self._extensions
            self._styles, problems = styles(extensions.sources("styles") if extensions is not None else ())
            for problem in problems:
                self._tell(f"{problem}.")
        return self._styles

    def set_style(self, name: str) -> None:
        """Use another style from the next request on. Raises UsageError."""
        style = self.styles().get(name.casefold())
        if style is None:
            names = ", ".join(one.name for one in self.styles().values())
            raise UsageError(f"there is no output style {name!r}", f"There are: {names}.")
        if self._small and style.text:
            raise UsageError("a small model gets no output style", "Use a larger model.")
        self._style = style.name

    def _tell(self, text: str, fix: str = "") -> None:
        if self._extensions is not None:
            self._extensions.tell("warning", text, fix)


def _told(entries: list[Entry], head: str) -> str:
    """The style that these entries leave the model with, "" where none was ever told."""
    for entry in reversed(entries):
        if isinstance(entry, User) and entry.origin == "notice" and entry.text.startswith(_SWITCHED):
            return entry.text[len(_SWITCHED) :].partition(".\n")[0]
    return head[len(_HEAD) :].partition("\n")[0]
