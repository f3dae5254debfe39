"""What was typed in earlier sessions, as the line editor wants it."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.history import History

from agenyx.core.redact import Masker
from agenyx.ui.chat.history import HistoryFile


class FileHistory(History):
    """Reads and writes the one file of the home."""

    def __init__(self, home: str, masker: Masker | None = None) -> None:
        super().__init__()
        self._file = HistoryFile(home, masker)

    def load_history_strings(self) -> Iterable[str]:
        """The newest first."""
        return self._file.load()

    def store_string(self, string: str) -> None:
        self._file.store(string)
