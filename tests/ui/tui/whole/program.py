"""The command line with a fault of ours in one place of the full screen: TUI_FAULT says where."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


def broken(*_: Any, **__: Any) -> Any:
    return 1 // 0


def main() -> None:
    where = os.environ["TUI_FAULT"]
    from agenyx.ui.tui import app
    from agenyx.ui.tui.status import StatusLine

    if where == "compose":
        app.FullApp.compose = broken
    elif where == "render":
        StatusLine.render_line = broken  # type: ignore[method-assign]
    elif where == "handler":
        app.FullApp.on_prompt_box_sent = broken  # type: ignore[method-assign]
    elif where == "import":
        sys.modules["agenyx.ui.tui.start"] = None  # type: ignore[assignment]
    elif where == "task":
        from agenyx.ui.chat.loop import Chat

        submit: Callable[..., None] = Chat.submit

        def in_the_loop(self: Chat, *given: Any, **more: Any) -> None:
            import asyncio

            asyncio.get_running_loop().call_soon(broken)
            submit(self, *given, **more)

        Chat.submit = in_the_loop  # type: ignore[method-assign]
    from agenyx.__main__ import main as program

    program()


if __name__ == "__main__":
    main()
