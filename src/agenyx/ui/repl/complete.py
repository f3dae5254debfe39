"""Completion: `/` names commands and their values, `@` files of the workspace, found by fuzzy match."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agenyx.app.commands.spec import Command
from agenyx.ui.chat.files import Files
from agenyx.ui.chat.fuzzy import best

SHOWN = 50
_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_:?-]*)(?P<gap> +)?(?P<value>\S*)")
_FILE = re.compile(r"(?:^|(?<=\s))@(?P<path>\S*)$")


class Suggestions(Completer):
    """`commands` gives those there are; `files` lists the workspace."""

    def __init__(self, commands: Callable[[], Iterable[Command]], files: Files) -> None:
        self._commands, self._files = commands, files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What needs no waiting: commands."""
        found = _COMMAND.fullmatch(document.text_before_cursor)
        if found is None or document.text_after_cursor:
            return
        if not found["gap"]:
            for command in self._commands():
                if command.name.startswith(found["name"].lower()):
                    yield Completion(command.name, -len(found["name"]), display_meta=command.text)
            return
        for command in self._commands():
            if found["name"].lower() in (command.name, *command.aliases):
                for choice in command.choices:
                    if choice.lower().startswith(found["value"].lower()):
                        yield Completion(choice, -len(found["value"]))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completion in self.get_completions(document, complete_event):
            yield completion
        if found := _FILE.search(document.text_before_cursor):
            for path in best(found["path"], await self._files.all(), SHOWN):
                yield Completion(path, -len(found["path"]))
