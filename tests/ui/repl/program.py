"""The REPL as a program: flags, signals and the end of the process as in the real command line."""

from __future__ import annotations

import os
import sys


def run() -> int:
    from agenyx.core.errors import AgenyxError
    from agenyx.ui.exits import code_of, complaint, explain, write_error
    from agenyx.ui.parse import parse
    from agenyx.ui.signals import Signals

    signals = Signals()
    signals.install()
    from agenyx.ui.repl import main

    if os.environ.get("REPL_FAULT"):
        from agenyx.ui.chat.loop import Chat

        Chat.submit = lambda self, text: 1 // 0  # type: ignore[assignment,method-assign]
    try:
        return main(parse(sys.argv[1:]), dict(os.environ), signals)
    except Exception as error:  # noqa: BLE001 - the rim of the program
        write_error(complaint(*explain(error)))
        return code_of(error) if isinstance(error, AgenyxError) else 1


if __name__ == "__main__":
    from agenyx.ui import standard

    standard.prepare()
    code = run()
    standard.flush()
    os._exit(code)
