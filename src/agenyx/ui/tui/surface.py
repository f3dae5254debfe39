"""The full screen as the conversation sees it. Decides nothing: frames, the prompt and the theme are the app's."""

from __future__ import annotations

from agenyx.core.errors import AgenyxError
from agenyx.ui.tui.app import FullApp
from agenyx.ui.tui.outlet import Outlet


class TuiSurface:
    """`outlet` is None where nothing is written, as in tests."""

    app: FullApp
    """Set before anything is shown."""

    def __init__(self, outlet: Outlet | None = None) -> None:
        self._outlet = outlet

    @property
    def columns(self) -> int:
        return max(self.app.size.width - 1, 10)

    @property
    def echoes(self) -> bool:
        return False

    def changed(self) -> None:
        self.app.frames.request()

    def ready(self) -> None:
        """The prompt is always there."""

    def take_back(self, text: str) -> None:
        self.app.put_back(text)

    def paint(self, theme: str) -> bool:
        return self.app.paint(theme)

    async def flush(self) -> None:
        """Return when everything shown is written. Raises AgenyxError when the terminal is gone."""
        await self.app.painted()
        if self._outlet is not None:
            await self._outlet.drain()
            if self._outlet.broken is not None:
                raise AgenyxError("the terminal is gone")
