"""The program. It answers `--version` before anything else is imported, and no error leaves it as a traceback."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line of this process and end the process. Never returns."""
    argv = sys.argv[1:]
    code = 1
    try:
        from agenyx.ui import standard

        standard.prepare()
        if argv in (["--version"], ["-v"], ["-V"]):
            from agenyx.ui.version import version_text

            standard.show(version_text())
            code = 0
        else:
            from agenyx.ui.cli import run

            code = run(argv, dict(os.environ))
            standard.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = 141
    except Exception as error:  # noqa: BLE001 - the rim of the program
        code = _fault(error, argv)
    # Not sys.exit: the interpreter would wait for threads (a name lookup that hangs, a write that nobody reads) and
    # take 10 ms to tear down what the system frees at once. Everything of ours was written and closed before.
    os._exit(code)


def _fault(error: Exception, argv: list[str]) -> int:
    from agenyx.config.secrets import masker
    from agenyx.ui.exits import code_of, complaint, explain, write_error

    hidden = masker(os.environ)
    if "--debug" in argv or "-d" in argv:
        import traceback

        write_error(hidden.text("".join(traceback.format_exception(error))))
    write_error(hidden.text(complaint(*explain(error))))
    return code_of(error)


if __name__ == "__main__":
    main()
