"""The full-screen surface: widgets over the view model of a conversation. Imported only when it is shown."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agenyx.ui.flags import Options
    from agenyx.ui.signals import Signals


def main(options: Options, env: Mapping[str, str], signals: Signals) -> int:
    """Talk until the person leaves; returns the exit code. The terminal is left as it was found, whatever happens."""
    import gc

    from agenyx.ui.tui.first import show
    from agenyx.ui.tui.hold import Hold

    hold = Hold(0, 1, mouse=options.mouse != "off")
    signals.raw_terminal(hold.leave, lambda: show(hold))
    try:
        show(hold)
        gc.disable()  # what is loaded now stays; looking through it again and again only costs time
        from agenyx.ui.tui.start import run  # all of the toolkit: what is typed meanwhile waits

        gc.freeze()
        gc.enable()
        return run(options, env, signals, hold)
    finally:
        hold.leave()
        signals.cooked_terminal()
